"""`specdeck inspect FILE`: what a log file on disk says; no host needed."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from specdeck.state.log_story import LogStory

CHUNK_BYTES = 1 << 18


@click.command(name="inspect")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of words.")
@click.option("--engine", metavar="NAME", help="sglang, vllm or llamacpp; found out by itself where not given.")
def command(file: Path, as_json: bool, engine: str | None) -> None:
    """Say what a server's log says: phase, progress, first cause, rates.

    The file is the only witness. Exit code 1 if a fatal cause ends the log.
    """
    from specdeck.cli.story_json import story_json
    from specdeck.cli.story_words import story_words

    story = _read_log(file, _known(engine))
    click.echo(json.dumps(story_json(story)) if as_json else "\n".join(story_words(story)))
    if story.word == "crashed":
        raise SystemExit(1)


def _known(engine: str | None) -> str | None:
    from specdeck.engines.registry import ENGINES

    if engine is not None and engine not in ENGINES:
        raise click.BadParameter(f"{engine!r} is none of {', '.join(ENGINES)}", param_hint="--engine")
    return engine


def _read_log(file: Path, engine: str | None) -> "LogStory":
    """Read the file in pieces: it may be gigabytes."""
    from specdeck.engines.reader import LogReader

    reader = LogReader(engine)
    modified = file.stat().st_mtime
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            reader.feed(chunk, modified)
    reader.end()
    return reader.story

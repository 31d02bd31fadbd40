"""`specdeck inspect FILE`: what a log or an nvidia-smi reply on disk says; no host needed."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from specdeck.errors import ExitCode
from specdeck.quick_dataclass import replace

if TYPE_CHECKING:
    from specdeck.parsing.nvidia_smi_answer import Answer
    from specdeck.state.log_story import LogStory

CHUNK_BYTES = 1 << 18
LARGEST_REPLY_BYTES = 1 << 20
"""A reply of nvidia-smi is a few lines; anything larger is a log."""


@click.command(name="inspect")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of words.")
@click.option("--engine", metavar="NAME", help="sglang, vllm, ...; found out by itself where not given.")
def command(file: Path, as_json: bool, engine: str | None) -> None:
    """Say what a file on disk says: phase, progress, first cause and rates of a server's log, or an nvidia-smi reply.

    The file is the only witness. Exit code 1 if a fatal cause ends the log.
    """
    _check(engine)
    try:
        answer = None if engine else _read_reply(file)
        if answer is not None:
            _print_reply(answer, as_json=as_json)
            return
        story = _read_log(file, engine)
    except OSError as error:
        raise click.UsageError(f"{file}: {error.strerror or error}") from error
    _print_story(story, as_json=as_json)
    if story.word == "crashed":
        click.get_current_context().exit(ExitCode.NOT_AS_ASKED)


def _check(engine: str | None) -> None:
    from specdeck.engines.registry import ENGINES

    if engine is not None and engine not in ENGINES:
        raise click.BadParameter(f"{engine!r} is none of {', '.join(ENGINES)}", param_hint="--engine")


def _read_reply(file: Path) -> "Answer | None":
    from specdeck.cli.nvidia_smi_json import answer_in

    with file.open("rb") as stream:
        beginning = stream.read(LARGEST_REPLY_BYTES + 1)
    if len(beginning) > LARGEST_REPLY_BYTES:
        return None
    return answer_in(beginning.decode("utf-8", "replace"))


def _read_log(file: Path, engine: str | None) -> "LogStory":
    """Read the file in pieces: it may be gigabytes."""
    from specdeck.engines.reader import LogReader

    reader = LogReader(engine)
    with file.open("rb") as stream:
        modified = file.stat().st_mtime
        while chunk := stream.read(CHUNK_BYTES):
            reader.feed(chunk, modified)
    reader.end()
    story = reader.story
    if story.engine is None:
        return replace(story, warnings=(*story.warnings, "no engine that specdeck knows wrote this file"))
    return story


def _print_reply(answer: "Answer", *, as_json: bool) -> None:
    from specdeck.cli.nvidia_smi_json import answer_json, answer_words
    from specdeck.cli.output import print_json

    if as_json:
        print_json(answer_json(answer))
    else:
        click.echo("\n".join(answer_words(answer)))


def _print_story(story: "LogStory", *, as_json: bool) -> None:
    from specdeck.cli.output import print_json
    from specdeck.cli.story_json import story_json
    from specdeck.cli.story_words import story_words

    if as_json:
        print_json(story_json(story))
    else:
        click.echo("\n".join(story_words(story)))

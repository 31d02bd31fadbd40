"""Reads captured logs for the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

from specdeck.engines.reader import LogReader
from specdeck.state.log_story import LogStory, PhaseSpan

TESTS = Path(__file__).parents[1]
CAPTURES = TESTS / "captures"
CASES = TESTS / "cases"


def story_of(log: bytes | Path, engine: str | None = None) -> LogStory:
    """What the whole file says, once it is known to be complete."""
    reader = LogReader(engine)
    reader.feed(log.read_bytes() if isinstance(log, Path) else log, 0.0)
    reader.end()
    return reader.story


def story_so_far(log: bytes | Path) -> LogStory:
    """What a file says that may still grow."""
    reader = LogReader()
    reader.feed(log.read_bytes() if isinstance(log, Path) else log, 0.0)
    return reader.story


def stories(log: bytes, step: int) -> Iterator[tuple[int, LogStory]]:
    """The story after each piece of so many bytes, with the bytes read so far."""
    reader = LogReader()
    for begin in range(0, len(log), step):
        reader.feed(log[begin : begin + step], 0.0)
        yield min(begin + step, len(log)), reader.story


def content(story: LogStory) -> tuple[object, ...]:
    """All of a story as values: stories themselves compare by identity."""
    return (
        story.engine,
        story.word,
        story.engine_version,
        story.speculation,
        story.phase,
        story.phases,
        story.progress,
        story.cause,
        story.batch,
        story.warnings,
        story.lines,
        story.has_ready_line,
        story.loading_total,
        story.draft_steps,
    )


def began(story: LogStory) -> dict[str, float | None]:
    """When each phase began, in seconds since the log's first stamp."""
    return {span.name: span.began for span in story.phases}


def names(spans: tuple[PhaseSpan, ...]) -> list[str]:
    """The phases in their order."""
    return [span.name for span in spans]

"""A story in a few lines for a person; nothing in it is markup and no control characters are left."""

from collections.abc import Iterator

from specdeck.state.log_story import LogStory, others_words


def story_words(story: LogStory) -> list[str]:
    """The word first, then what decided it."""
    return list(_lines(story))


def _lines(story: LogStory) -> Iterator[str]:
    engine = " ".join(part for part in (story.engine or "unknown engine", story.engine_version) if part)
    speculation = f", speculation {story.speculation}" if story.speculation else ""
    yield f"{story.word}  ({engine}{speculation}; {story.lines} lines read)"
    yield from _start(story)
    yield from _cause(story)
    yield from _rates(story)
    for warning in story.warnings:
        yield f"  warning: {warning}"


def _start(story: LogStory) -> Iterator[str]:
    if story.phase is not None:
        yield f"  phase {story.phase.name} ({story.phase.index} of {story.phase.total})"
    progress = story.progress
    if progress is not None:
        eta = f", {progress.eta_seconds:.0f} s left of this bar" if progress.eta_seconds else ""
        detail = f" ({progress.detail})" if progress.detail else ""
        yield f"  {progress.label}: {progress.done}/{progress.total}, {int(progress.percent)} %{eta}{detail}"


def _cause(story: LogStory) -> Iterator[str]:
    cause = story.cause
    if cause is None:
        return
    place = ", ".join(
        part for part in (f"line {cause.line}" if cause.line else "", cause.rank or "", others_words(cause)) if part
    )
    yield f"  cause: {cause.message}" + (f"  [{place}]" if place else "")
    if cause.hint:
        yield f"  what to do: {cause.hint}"


def _rates(story: LogStory) -> Iterator[str]:
    batch = story.batch
    if batch is None:
        return
    rate = "-" if batch.follows_idle else f"{batch.tok_s:.1f}"
    accept = f", accept length {batch.accept_length:.2f}" if batch.accept_length is not None else ""
    yield f"  last throughput line: {rate} tok/s, {batch.running} running, {batch.queued} queued{accept}"

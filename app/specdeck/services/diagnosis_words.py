"""A diagnosis in lines for a person, on the command line and in the dashboard."""

from collections.abc import Iterator

from specdeck.state.diagnosis import Diagnosis
from specdeck.state.log_story import others_words


def diagnosis_words(found: Diagnosis) -> list[str]:
    """The word and the cause first, then what to do, then the evidence. Foreign text is in it as it came."""
    return list(_lines(found))


def _lines(found: Diagnosis) -> Iterator[str]:
    yield f"{found.server} {found.word}" + (f"  ({found.ended})" if found.ended else "")
    cause = found.cause
    if cause is not None:
        place = ", ".join(
            filter(None, (f"line {cause.line}" if cause.line else "", cause.rank or "", others_words(cause)))
        )
        yield f"  cause: {cause.message}" + (f"  [{place}]" if place else "")
    for sentence in found.kernel:
        yield f"  kernel: {sentence}"
    for sentence in found.advice:
        yield f"  what to do: {sentence}"
    for sentence in found.memory:
        yield f"  memory: {sentence}"
    if cause is None:
        yield from (f"  {sentence}" for sentence in found.because)
    if found.story is not None:
        yield from (f"  warning: {warning}" for warning in found.story.warnings)
    yield from _log(found)


def _log(found: Diagnosis) -> Iterator[str]:
    if found.log is None:
        return
    yield f"  log: {found.log}" + (f", {found.story.lines:,} lines" if found.story is not None else "")
    line = found.cause.line if found.cause is not None else None
    for each in found.context:
        yield f"  {'>' if each.number == line else ' '} {each.number:>6}  {each.text[:200]}"
    shown_to = max((each.number for each in found.context), default=0)
    last = [each for each in found.last if each.number > shown_to]
    if last and found.cause is not None:
        yield "  last lines:"
        yield from (f"    {each.number:>6}  {each.text[:200]}" for each in last)

"""Log lines from before those that are kept here: read from the host by their place in the file, in bounded pieces."""

from collections.abc import Iterable, Sequence

from specdeck.errors import Refused
from specdeck.parsing.container_log import UnwrappingSplitter
from specdeck.parsing.lines import Line
from specdeck.quick_dataclass import dataclass
from specdeck.services.log_source import LogSource

BLOCK_BYTES = 256 * 1024
MOST_BLOCKS = 5
"""Each twice as long as the one before: a bar that was drawn for megabytes is one line, and what is before it is looked for."""
CHECK_BYTES = 4096
"""Read of the line that is known, to see that the file still is what it was."""
CHECKED_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class OlderLines:
    """A piece of the log that ends where another line begins."""

    lines: tuple[Line, ...]
    begin: int
    """Offset of the first byte that was read: 0, there is nothing before it."""


async def read_older(source: LogSource, before: Line, *, unnumbered_before: int = 0) -> OlderLines:
    """The lines before a known one, oldest first; bars are folded as ever.

    Lines before the offset `unnumbered_before` have the number 0: nobody counted them. Raises TransportError, and Refused where
    the known line is not at its place any more.
    """
    end, number = before.offset, before.number
    await _check(source, before)
    for doublings in range(MOST_BLOCKS):
        begin = max(0, end - (BLOCK_BYTES << doublings))
        content = await source.read(begin, end - begin)
        skipped = _first_line(content) if begin else 0
        begin += skipped
        raw = _lines_of(content[skipped:], begin)
        is_counted = begin >= unnumbered_before and number > 0
        number = number - len(raw) if is_counted else 0
        lines = _folded(line._replace(number=number + index if is_counted else 0) for index, line in enumerate(raw))
        if lines or begin == 0:
            return OlderLines(tuple(lines), begin)
        end = begin
    return OlderLines((), end)


async def _check(source: LogSource, known: Line) -> None:
    seen = _lines_of(await source.read(known.offset, CHECK_BYTES), known.offset)
    text = seen[0].text[:CHECKED_CHARACTERS] if seen else ""
    if text != known.text[: len(text)] or (known.text and not text):
        raise Refused("the log was cut or replaced since: what was before these lines is not there any more")


def _first_line(content: bytes) -> int:
    """Where the first whole line begins; 0 where a single line fills it all."""
    places = [place for end in (b"\n", b"\r") if (place := content.find(end)) >= 0]
    if not places:
        return 0
    first = min(places)
    return first + 2 if content[first : first + 2] == b"\r\n" else first + 1


def _lines_of(content: bytes, offset: int) -> Sequence[Line]:
    splitter = UnwrappingSplitter()
    splitter.jump(1, offset)
    return (*splitter.feed(content), *splitter.end())


def _folded(lines: Iterable[Line]) -> list[Line]:
    """Without the states of a bar that were drawn over, also by the line that is known."""
    kept: list[Line] = []
    for line in lines:
        if kept and kept[-1].is_overwritten:
            kept.pop()
        kept.append(line)
    return kept[:-1] if kept and kept[-1].is_overwritten else kept

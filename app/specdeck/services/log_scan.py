"""A whole log with bounded cost: a short one byte by byte, of a long one the begin, the places that grep names, and the end."""

from bisect import bisect_left
from collections.abc import Sequence

from specdeck.engines.reader import LogReader
from specdeck.engines.scan_words import BARE_TRACEBACK, scan_pattern
from specdeck.parsing.lines import Line
from specdeck.quick_dataclass import dataclass
from specdeck.services.log_source import LogSource
from specdeck.transport.script import Script, script_text

WHOLE_BYTES = 8 * 1024 * 1024
HEAD_BYTES = 1024 * 1024
TAIL_BYTES = 2 * 1024 * 1024
PLACE_BYTES = 48 * 1024
"""Read from each line that grep names: a traceback with its end."""
BEFORE_BYTES = 2048
"""Looked for the line above a place."""
FIRST_PLACES = 40
LAST_PLACES = 20
SCAN_SECONDS = 120.0
KEPT_LINES = 400


@dataclass(frozen=True, slots=True)
class Scan:
    """What grep says of a log."""

    size: int
    newlines: int
    hits: tuple[tuple[int, int], ...]
    """(newlines before it, offset) of each line that was looked for."""
    returns: tuple[int, ...]
    """Offsets of each \\r that ends a line by itself."""
    bare: tuple[tuple[int, int], ...] = ()
    """As `hits`, of the first and the last tracebacks that nothing announces."""

    def number_at(self, offset: int, newlines: int) -> int:
        """The number of the line that begins at this offset, counted as lines are: \\n, \\r\\n and \\r."""
        return newlines + bisect_left(self.returns, offset) + 1


@dataclass(frozen=True, slots=True)
class WholeLog:
    """A log that was read."""

    reader: LogReader
    lines: tuple[Line, ...]
    """Some around the cause, and the last ones."""


async def read_whole(source: LogSource, engine: str | None, size: int, at: float, *, is_over: bool) -> WholeLog:
    """Read it; `is_over`: nobody writes it any more. Raises TransportError."""
    reader = LogReader(engine)
    if size <= WHOLE_BYTES:
        lines = list(reader.feed(await source.read(0, size), at))
    else:
        lines = await _read_places(source, reader, at)
    if is_over:
        lines += reader.end()
    elif reader.open_line is not None:
        lines.append(reader.open_line)
    return WholeLog(reader, _worth_keeping(reader, lines))


async def _read_places(source: LogSource, reader: LogReader, at: float) -> list[Line]:
    script = Script(script_text("log_scan"), (source.path, scan_pattern(), BARE_TRACEBACK))
    outcome = await source.transport.run(script, limit_seconds=SCAN_SECONDS)
    scan = read_scan(outcome.stdout)
    lines = list(reader.feed(await source.read(0, HEAD_BYTES), at))
    tail_at = max(HEAD_BYTES, scan.size - TAIL_BYTES)
    for newlines, offset in places(scan, HEAD_BYTES, tail_at):
        begin = max(HEAD_BYTES, offset - BEFORE_BYTES)
        content = await source.read(begin, min(PLACE_BYTES, tail_at - begin))
        line_above = max(0, content.rfind(b"\n", 0, offset - begin))  # it says whose a traceback is
        cut = content.rfind(b"\n", 0, line_above) + 1
        above = content[cut : offset - begin].count(b"\n")
        reader.jump(scan.number_at(begin + cut, newlines - above), begin + cut)
        lines += reader.feed(content[cut:], at)
    tail = await source.read(tail_at, scan.size - tail_at)
    cut = tail.find(b"\n") + 1
    reader.jump(scan.number_at(tail_at + cut, scan.newlines - tail[cut:].count(b"\n")), tail_at + cut)
    return lines + list(reader.feed(tail[cut:], at))


def places(scan: Scan, begin: int, end: int) -> list[tuple[int, int]]:
    """Where to read between two offsets: each hit that no read before has covered, the first ones and the last ones."""
    found = _uncovered(scan.hits, begin, end)
    if len(found) > FIRST_PLACES + LAST_PLACES:
        found = found[:FIRST_PLACES] + found[-LAST_PLACES:]
    return _uncovered(sorted({*found, *_uncovered(scan.bare, begin, end)}), begin, end)


def _uncovered(hits: Sequence[tuple[int, int]], begin: int, end: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    covered = begin
    for newlines, offset in hits:
        if covered <= offset < end:
            found.append((newlines, offset))
            covered = offset + PLACE_BYTES - BEFORE_BYTES
    return found


def read_scan(answer: bytes) -> Scan:
    """The answer of log_scan.sh; lines that make no sense are passed over."""
    numbers = {b"@size": 0, b"@lines": 0}
    hits: dict[bytes, list[tuple[int, int]]] = {b"@hit": [], b"@bare": []}
    returns: list[int] = []
    for line in answer.split(b"\n"):
        tag, _, rest = line.partition(b" ")
        if tag in numbers and rest.isdigit():
            numbers[tag] = int(rest)
        elif tag in hits:
            number, _, rest = rest.partition(b":")
            offset = rest.partition(b":")[0]
            if number.isdigit() and offset.isdigit():
                hits[tag].append((int(number) - 1, int(offset)))
        elif tag == b"@return":
            offset, _, text = rest.partition(b":")
            if offset.isdigit():
                returns += _lone_returns(text, int(offset))
    return Scan(numbers[b"@size"], numbers[b"@lines"], tuple(hits[b"@hit"]), tuple(returns), tuple(hits[b"@bare"]))


def _lone_returns(text: bytes, offset: int) -> Sequence[int]:
    """A \\r at the end of the line belongs to its \\n."""
    body = text.removesuffix(b"\r")
    return [offset + place for place, byte in enumerate(body) if byte == 0x0D]


def _worth_keeping(reader: LogReader, lines: Sequence[Line]) -> tuple[Line, ...]:
    cause = reader.story.cause
    around = [line for line in lines if cause and cause.line and abs(line.number - cause.line) <= KEPT_LINES]
    last = lines[-KEPT_LINES:]
    seen = {line.number for line in around}
    return (*around, *(line for line in last if line.number not in seen))

"""SGLang's log prefix: `[2026-01-05 10:00:00 DP0 TP3] message`; records may be glued to what stood before."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

_STAMP = re.compile(
    r"\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})?)(?P<rank>(?: (?:DP|PP|ATTN_CP|MOE_DP|TP|EP)\d+)*)\] ?"
)
_LOOSE_RANK = re.compile(r"(?P<rank>(?:DP|PP|ATTN_CP|MOE_DP|TP|EP)\d+(?: (?:DP|PP|ATTN_CP|MOE_DP|TP|EP)\d+)*) ")
_RANK_BEGINS = ("TP", "DP", "PP", "EP", "AT", "MO")
_LEVEL = re.compile(r"(?:DEBUG|INFO|WARNING|ERROR) \w+\.py:\d+: ")


class Record(NamedTuple):
    """One message of the log."""

    message: str
    stamp: str | None = None
    """The log's own time, as written; None: a line without a prefix."""
    rank: str = ""
    """`DP0 TP3`; empty for the main process and for tp=1."""


def records(text: str) -> Iterator[Record]:
    """What a line holds: mostly one record, more where a bar or a message without an end stood before."""
    if text.find("[2", 1) >= 0:
        yield from _glued(text)
        return
    match = _STAMP.match(text)
    yield _record(text[match.end() :], match) if match else Record(text)


def _glued(text: str) -> Iterator[Record]:
    stamps = list(_STAMP.finditer(text))
    if not stamps:
        yield Record(text)
        return
    if stamps[0].start() > 0:
        yield Record(text[: stamps[0].start()])
    ends = [match.start() for match in stamps[1:]] + [len(text)]
    for match, end in zip(stamps, ends, strict=True):
        yield _record(text[match.end() : end], match)


def _record(message: str, match: re.Match[str]) -> Record:
    """Some write the rank behind the bracket: `[2026-01-05 10:02:00] TP0 Decode batch ...`."""
    rank = match["rank"].strip()
    if not rank and message[:2] in _RANK_BEGINS and (loose := _LOOSE_RANK.match(message)) is not None:
        return Record(message[loose.end() :], match["at"], loose["rank"])
    return Record(message, match["at"], rank)


def without_level(message: str) -> str:
    """The message without `WARNING server_args.py:2304: `, which stands there before logging is set up."""
    match = _LEVEL.match(message)
    return message[match.end() :] if match else message


class StampClock:
    """The log's own stamps as seconds since its first; the same second is read once."""

    def __init__(self) -> None:
        self.word = ""
        """The newest stamp, as written."""
        self._seconds = 0.0
        self._first: float | None = None

    def seconds(self, stamp: str | None) -> float | None:
        """Seconds since the first stamp of this log; None where there is none."""
        if stamp is None:
            return self._seconds if self._first is not None else None
        if stamp != self.word:
            self.word = stamp
            self._set(stamp)
        return self._seconds

    def _set(self, stamp: str) -> None:
        now = moment(stamp)
        self._first = now if self._first is None else self._first
        self._seconds = now - self._first


def moment(stamp: str) -> float:
    """A stamp in seconds; the log names no time zone, so only differences mean something."""
    try:
        return datetime.fromisoformat(stamp).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0

"""Progress bars of the tqdm shape in a line of text: `LABEL: 25% ...| 1/4 [00:01<00:03, 1.00s/it]`, several may be glued."""

import re
from typing import Literal, NamedTuple

_BAR = re.compile(
    r"(?P<percent>\d{1,3})%"
    r"(?:\s*Completed\s*\||\|[^|\[\]]{0,400}\|)"
    r"\s*(?P<done>\d{1,12}(?:\.\d{1,6})?)(?P<done_unit>[kKMGTP]?)"
    r"/(?P<total>\d{1,12}(?:\.\d{1,6})?)(?P<total_unit>[kKMGTP]?)B?"
    r"\s*\[(?P<elapsed>[\d:]{1,16})<(?P<eta>[\d:?]{1,16})"
    r"(?:,\s*(?P<rate>\d{1,12}(?:\.\d{1,6})?|\?)(?P<rate_unit>[kKMGTP]?[A-Za-z]*/[A-Za-z]*))?[^\[\]]{0,200}\]"
)
_WRITER = re.compile(r"\((?P<writer>[A-Za-z][\w.:-]{0,60})(?: rank=\d+)? pid=\d+\)")
_CONTAINER = re.compile(r"^\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) [FP] ")
_STAMP = re.compile(r"\[\d{4}-\d\d-\d\d[^\]]*\]")
_SCALE = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_LONGEST_LABEL = 80


class Bar(NamedTuple):
    """One redraw of one bar."""

    label: str
    """Its own words, without a writer, a time stamp and the colon; may be empty."""
    done: int
    total: int
    kind: Literal["count", "bytes"] = "count"
    """`bytes`: a download; never shards."""
    rate: float | None = None
    """Steps per second (bytes per second for a download)."""
    eta_seconds: float | None = None
    writer: str | None = None
    """The process that drew it, where the line says so: `Worker_TP0`."""

    @property
    def percent(self) -> float:
        """From the counter itself, not from the bar's rounded word."""
        return min(100.0, 100.0 * self.done / self.total)


def find_bars(text: str) -> tuple[Bar, ...]:
    """All bars of a line, in their order."""
    if "%" not in text or "|" not in text or "<" not in text:
        return ()
    bars = []
    label_begins = 0
    for match in _BAR.finditer(text):
        bar = _bar(match, text[label_begins : match.start()])
        label_begins = match.end()
        if bar is not None:
            bars.append(bar)
    return tuple(bars)


def lone_writer(text: str) -> str | None:
    """The writer, where a line is nothing but a writer's prefix: it belongs to the next line."""
    if not text.startswith("(") or not text.endswith((")", ") ")):
        return None
    match = _WRITER.fullmatch(text.strip())
    return match["writer"] if match else None


def _bar(match: re.Match[str], before: str) -> Bar | None:
    done = _counted(match["done"], match["done_unit"])
    total = _counted(match["total"], match["total_unit"])
    if total < 1:
        return None
    writers = _WRITER.findall(before) if "pid=" in before else ()
    return Bar(
        label=_label(before),
        done=done,
        total=total,
        kind="bytes" if match["total_unit"] or (match["rate_unit"] or "").endswith("B/s") else "count",
        rate=_rate(match["rate"], match["rate_unit"]),
        eta_seconds=clock_seconds(match["eta"]),
        writer=writers[-1] if writers else None,
    )


def _counted(number: str, unit: str) -> int:
    return int(float(number) * _SCALE[unit]) if unit or "." in number else int(number)


def _label(before: str) -> str:
    """What the bar calls itself: the words after any writer and any time stamp."""
    words = before
    if words.startswith("2"):
        words = _CONTAINER.sub("", words)
    if "pid=" in words:
        words = _WRITER.split(words)[-1]
    if "[" in words:
        words = _STAMP.split(words)[-1]
    return words.strip().removesuffix(":").strip()[-_LONGEST_LABEL:]


def _rate(word: str | None, unit: str) -> float | None:
    if word is None or word == "?":
        return None
    value = float(word)
    if unit.startswith("s/"):
        return 1.0 / value if value > 0 else None
    return value * _SCALE.get(unit[:1], 1.0)


def clock_seconds(word: str) -> float | None:
    """`1:02:03` or `02:03` in seconds; None for `?`."""
    parts = word.split(":")
    if not all(part.isdecimal() for part in parts):
        return None
    seconds = 0.0
    for part in parts:
        seconds = seconds * 60 + int(part)
    return seconds

"""How a log line looks: its level by its words, its time stamp faded."""

from specdeck.late_pattern import late_pattern
from specdeck.ui.drawing.spans import Row

STAMP = late_pattern(
    r"^(?:\([^)]{1,40}\) )?"
    r"(?:\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[^\]\s]{0,10}(?: [A-Z]{2}\d+)*\]?|[A-Z]+ \d\d-\d\d \d\d:\d\d:\d\d)"
)
DATE = late_pattern(r"^\d{4}-\d\d-\d\d[ T]")
ERROR = late_pattern(
    r"\b(?:ERROR|CRITICAL|FATAL|Traceback|[A-Z]\w*(?:Error|Exception))\b|\bout of memory\b|\bKilled\b|\[[EF]\d{4} \d\d:"
)
"""The last one is the level of NCCL and other C++ libraries: `[E1129 14:00:01`."""
WARNING = late_pattern(r"\b(?:WARNING|WARN|[A-Z]\w*Warning)\b|\[W\d{4} \d\d:")
READY = late_pattern(r"fired up and ready|Application startup complete|Uvicorn running on")
DEBUG = late_pattern(r"\bDEBUG\b")
BAR = late_pattern(r"\d%(?:\|| Completed)")
POLL = late_pattern(
    r'"GET /(?:health|health_generate|ready|metrics|v1/loads|server_info|version|slots)(?:\?[^ ]*)? HTTP/[\d.]+" 200'
)
LOOKED_AT = 400


def is_poll(text: str) -> bool:
    """An access line of a watcher that got what it asked for, such as specdeck's own: true, but of no use to who reads the log."""
    return POLL.search(text[:LOOKED_AT]) is not None


def looks_like(text: str, *, is_bar: bool = False) -> str:
    """The role of a line."""
    start = text[:LOOKED_AT]
    if is_bar or BAR.search(start):
        return "accent"
    if ERROR.search(start):
        return "error"
    if WARNING.search(start):
        return "warning"
    if READY.search(start):
        return "ready-strong"
    return "dim" if DEBUG.search(start) else ""


def split_stamp(text: str, role: str, *, is_short: bool = False) -> Row:
    """The time stamp apart, so that the words stand out; `is_short`: without its date, where every column counts."""
    found = STAMP.match(text)
    if found is None:
        return ((text, role),)
    stamp = found.group()
    if is_short:
        stamp = DATE.sub("", stamp.strip("[]"))
    return ((stamp, role or "dim"), (text[found.end() :], role))

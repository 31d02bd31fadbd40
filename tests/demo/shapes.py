"""The shape of a log line: what stays when figures, paths and times are taken out."""

import re
from pathlib import Path

_RULES = (
    (r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: TP\d+)?\]", "[T]"),
    (r"(server_args=ServerArgs\().*", r"\1"),
    (r"(?<!\w)(?:/[A-Za-z][\w.\-]*)+", "PATH"),
    (r"\|[ █▏▎▍▌▋▊▉]{10}\|", "|BAR|"),
    (r"type=\w+", "type=X"),
    (r"\[(?:\d+, )*\d+\]", "[N]"),
    (r"\d+(?:\.\d+)?", "N"),
    (r"s/it|it/s", "RATE"),
    (r" +", " "),
)
CAPTURES = Path(__file__).parents[1] / "captures" / "sglang_h200"


def shape(line: str) -> str:
    """One line's shape."""
    for pattern, words in _RULES:
        line = re.sub(pattern, words, line)
    return line


def shapes(text: str) -> set[str]:
    """All shapes of a log; a bar's refreshes count as lines."""
    return {shape(line) for line in re.split(r"[\r\n]+", text) if line.strip()}


def real(*names: str) -> set[str]:
    """All shapes of real logs."""
    return shapes("\n".join((CAPTURES / name).read_text("utf-8") for name in names))

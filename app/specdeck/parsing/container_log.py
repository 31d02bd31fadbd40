"""Logs as runtimes of containers keep them: each line of the program within one of theirs, told apart by the first line.

Docker's json-file driver writes `{"log":"TEXT\\n","stream":"stdout","time":"..."}`; containerd and CRI-O (for the kubelet) and
Podman's k8s-file write `TIME stdout F TEXT`, with P for a piece of a line that goes on.
"""

import json
import re

from specdeck.parsing.lines import Line, Lines, LineSplitter, visible_text

_CRI = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) [FP](?::\S*)?(?: (?P<text>.*))?",
    re.DOTALL,
)
_DOCKER = '{"log":"'


class UnwrappingSplitter(LineSplitter):
    """Lines with the program's own text; numbers and offsets stay those of the file."""

    def __init__(self) -> None:
        super().__init__()
        self._is_wrapped: bool | None = None
        """None: no line was seen yet."""

    @property
    def open_line(self) -> Line | None:
        """The line that has no end yet; of a wrapped one nothing can be said before it has."""
        line = super().open_line
        if line is None or self._is_wrapped is False:
            return line
        return None if self._is_wrapped or line.text.startswith(_DOCKER) else line

    def feed(self, chunk: bytes) -> Lines:
        """The lines that this piece completes."""
        return self._own(super().feed(chunk))

    def end(self) -> Lines:
        """What is open becomes the last line."""
        return self._own(super().end())

    def _own(self, lines: Lines) -> Lines:
        if not lines or self._is_wrapped is False:
            return lines
        if self._is_wrapped is None:
            self._is_wrapped = unwrapped(lines.first_text) is not None
            return self._own(lines)
        return Lines.of(tuple(self._line_of(line) for line in lines))

    def _line_of(self, line: Line) -> Line:
        text = unwrapped(line.text)
        return line if text is None else line._replace(text=text)


def unwrapped(text: str) -> str | None:
    """The program's own text of one line of a runtime, of a bar its last drawing; None: it is no such line."""
    if text.startswith(_DOCKER):
        own = _docker_text(text)
    else:
        match = _CRI.fullmatch(text)
        own = (match["text"] or "") if match else None
    if own is None:
        return None
    return visible_text(own.rstrip("\r\n").rpartition("\r")[2].encode("utf-8", "replace"))


def _docker_text(text: str) -> str | None:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    own = told.get("log") if isinstance(told, dict) else None
    return own if isinstance(own, str) else None

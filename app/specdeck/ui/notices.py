"""Words to the terminal itself, beside the screen: its bell, its notification (OSC 9), its title (OSC 2); through tmux and screen.

Text of hosts goes through `clean` here, so that it can end no sequence and begin none.
"""

import os
from base64 import b64encode
from collections.abc import Callable, Mapping

from specdeck.ui.drawing.spans import clean

BELL = "\a"
KEEP_TITLE, GIVE_TITLE_BACK = "\x1b[22;2t", "\x1b[23;2t"
"""Onto the stack of titles that xterm and tmux keep, and from it; others leave it alone."""
LONGEST = 200


class Notices:
    """Of one terminal."""

    def __init__(
        self,
        write: Callable[[str], object],
        environment: Mapping[str, str] = os.environ,
        *,
        spelled: Callable[[str], str] = str,
    ) -> None:
        self._write = write
        self._spelled = spelled
        """How words are written: as they are, or in ASCII."""
        self._environment = environment
        self._title: str | None = None

    def ring(self) -> None:
        """The terminal's bell: in tmux it marks the window."""
        self._write(BELL)

    def notify(self, text: str) -> None:
        """A notification of the desktop, where the terminal can (iTerm2, kitty, WezTerm, Windows Terminal, foot, ...)."""
        self._write(passed_through(f"\x1b]9;specdeck: {one_line(self._spelled(text))}{BELL}", self._environment))

    def copy(self, text: str) -> None:
        """Into the clipboard (OSC 52): for tmux itself (`set-clipboard on`), and through it for the terminal outside."""
        sequence = f"\x1b]52;c;{b64encode(text.encode()).decode()}{BELL}"
        outside = passed_through(sequence, self._environment)
        self._write(sequence if outside == sequence else f"{sequence}{outside}")

    def title(self, text: str) -> None:
        """The title of the terminal, and of the tmux pane, where it changed; the first one keeps the title of before."""
        if text == self._title:
            return
        self._write(f"{KEEP_TITLE if self._title is None else ''}\x1b]2;{one_line(self._spelled(text))}{BELL}")
        self._title = text

    def close(self) -> None:
        """The title of before, for good: what comes later is not written."""
        self.give_title_back()
        self._write = lambda _: None

    def give_title_back(self) -> None:
        """The title that was there before."""
        if self._title is not None:
            self._title = None
            self._write(GIVE_TITLE_BACK)


def one_line(text: str) -> str:
    """Without a character that could end the sequence; not endless."""
    safe = clean(text)
    return safe if len(safe) <= LONGEST else f"{safe[: LONGEST - 1]}…"


def passed_through(sequence: str, environment: Mapping[str, str]) -> str:
    """For the terminal outside of a multiplexer (tmux wants `allow-passthrough on`); as it is where there is none."""
    if environment.get("TMUX"):
        doubled = sequence.replace("\x1b", "\x1b\x1b")
        return f"\x1bPtmux;{doubled}\x1b\\"
    if environment.get("STY"):
        return f"\x1bP{sequence}\x1b\\"
    return sequence

"""`python -m tests.ui.monkey --seconds 300 --seed 7`: random keys, pastes, clicks, odd bytes and sizes on a dashboard in a pty.

It ends with 1 and the last keys where the dashboard crashes, hangs, or does what no sheet has shown; the seed repeats it.
"""

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from tests.ui.real_terminal import RealTerminal

FLEET = "hosts: {blackwell: {ssh: root@blackwell, servers: {kimi: {model: /data/models/kimi-k2, port: 30000}}}}\n"
OURS = list("vpRKLd/nN&eTcCmysfwajkgGoz xXhl+ErM!:?1259")
OTHERS = [chr(code) for code in range(32, 127)]
ODD = [
    *(
        "\x1b[A",
        "\x1b[B",
        "\x1b[C",
        "\x1b[D",
        "\x1b[5~",
        "\x1b[6~",
        "\x1b[H",
        "\x1b[F",
        "\t",
        "\x1b[Z",
        "\r",
        "\x1b",
        "\x7f",
    ),
    *(
        "\x1b[3~",
        "\x1bOP",
        "\x14",
        "\x10",
        "\x04",
        "\x15",
        "\x01",
        "\x0b",
        "\x17",
        "\x1b[1;5C",
        "\x1bb",
        "\x03",
        "\x1a",
    ),
    *(
        "\x00",
        "é",
        "漢",
        "\u202e",
        "e\u0301",
        "👨‍👩‍👧",
        "\x1b[I",
        "\x1b[O",
        "\x1b[99999999999~",
        "\x1b[200~v\nv\nKR\n\x1b[201~",
    ),
    *(
        f"\x1b[<{button};%d;%d{end}"
        for button, end in ((0, "M"), (0, "m"), (35, "M"), (64, "M"), (65, "M"), (32, "M"), (2, "M"))
    ),
]
"""Keys, control characters, text of other scripts, a paste, and the mouse at a place."""
EDITORS = ("true", "false", "/no/such/editor", "sh -c 'echo hosts: 5 > $0'")
SIZES = ((80, 24), (120, 40), (200, 50), (59, 14), (60, 15), (1, 1), (10, 3), (300, 80), (20, 100), (400, 5))
PACES = (0.0, 0.002, 0.03, 0.05, 0.1)
ANSWER_SECONDS = 60.0
LEFT_BY_KEY = (0, 130)
"""`q`, or ctrl+c while the terminal was the shell's."""


class Monkey:
    """One life of it on one dashboard after the other."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._random = random.Random(seed)
        self._folder = folder
        self._size = (120, 40)
        self.last: deque[str] = deque(maxlen=60)
        self.pressed = 0
        self.terminal = self._begin()

    def _begin(self) -> RealTerminal:
        (self._folder / "fleet.yaml").write_text(FLEET)
        editor, home = self._random.choice(EDITORS), str(self._folder)
        words = ("-m", "tests.ui.monkeyed", str(self._folder))
        terminal = RealTerminal(words, self._folder, EDITOR=editor, VISUAL="", HOME=home)
        terminal.until(b"\x1b]2;")
        return terminal

    def play(self, seconds: float) -> str | None:
        """Type for so long; what went wrong."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._burst()
            if self._random.random() < 0.3:
                self._size = self._random.choice(SIZES)
                self.terminal.resize(*self._size)
            code = self.terminal.process.poll()
            if code is not None and code not in LEFT_BY_KEY and code != -signal.SIGINT:
                return f"it ended with {code}"
            if code is not None:
                self.terminal.close()
                self.terminal = self._begin()
        return self._answers()

    def _burst(self) -> None:
        pace = self._random.choice(PACES)
        for _ in range(self._random.randint(1, 30)):
            kind = self._random.random()
            key = self._random.choice(OURS if kind < 0.45 else OTHERS if kind < 0.6 else ODD)
            places = key.count("%d")
            key = key % tuple(self._random.randint(1, self._size[at]) for at in range(places)) if places > 1 else key
            self.last.append(key)
            self.pressed += 1
            with contextlib.suppress(OSError):
                self.terminal.type(b"\xf6" if key == "\x00" else key.encode())
            self.terminal.look(pace)
            if key == "\x1a":
                self.terminal.look(0.3)
                self.terminal.send(signal.SIGCONT)

    def _answers(self) -> str | None:
        """It still draws when its size changes, and leaves when it is told to."""
        self.terminal.resize(100, 30)
        self.terminal.written = b""
        if not self._comes_to(lambda: bool(self.terminal.written)):
            return "it does not draw any more"
        if self.terminal.process.poll() is None:
            self.terminal.send(signal.SIGTERM)
        if not self._comes_to(lambda: self.terminal.process.poll() is not None):
            return "it does not leave"
        code = self.terminal.end()
        return None if code in (*LEFT_BY_KEY, 128 + signal.SIGTERM, -signal.SIGINT) else f"it ended with {code}"

    def _comes_to(self, is_so: Callable[[], bool]) -> bool:
        """Where the last key was ctrl+z, the shell's `fg` comes first."""
        end = time.monotonic() + ANSWER_SECONDS
        while not is_so() and self.terminal.process.poll() is None and time.monotonic() < end:
            self.terminal.send(signal.SIGCONT)
            self.terminal.look(0.5)
        return is_so() or self.terminal.process.poll() is not None


def main(seconds: float, seed: int) -> int:
    """Play, then say what was found."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        monkey = Monkey(seed, folder)
        try:
            wrong = monkey.play(seconds)
        finally:
            monkey.terminal.close()
        reports = [path.read_text() for path in (folder / "state/specdeck/reports").glob("*.txt")]
        print(
            f"seed {seed}: {monkey.pressed} keys, {wrong or 'nothing wrong'}, {len(reports)} reports", file=sys.stderr
        )
        if wrong is not None or reports:
            print("last keys:", [*monkey.last], *reports, sep="\n", file=sys.stderr)
        return int(wrong is not None or bool(reports))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    os.chdir(Path(__file__).parents[2])
    sys.exit(main(asked.seconds, asked.seed))

"""A program in a terminal of its own: what it paints is counted and searched, what it costs is read from /proc."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

TICKS = os.sysconf("SC_CLK_TCK")
END_SECONDS = 15.0


def _without_size() -> dict[str, str]:
    """The environment, but for a size that is not this terminal's."""
    return {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}


class Terminal:
    """Runs a program in a pty of 120 x 40; the program ends with the context."""

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], size: tuple[int, int] = (120, 40)) -> None:
        self.painted = bytearray()
        """Everything since `forget`."""
        self.began = time.monotonic()
        self._fd, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            env={**_without_size(), "TERM": "xterm-256color", "COLORTERM": "truecolor", **env},
        )  # fmt: skip
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._drain_until(lambda: self._process.poll() is not None, END_SECONDS)
        finally:
            self._process.kill()
            self._process.wait(END_SECONDS)
            os.close(self._fd)

    @property
    def pid(self) -> int:
        """The program's process."""
        return self._process.pid

    def forget(self) -> None:
        """Count and search from here on."""
        self.painted.clear()

    def type(self, keys: bytes) -> None:
        """As if typed."""
        os.write(self._fd, keys)

    def kill(self) -> None:
        """End it at once: how it leaves is not of interest."""
        self._process.kill()

    @property
    def is_over(self) -> bool:
        """It has ended."""
        return self._process.poll() is not None

    def until_bytes(self, count: int, seconds: float = 30.0) -> float:
        """Wait until so much is painted, or it has ended; the moment."""
        self._drain_until(lambda: len(self.painted) >= count or self.is_over, seconds)
        return time.monotonic()

    def until(self, wanted: bytes, seconds: float = 30.0) -> float:
        """Wait until this is painted; the moment."""
        if not self._drain_until(lambda: wanted in self.painted, seconds):
            raise AssertionError(f"not painted within {seconds:g} s: {wanted!r}; the last was {self.painted[-600:]!r}")
        return time.monotonic()

    def watch(self, seconds: float) -> "Cost":
        """Let it run; what it cost."""
        self.forget()
        cpu, began = cpu_seconds(self.pid), time.monotonic()
        self._drain_until(lambda: False, seconds)
        took = time.monotonic() - began
        return Cost(100 * (cpu_seconds(self.pid) - cpu) / took, len(self.painted) / took)

    def _drain_until(self, is_so: Callable[[], bool], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not is_so():
            left = end - time.monotonic()
            if left <= 0:
                return False
            if select.select([self._fd], [], [], min(left, 0.05))[0]:
                try:
                    self.painted += os.read(self._fd, 1 << 16)
                except OSError:  # its end of the terminal is closed
                    return is_so()
        return True


class Cost:
    """What a program cost while it was watched."""

    def __init__(self, cpu_percent: float, bytes_per_second: float) -> None:
        self.cpu_percent = cpu_percent
        """Of one core."""
        self.bytes_per_second = bytes_per_second
        """To the terminal."""


def cpu_seconds(pid: int, *, with_children: bool = False) -> float:
    """What a process has used so far; children count once they were waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11 : 15 if with_children else 13]) / TICKS


def resident_mib(pid: int) -> float:
    """The memory that a process holds now."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def cpu_so_far(pid: int) -> float:
    """CPU seconds of all threads of a process, to the microsecond (/proc/PID/stat counts in hundredths)."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

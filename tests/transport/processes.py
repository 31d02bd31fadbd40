"""Which processes live, and waiting for a condition with a time limit."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

from specdeck.transport.script import Script

LIMIT_SECONDS = 30.0


def is_alive(pid: int) -> bool:
    """It exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def until(condition: Callable[[], bool]) -> None:
    """Wait until it holds; TimeoutError otherwise."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while not condition():  # noqa: ASYNC110 - other processes set no event
            await asyncio.sleep(0.02)


def pids_in(file: Path) -> list[int]:
    """The numbers that a script wrote, one a line; empty until it has written `done`."""
    lines = file.read_text().split() if file.exists() else []
    return [int(line) for line in lines[:-1]] if lines[-1:] == ["done"] else []


def children(file: Path, *, stubborn: bool = True) -> Script:
    """Children of every kind; the stubborn one ignores SIGTERM; the last one is in a session of its own."""
    ignoring = "(trap '' TERM HUP; exec sleep 601) & echo $! >>\"$1\"\n" if stubborn else ""
    return Script(
        'sleep 600 & echo $! >>"$1"\n'
        'tail -F "$1" & echo $! >>"$1"\n'
        f"{ignoring}"
        'setsid sleep 60 >/dev/null 2>&1 </dev/null & echo $! >>"$1"\n'
        'while read -r its_stat <"/proc/$!/stat"; do case $its_stat in *" $! $! "*) break ;; esac; done\n'
        'echo done >>"$1"; sleep 602',
        (str(file),),
    )


async def only_the_last_survives(file: Path) -> None:
    """Within the limit, of what `children` started."""
    *ours, detached = pids_in(file)
    try:
        await until(lambda: not any(map(is_alive, ours)))
        assert is_alive(detached)
    finally:
        end(detached)


def end(pid: int) -> None:
    """Kill a process that a test let live."""
    if is_alive(pid):
        os.kill(pid, signal.SIGKILL)

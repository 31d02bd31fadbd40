"""The demo's guard: a process of its own that, once the demo is gone, ends all that the demo started and removes its folder.

It runs as a plain script without site packages and takes orders from nobody: the end of its input is the only signal.
A process belongs to the demo if it was started with the demo's random id in its environment; nothing else is touched.
"""

import os
import shutil
import signal
import sys
import time

MARK = b"SPECDECK_DEMO_ID="
ROUNDS = 3
"""Clean looks in a row before we believe that nobody is left (a process may be forking just now)."""


def carries(pid: int, mark: bytes) -> bool:
    """Whether a process was started with the demo's id. Those of other users cannot be read, and are not ours."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return mark in file.read().split(b"\0")
    except OSError:
        return False


def end(pid: int, mark: bytes) -> bool:
    """SIGKILL to this very process: the descriptor is taken first and the id looked at again, so no other can be hit."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not carries(pid, mark):
            return False
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def sweep(mark: bytes) -> int:
    """End all processes of the demo that live now; how many."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return sum(end(pid, mark) for pid in pids if pid != os.getpid() and carries(pid, mark))


def clean_up(mark: bytes, folder: str) -> None:
    """Until nobody is left; then the folder."""
    clean = 0
    for _ in range(200):
        clean = 0 if sweep(mark) else clean + 1
        if clean == ROUNDS:
            break
        time.sleep(0.02)
    shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Wait for the end of stdin, through every signal that a terminal sends."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    demo_id, folder = sys.argv[1:]
    while os.read(0, 4096):
        pass
    clean_up(MARK + demo_id.encode(), folder)


if __name__ == "__main__":
    main()

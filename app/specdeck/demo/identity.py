"""Which process is which: a pid is only good together with its start time. Every simulated program uses it: it imports little."""

import os

DEMO_ID = "SPECDECK_DEMO_ID"
"""The random id that every process of one demo carries in its environment."""
OWNER = "SPECDECK_DEMO_OWNER"
"""`PID STARTTIME` of the demo itself: who outlives it ends."""
TREE = "SPECDECK_DEMO_TREE"
"""The folder of everything that the demo made."""
SPEED = "SPECDECK_DEMO_SPEED"
FAIL = "SPECDECK_DEMO_FAIL"


def stat_fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the third (the state) on; empty if the process is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return text[text.rindex(")") + 2 :].split()


def start_time(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat; None for a process that is gone or a zombie."""
    fields = stat_fields(pid)
    if not fields or fields[0] in "ZX":
        return None
    return int(fields[19])


def is_alive(pid: int, started: int) -> bool:
    """Whether this very process still lives."""
    return start_time(pid) == started


def signature(pid: int) -> str:
    """`PID STARTTIME`, as OWNER carries it."""
    return f"{pid} {start_time(pid) or 0}"


def owner_lives() -> bool:
    """Whether the demo that we belong to still runs (true where we belong to none)."""
    words = os.environ.get(OWNER, "").split()
    return len(words) != 2 or is_alive(int(words[0]), int(words[1]))

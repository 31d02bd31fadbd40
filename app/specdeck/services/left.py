"""What a stop could not end (the file `left` beside the journal): watched until the host shows that it is gone."""

from collections.abc import Mapping

from specdeck.services.family import MOST_WATCHED, lives


def left_questions(left: str | None) -> tuple[str, ...]:
    """What to ask in each tick."""
    return tuple(f"pid {pid}" for pid, _ in _processes(left))


def is_still_left(left: str | None, stats: Mapping[int, str], *, is_listening: bool, unclaimed_mib: int | None) -> bool:
    """Whether it is still there; what nobody has looked at yet is."""
    kind, _, rest = (left or "").partition(" ")
    if kind == "processes" and (processes := _processes(left)):
        return any(pid not in stats or lives(stats[pid], start) for pid, start in processes)
    if kind == "port":
        return is_listening
    if kind == "memory" and rest.lstrip("-").isdecimal():
        return unclaimed_mib is None or unclaimed_mib > int(rest)
    return True


def _processes(left: str | None) -> tuple[tuple[int, int], ...]:
    """The words PID:START of `processes PID:START ...`."""
    kind, *words = (left or "-").split()
    if kind != "processes":
        return ()
    pairs = (word.partition(":")[::2] for word in words[:MOST_WATCHED])
    return tuple((int(pid), int(start)) for pid, start in pairs if pid.isdecimal() and start.isdecimal())

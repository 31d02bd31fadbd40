"""Who acts and who watches on a host, beyond specdeck's own state folder: the lock of a port and the presence entries in /tmp."""

import secrets
from collections.abc import Iterable
from typing import get_args

from specdeck.parsing.plain import plain
from specdeck.services.run_records import HostClock
from specdeck.services.who import whoami
from specdeck.state.snapshot import Act, ActKind, PortLock, Watcher

OWN_TOKEN = secrets.token_hex(4)
"""Marks this process's own entries: nobody is told of himself."""


def watch_question(*, is_read_only: bool) -> str:
    """Asks monitor.sh to tell the host that we watch it, for as long as the monitor lives."""
    return f"watch {'ro' if is_read_only else 'rw'} {OWN_TOKEN} {whoami()}"


def read_watchers(entries: Iterable[str], clock: HostClock) -> tuple[Watcher, ...]:
    """Entries `FILE PID START SINCE MODE TOKEN WHO`, but our own; they were written by others and may say anything."""
    found: dict[str, Watcher] = {}
    for entry in entries:
        file, words = entry.split(" ", 1)[0], plain(entry).split(" ")
        if len(words) < 7 or file != f"{words[1]}.{words[2]}" or words[5] == OWN_TOKEN or not _is_time(words[3]):
            continue
        found[words[5]] = Watcher(words[6][:64], clock.ours(float(words[3])), words[4] == "ro")
    return tuple(sorted(found.values(), key=lambda each: (each.since, each.who)))


def read_port_lock(told: str | None, clock: HostClock) -> PortLock | None:
    """`held|gone PID START SINCE KIND WHO`, or `strange`; None: nobody acts on the port."""
    if told is None:
        return None
    words = [*plain(told).split(" "), *[""] * 6]
    kind = next((kind for kind in get_args(ActKind) if kind == words[4]), None)
    if words[0] not in ("held", "gone") or kind is None or not _is_time(words[3]):
        return PortLock("strange")
    return PortLock("held" if words[0] == "held" else "gone", kind, words[5][:64], clock.ours(float(words[3])))


def act_elsewhere(lock: PortLock) -> Act | None:
    """What another user does on the port: the lock says so, the steps are in a journal that only they may read."""
    if lock.state != "held" or lock.kind is None or lock.since is None:
        return None
    return Act(lock.kind, "elsewhere", "its steps are in another user's journal", lock.since, who=lock.who)


def _is_time(text: str) -> bool:
    return text.isdecimal() and len(text) < 16

"""Whose turn it is to log in: few at a time at one door, since an sshd drops who comes when many are not logged in yet."""

import asyncio
from collections.abc import Hashable
from types import TracebackType
from typing import Self
from weakref import WeakKeyDictionary

from specdeck.transport.resolve import Route

AT_ONE_DOOR = 2
"""MaxStartups is 10:30:100 unless told otherwise, and on some bastions as little as 2:50:4."""

_Doors = dict[Hashable, asyncio.Semaphore]
_DOORS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Doors] = WeakKeyDictionary()


class Turn:
    """A turn at the door of one route, held until its login is over, or its user is asked something, which may take an hour."""

    def __init__(self, route: Route) -> None:
        doors = _DOORS.setdefault(asyncio.get_running_loop(), {})
        self._door = doors.setdefault(door_of(route), asyncio.Semaphore(AT_ONE_DOOR))
        self._is_mine = False

    async def __aenter__(self) -> Self:
        await self._door.acquire()
        self._is_mine = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def leave(self) -> None:
        """Let the next one."""
        if self._is_mine:
            self._is_mine = False
            self._door.release()


def door_of(route: Route) -> Hashable:
    """An address as seen from the last jump host; all that one ProxyCommand leads to are behind the same bastion."""
    if route.proxy_command and not route.jumps:
        return route.proxy_command
    return tuple((hop.host, hop.port) for hop in route.jumps), route.host, route.port

"""Connections to jump hosts, shared: ten hosts behind one jump host cost one connection to it."""

import asyncio
import copy
from collections.abc import Awaitable, Callable
from functools import partial
from math import inf
from weakref import WeakKeyDictionary

from specdeck.errors import TransportError
from specdeck.quick_dataclass import dataclass, replace
from specdeck.transport.crowd import Crowd, Spokesman
from specdeck.transport.login import Link, log_in
from specdeck.transport.questions import Questions
from specdeck.transport.resolve import Route

Chain = tuple[Route, ...]


async def connect(route: Route, questions: Questions | None = None, *, set_out_at: float) -> Link:
    """Log in to a host through its jump hosts. Raises what `log_in` raises; a jump host that failed is named.

    `set_out_at`: loop time; who set out before a jump host failed shares that failure, so that sixteen hosts behind it do not
    try a refused login sixteen times.
    """
    hops = _hops_of_this_loop()
    try:
        return await hops.through(route.jumps, route, Traveller(questions, set_out_at))
    except _HopFailed as failed:
        err = copy.copy(failed.error)
        err.args = (f"on the way to {route.name}: {err}",)
        raise err from failed


@dataclass(frozen=True, slots=True)
class Traveller:
    """On whose behalf jump hosts are connected."""

    questions: Questions | None
    set_out_at: float

    def for_all_in(self, crowd: Crowd) -> "Traveller":
        """The one who is asked what a jump host wants to know; the others wait for the answer."""
        return replace(self, questions=Spokesman(self.questions, crowd) if self.questions is not None else None)


class _HopFailed(Exception):
    """The connection to a jump host could not be made."""

    def __init__(self, error: TransportError) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(slots=True, eq=False)
class _Shared:
    """One connection to a jump host and how many use it."""

    opening: asyncio.Task[Link]
    crowd: Crowd
    users: int = 0

    @property
    def is_usable(self) -> bool:
        """It is being opened, or open."""
        if not self.opening.done():
            return True
        return not self.opening.cancelled() and self.opening.exception() is None and not _is_lost(self.opening.result())


class Hops:
    """The jump host connections of one event loop, by the chain that leads to them."""

    def __init__(self) -> None:
        self._shared: dict[Chain, _Shared] = {}
        self._failed: dict[Chain, tuple[float, TransportError]] = {}
        """When the last connection to a jump host failed, and why."""

    async def through(self, chain: Chain, route: Route, traveller: Traveller) -> Link:
        """Connect to `route` over the last host of `chain`, which is connected first if it is not yet."""
        if not chain:
            return Link(*await log_in(route, None, traveller.questions))
        hop, leave = await self._enter(chain, traveller)
        try:
            return Link(*await log_in(route, hop, traveller.questions), leave)
        except BaseException:
            await leave()
            raise

    async def _enter(self, chain: Chain, traveller: Traveller) -> tuple[Link, Callable[[], Awaitable[None]]]:
        failed_at, error = self._failed.get(chain, (-inf, None))
        if error is not None and failed_at >= traveller.set_out_at:
            raise _HopFailed(error)
        shared = self._shared.get(chain)
        if shared is None or not shared.is_usable:
            crowd = Crowd()
            shared = _Shared(asyncio.create_task(self._open(chain, traveller.for_all_in(crowd))), crowd)
            self._shared[chain] = shared
        shared.users += 1
        leave = partial(self._leave, chain, shared)
        try:
            with shared.crowd.joined(traveller.questions):
                return await asyncio.shield(shared.opening), leave
        except TransportError as err:
            await leave()
            raise _HopFailed(err) from err
        except BaseException:
            await leave()
            raise

    async def _open(self, chain: Chain, traveller: Traveller) -> Link:
        try:
            return await self.through(chain[:-1], chain[-1], traveller)
        except TransportError as err:
            self._failed[chain] = (asyncio.get_running_loop().time(), err)
            raise

    async def _leave(self, chain: Chain, shared: _Shared) -> None:
        """The last user closes the connection."""
        shared.users -= 1
        if shared.users:
            return
        if self._shared.get(chain) is shared:
            del self._shared[chain]
        shared.opening.cancel()
        done, _ = await asyncio.wait([shared.opening])
        for task in done:
            if not task.cancelled() and task.exception() is None:
                await task.result().close()


_HOPS: WeakKeyDictionary[asyncio.AbstractEventLoop, Hops] = WeakKeyDictionary()


def _hops_of_this_loop() -> Hops:
    return _HOPS.setdefault(asyncio.get_running_loop(), Hops())


def _is_lost(link: Link) -> bool:
    return link.guardian.lost.is_set()

"""Does one planned act from the command line and tells its steps as the host's journal gets them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from specdeck.config.objects import Fleet, Server
from specdeck.errors import TransportError
from specdeck.services.deck import Plan
from specdeck.services.group_steps import see_through
from specdeck.services.journal import Step, await_step
from specdeck.transport.base import Transport

_LOOK_EVERY_SECONDS = 0.15


class Performer(Protocol):
    """The launcher, or whoever else hands a plan to the host."""

    async def perform(self, plan: Plan) -> None:
        """Returns once the host has taken it. Raises Refused, TransportError."""


async def act(launcher: Performer, transport: Transport, server: Server, plan: Plan) -> AsyncIterator[Step]:
    """Ask for the act and yield each step until the last one. Raises Refused, TransportError.

    The act goes on whatever becomes of this iterator: it runs on the host.
    """
    await launcher.perform(plan)
    async for step in follow(transport, server, plan.act):
        yield step


async def act_on_all(
    launcher: Performer, transports: Mapping[str, Transport], fleet: Fleet, plan: Plan
) -> AsyncIterator[tuple[Server, Step]]:
    """As `act`, for a server of one host or of several: each step with the server or rank whose it is."""
    server = fleet.server(plan.server)
    assert server is not None  # noqa: S101 - it was planned
    if not plan.nodes:
        async for step in act(launcher, transports[server.host], server, plan):
            yield server, step
        return
    await launcher.perform(plan)
    async for each in see_through(transports, fleet.members(server), plan.nodes[0].group_act or ""):
        yield each.server, each.step


async def last_step(transport: Transport, server: Server, kind: str) -> Step:
    """How the newest act ends. Raises TransportError."""
    steps = [step async for step in follow(transport, server, kind)]
    return steps[-1]


async def follow(transport: Transport, server: Server, kind: str) -> AsyncIterator[Step]:
    """The steps of the newest act, until the last one. Raises TransportError."""
    told = 0
    while True:
        journal = await await_step(transport, server, told)
        new = journal.steps[told:]
        for step in new:
            yield step
        told += len(new)
        if journal.steps and journal.steps[-1].is_last:
            return
        if not journal.is_actor_alive:
            after = journal.steps[-1].name if journal.steps else "nothing"
            raise TransportError(f"the {kind} of {server.name} broke off on {server.host} after `{after}`")
        if not new:
            await asyncio.sleep(_LOOK_EVERY_SECONDS)

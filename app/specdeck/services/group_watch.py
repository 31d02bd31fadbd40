"""What a dashboard that may act does for groups by itself: sees begun acts through, and stops what a dead rank left."""

import asyncio
import logging
import re
from collections.abc import Callable, Mapping

from specdeck.config.objects import Fleet
from specdeck.errors import SpecdeckError
from specdeck.parsing.plain import plain
from specdeck.services.group_steps import WAITING_STEPS, see_through
from specdeck.services.groups import GroupLauncher
from specdeck.services.store import Store
from specdeck.state.events import Event, Noted
from specdeck.state.snapshot import FleetState, ServerState
from specdeck.state.witnesses import exit_words
from specdeck.transport.base import Transport

LOOK_SECONDS = 0.5
AGAIN_SECONDS = 5.0
SAME_LAUNCH_SECONDS = 300.0
"""Runs that began further apart are not of one launch: then a dead one is no reason to end the other."""

_NAME = re.compile(r"[A-Za-z0-9._-]+-\d{1,4}")

_log = logging.getLogger(__name__)


class GroupWatch:
    """Of all groups of a fleet; a fleet without any costs nothing."""

    def __init__(
        self,
        fleet: Fleet,
        store: Store,
        transports: Mapping[str, Transport],
        launcher: GroupLauncher,
        post: Callable[[Event], None],
    ) -> None:
        servers = [server for host in fleet.hosts for server in host.servers]
        self._heads = [server for server in servers if server.group is not None and not server.is_rank]
        self._fleet = fleet
        self._store = store
        self._transports = transports
        self._launcher = launcher
        self._post = post

    async def watch(self) -> None:
        """Endless: one task for each group."""
        async with asyncio.TaskGroup() as tasks:
            for head in self._heads:
                tasks.create_task(self._watch(head.name))

    async def _watch(self, name: str) -> None:
        seen_through: set[str] = set()
        async for state in self._store.changes(at_most_every_seconds=LOOK_SECONDS):
            head = state.server(name)
            if head is None:
                continue
            try:
                if (group_act := unfinished_act(state, head)) and group_act not in seen_through:
                    await self._see_through(name, group_act)
                    seen_through.add(group_act)
                elif why := why_to_stop(state, head):
                    await self._stop(name, why)
            except SpecdeckError as error:
                _log.info("%s", name, exc_info=True)
                self._post(Noted(name, plain(str(error)), "warning"))
                await asyncio.sleep(AGAIN_SECONDS)
            except Exception:  # a mistake here must not end the dashboard
                _log.exception("%s", name)
                await asyncio.sleep(AGAIN_SECONDS)

    async def _see_through(self, name: str, group_act: str) -> None:
        server = self._fleet.server(name)
        assert server is not None  # noqa: S101 - it is one of the heads
        async for _ in see_through(self._transports, self._fleet.members(server), group_act):
            pass

    async def _stop(self, name: str, why: str) -> None:
        self._post(Noted(name, plain(why), "error"))
        plan = await self._launcher.end_the_rest(name, why)
        await self._see_through(name, plan.nodes[0].group_act or "")


def unfinished_act(state: FleetState, head: ServerState) -> str | None:
    """A common act of which a rank waits for the word that all are as far."""
    for each in state.members(head):
        if each.act is not None and not each.act.is_over and each.act.step in WAITING_STEPS:
            name = each.act.detail.partition(" ")[0]
            return name if _NAME.fullmatch(name) else None
    return None


def why_to_stop(state: FleetState, head: ServerState) -> str | None:
    """A rank has ended unasked, the others still run, and nobody acts on any of them: the sentence for the journals."""
    members = state.members(head)
    if any(each.act is not None and not each.act.is_over for each in members):
        return None
    if any(each.lock is not None and each.lock.state == "held" for each in members):
        return None
    lives = [each for each in members if each.evidence.process.state == "alive"]
    for dead in members:
        if _has_ended_unasked(dead) and any(_is_of_one_launch(dead, each) for each in lives):
            status = dead.evidence.process.exit_status
            return f"rank {dead.evidence.rank} on {dead.host} has ended ({exit_words(status)}): the others are stopped"
    return None


def _has_ended_unasked(server: ServerState) -> bool:
    return server.evidence.link == "up" and server.evidence.process.state == "gone" and not server.evidence.stop_asked


def _is_of_one_launch(one: ServerState, other: ServerState) -> bool:
    """By when their runs began; a server of others tells nothing of that."""
    begun = [each.run.started_at for each in (one, other) if each.run and each.run.run]
    moments = [moment for moment in begun if moment is not None]
    return len(moments) == 2 and abs(moments[0] - moments[1]) <= SAME_LAUNCH_SECONDS

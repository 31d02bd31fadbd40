"""Acts on a server that spans several hosts, as one: each rank is stopped and launched by the actor of its own host.

An actor sees its own host only, so it waits twice for a word from somebody who sees them all (group_steps.py): after it holds its
lock (step `locked`, word `begin`), and after its own processes, port and GPU memory are free (step `free`, word `launch`).

Guaranteed, whoever dies when: nothing is touched on any host before the locks of all are held; no rank is launched before all are
gone; no rank is launched twice; the ranks are launched in their order. A rank that fails stops the rest where they are.
The words may come from anybody who watches all hosts and may act: the asker, its dashboard, the next dashboard. So an asker that
dies in the middle is replaced by the next one.
Not guaranteed: that the act ends well where nobody watches. Then each actor gives up after a while (60 s while nothing was touched,
kill_after + 180 s after its stop), says so in its journal and holds no lock: the group is stopped or launched in part, the next
look says which ranks run, and relaunch or pivot ends these first and launches all.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from specdeck.config.objects import Fleet, Server
from specdeck.errors import Refused, SpecdeckError, TransportError, UsageError
from specdeck.quick_dataclass import replace
from specdeck.services.deck import Check, Plan
from specdeck.services.group_steps import new_group_act, tell
from specdeck.services.launcher import Launcher, NothingRuns, refusal
from specdeck.state.snapshot import ActKind
from specdeck.transport.base import Transport


class GroupLauncher:
    """A launcher that takes a server of several hosts for one; any other one goes straight through."""

    def __init__(self, fleet: Fleet, transports: Mapping[str, Transport], clock: Callable[[], float]) -> None:
        self._fleet = fleet
        self._transports = transports
        self._one = Launcher(fleet, transports, clock)

    async def plan(self, act: ActKind, name: str, profile_name: str | None = None) -> Plan:
        """Look at all hosts and check; nothing is touched. Raises UsageError, Refused, TransportError."""
        server = self._fleet.server(name)
        if server is None or server.group is None:
            return await self._one.plan(act, name, profile_name)
        members = self._members(server)
        head = await self._rank_plan(act, members[0], profile_name)
        profile_name = head.new_profile if head else profile_name
        others = await asyncio.gather(*(self._rank_plan(act, member, profile_name) for member in members[1:]))
        plans = [plan for plan in (head, *others) if plan is not None]
        if not plans:
            raise NothingRuns(f"{server.group.name} runs on no host: there is nothing to stop")
        return _merged(server.group.name, plans, new_group_act(server.group.name, len(plans)))

    async def end_the_rest(self, name: str, why: str) -> Plan:
        """Stop what still runs of a group that has lost a rank; the journals tell why. Raises as `plan` and `perform`."""
        plan = await self.plan("stop", name)
        plan = replace(plan, nodes=tuple(replace(node, why=why) for node in plan.nodes))
        await self.perform(plan)
        return plan

    async def perform(self, plan: Plan) -> None:
        """Hand it to all hosts; returns once all have taken it and none has touched anything yet. Raises Refused, TransportError.

        What remains is to see it through (`group_steps.see_through`).
        """
        if not plan.nodes:
            await self._one.perform(plan)
            return
        if not plan.is_allowed:
            raise Refused(refusal(plan))
        taken: list[Server] = []
        for node in plan.nodes:
            try:
                await self._one.perform(
                    replace(node, drain_seconds=plan.drain_seconds, kill_after_seconds=plan.kill_after_seconds)
                )
            except SpecdeckError as error:
                await self._call_off(taken, node, error)
                raise
            taken += filter(None, (self._fleet.server(node.server),))

    async def _call_off(self, taken: Sequence[Server], node: Plan, error: SpecdeckError) -> None:
        """Those that wait with their lock held leave everything as it is; one that cannot be told leaves by itself."""
        told = (
            tell(self._transports[each.host], each, f"{node.group_act} no {node.host} did not take it: {error}")
            for each in taken
        )
        await asyncio.gather(*told, return_exceptions=True)

    def _members(self, server: Server) -> tuple[Server, ...]:
        """All ranks, the head first. Raises UsageError where the fleet that is shown has not all of them."""
        group = server.group
        assert group is not None  # noqa: S101 - the caller looked
        members = self._fleet.members(server)
        missing = [host for host in group.hosts if host not in {each.host for each in members}]
        if missing:
            raise UsageError(
                f"{group.name} needs {', '.join(missing)} too: start specdeck without narrowing it to some hosts"
            )
        return members

    async def _rank_plan(self, act: ActKind, member: Server, profile_name: str | None) -> Plan | None:
        """The plan of one rank; None: there is nothing to stop. What is wrong is said with its host."""
        assert member.group is not None  # noqa: S101 - only members come here
        place = f"{member.group.words} on {member.host}"
        try:
            return await self._one.plan(act, member.name, profile_name)
        except NothingRuns:
            return None
        except Refused as error:
            raise Refused(f"{place}: {error}") from error
        except TransportError as error:
            raise TransportError(f"{place}: {error}") from error


def _merged(name: str, plans: Sequence[Plan], group_act: str) -> Plan:
    """One plan of all: what is checked or told of one host says so."""
    first = plans[0]
    held = [plan.gpu_memory_mib for plan in plans if plan.gpu_memory_mib is not None]
    running = next((plan for plan in plans if plan.pid is not None), first)
    return replace(
        first,
        server=name,
        host=", ".join(plan.host for plan in plans),
        old_profile=first.old_profile or running.old_profile,
        pid=running.pid,
        start_time=running.start_time,
        family=tuple(member for plan in plans for member in plan.family),
        gpu_memory_mib=sum(held) if held else None,
        command="\n\n".join(f"# on {plan.host}\n{plan.command}" for plan in plans) if first.command else None,
        notes=tuple(f"{plan.host}: {note}" for plan in plans for note in plan.notes),
        checks=tuple(_of_host(plan.host, check) for plan in plans for check in plan.checks),
        watchers=tuple(dict.fromkeys(watcher for plan in plans for watcher in plan.watchers)),
        nodes=tuple(replace(plan, group_act=group_act) for plan in plans),
    )


def _of_host(host: str, check: Check) -> Check:
    return replace(check, name=f"{host}: {check.name}", detail=f"{host}: {check.detail}" if check.detail else "")

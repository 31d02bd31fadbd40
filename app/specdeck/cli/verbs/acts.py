"""`specdeck launch|stop|relaunch|pivot`: what the keys do, for scripts and for colleagues without a dashboard."""

import asyncio
import dataclasses
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from specdeck.cli.numbers import Number
from specdeck.cli.options import options_of
from specdeck.cli.output import plain, print_json, say
from specdeck.cli.server_words import SPELLINGS, Wanted, found_there, wanted
from specdeck.errors import ExitCode, Refused, UsageError
from specdeck.quick_dataclass import dataclass, replace

if TYPE_CHECKING:
    from specdeck.config.objects import Host, Server
    from specdeck.services.deck import Plan
    from specdeck.services.journal import Step
    from specdeck.state.snapshot import ActKind


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked on the command line."""

    act: "ActKind"
    server: str
    profile: str | None = None
    drain_seconds: float | None = None
    is_dry_run: bool = False
    is_agreed: bool = False
    as_json: bool = False


def _verb(act: "ActKind", describe: str) -> click.Command:
    """One verb; all four take what fits them."""
    params: list[click.Parameter] = [
        click.Argument(["server"]),
        click.Option(
            ["--dry-run", "is_dry_run"], is_flag=True, help="Print the plan and the exact command; touch nothing."
        ),
        click.Option(["--yes", "is_agreed"], is_flag=True, help="Do not ask."),
        click.Option(["--json", "as_json"], is_flag=True, help="The plan and each step as one JSON object a line."),
    ]
    if act != "stop":
        params.append(click.Option(["--profile"], metavar="P", help="The profile to start with."))
    if act != "launch":
        params.append(click.Option(["--drain", "drain_seconds"], type=Number(0), metavar="S", help="Seconds to drain."))
    return click.Command(act, params=params, callback=_callback(act), help=f"{describe}\n\nSERVER is {SPELLINGS}.")


def _callback(act: "ActKind") -> Callable[..., None]:
    @click.pass_context
    def run(ctx: click.Context, /, **asked: object) -> None:
        if options_of(ctx).is_read_only:
            raise Refused(f"specdeck is read-only here: no {act}")
        wish = Wish(act=act, **asked)  # type: ignore[arg-type]
        target = wanted(ctx, wish.server)
        _refuse_unknown(wish.profile, target)
        ctx.exit(asyncio.run(_act(target, wish)))

    return run


def _refuse_unknown(profile: str | None, asked: Wanted) -> None:
    """Before any host is asked; what else is in the way is said of profiles that exist."""
    from specdeck.config.problems import nearest

    if profile is not None and profile not in asked.fleet.profiles:
        raise UsageError(f"there is no profile {plain(profile)}{nearest(profile, asked.fleet.profiles)}")


async def _act(asked: Wanted, wish: Wish) -> int:
    from specdeck.cli.terminal import questions_here
    from specdeck.services.acting import act_on_all
    from specdeck.services.groups import GroupLauncher
    from specdeck.transport.connect import transport_for

    fleet = asked.fleet
    hosts = _find(asked)
    transports = {host.name: transport_for(host, questions_here(host.name)) for host in hosts}
    try:
        for transport in transports.values():
            await transport.connect()
        name = asked.name or ""
        if not asked.is_known:
            fleet, server = await found_there(transports[asked.host], asked)
            name = server.name
        launcher = GroupLauncher(fleet, transports, time.time)
        plan = await launcher.plan(wish.act, name, wish.profile)
        if wish.drain_seconds is not None:
            plan = replace(plan, drain_seconds=wish.drain_seconds)
        _show_plan(plan, wish)
        if not plan.is_allowed:
            return ExitCode.REFUSED
        if wish.is_dry_run:
            return ExitCode.FINE
        _agree(plan, wish)
        last: dict[str, Step] = {}
        async for member, step in act_on_all(launcher, transports, fleet, plan):
            last[member.name] = step
            _show_step(step, member, wish)
        is_done = bool(last) and all(step.name == "done" for step in last.values())
        return ExitCode.FINE if is_done else ExitCode.NOT_AS_ASKED
    finally:
        for transport in transports.values():
            await transport.close()


def _find(asked: Wanted) -> "list[Host]":
    """The hosts that the server needs, its own first."""
    fleet, server = asked.fleet, asked.fleet.server(asked.name or "")
    if not asked.is_known or server is None:
        return list(fleet.hosts)
    if server.is_rank and server.group is not None:
        raise UsageError(f"{server.name} is {server.group.words}: name the whole, {server.group.name}")
    return [host for member in fleet.members(server) for host in fleet.hosts if host.name == member.host]


def _agree(plan: "Plan", wish: Wish) -> None:
    """The question, unless it was answered beforehand; the default is no."""
    if wish.is_agreed:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"{plan.act} asks before it acts, and there is no terminal to ask: say --yes")
    victim = f" (ends pid {plan.pid})" if plan.pid else ""
    if not click.confirm(f"{plan.act} {plan.server} on {plan.host}{victim}?", default=False, err=True):
        raise Refused("nothing was done")


def _show_plan(plan: "Plan", wish: Wish) -> None:
    if wish.as_json:
        print_json({"event": "plan", **dataclasses.asdict(plan), "allowed": plan.is_allowed}, is_line=True)
        return
    for line in _plan_lines(plan):
        say(plain(line))
    if plan.command and wish.is_dry_run:
        click.echo(plan.command)


def _plan_lines(plan: "Plan") -> list[str]:
    """The plan in words."""
    arrow = f": {plan.old_profile or '-'} -> {plan.new_profile}" if plan.new_profile else ""
    lines = [f"{plan.act} {plan.server} on {plan.host}{arrow}"]
    if plan.pid:
        held = f", {plan.gpu_memory_mib} MiB of GPU memory" if plan.gpu_memory_mib is not None else ""
        lines.append(f"  ends pid {plan.pid} and {len(plan.family) - 1} of its family{held}")
    for change in plan.changes:
        lines.append(f"  {change.name}: {_shown(change.old)} -> {_shown(change.new)}")
    lines += [f"  {note}" for note in plan.notes]
    lines += [f"  also watching: {', '.join(plan.watchers)}"] if plan.watchers else []
    marks = {"passed": "ok", "failed": "FAILED", "unknown": "unknown"}
    lines += [
        f"  {marks[check.state]}: {check.name}{': ' if check.detail else ''}{check.detail}" for check in plan.checks
    ]
    return lines


def _shown(value: str | None) -> str:
    return "(absent)" if value is None else value or "(set)"


def _show_step(step: "Step", member: "Server", wish: Wish) -> None:
    if wish.as_json:
        told = {
            "event": "step",
            "at": step.at,
            "server": member.name,
            **({"host": member.host, "rank": member.group.rank} if member.group else {}),
            "act": step.act,
            "step": step.name,
            "detail": step.detail,
        }
        print_json(told, is_line=True)
    else:
        from specdeck.state.acts import spoken

        place = f"{member.host}: " if member.group else ""
        say(plain(f"{time.strftime('%H:%M:%S', time.localtime(step.at))} {place}{spoken(step.name, step.detail)}"))


launch = _verb("launch", "Start SERVER with a profile; refuses if it runs.")
stop = _verb("stop", "Stop SERVER: SIGTERM, drain, SIGKILL if need be, then wait for processes, port and GPU memory.")
relaunch = _verb("relaunch", "Stop SERVER and start it again with the same profile.")
pivot = _verb("pivot", "Stop SERVER and start it with the other profile of its pair, or with --profile.")

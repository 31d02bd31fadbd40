"""`specdeck end HOST PID`: end a worker that an engine left behind and that no server answers for, after a question."""

import asyncio
import sys
import time
from typing import TYPE_CHECKING

import click

from specdeck.cli.numbers import WholeNumber
from specdeck.cli.options import fleet_of, options_of
from specdeck.cli.output import plain, print_json, say
from specdeck.errors import ExitCode, Refused, UsageError

if TYPE_CHECKING:
    from specdeck.config.objects import Fleet
    from specdeck.services.deck import Plan


@click.command("end")
@click.argument("host")
@click.argument("pid", type=WholeNumber(2))
@click.option("--dry-run", "is_dry_run", is_flag=True, help="Say what would be ended; touch nothing.")
@click.option("--yes", "is_agreed", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="The plan and each step as one JSON object a line.")
@click.pass_context
def command(ctx: click.Context, host: str, pid: int, is_dry_run: bool, is_agreed: bool, as_json: bool) -> None:
    """End process PID of HOST: a worker of an engine whose server is gone.

    `specdeck status` lists them. SIGTERM, then SIGKILL after ten seconds; then its GPU memory is waited for.
    Anything else than such a worker is refused, and so is one that a unit, a container or a job looks after.
    """
    if options_of(ctx).is_read_only:
        raise Refused("specdeck is read-only here: no end")
    ctx.exit(asyncio.run(_end(fleet_of(ctx), host, pid, is_dry_run, is_agreed, as_json)))


async def _end(fleet: "Fleet", name: str, pid: int, is_dry_run: bool, is_agreed: bool, as_json: bool) -> int:
    from specdeck.cli.terminal import questions_here
    from specdeck.services.acting import act
    from specdeck.services.ender import Ender, for_question, place_of
    from specdeck.transport.connect import transport_for

    host = fleet.host(name)
    if host is None:
        names = ", ".join(each.name for each in fleet.hosts) or "none"
        raise UsageError(f"there is no host {plain(name)}; the fleet has: {names}")
    transport = transport_for(host, questions_here(host.name))
    await transport.connect()
    try:
        ender = Ender(fleet, {name: transport}, time.time)
        plan = await ender.plan(name, pid)
        _show_plan(plan, as_json=as_json)
        if not plan.is_allowed:
            return ExitCode.REFUSED
        if is_dry_run:
            return ExitCode.FINE
        _agree(for_question(plan), is_agreed=is_agreed)
        last = None
        async for last in act(ender, transport, place_of(name), plan):
            if as_json:
                print_json(
                    {"event": "step", "at": last.at, "act": "end", "step": last.name, "detail": last.detail},
                    is_line=True,
                )
            else:
                from specdeck.state.acts import spoken

                say(plain(f"{time.strftime('%H:%M:%S', time.localtime(last.at))} {spoken(last.name, last.detail)}"))
        return ExitCode.FINE if last and last.name == "done" else ExitCode.NOT_AS_ASKED
    finally:
        await transport.close()


def _show_plan(plan: "Plan", *, as_json: bool) -> None:
    import dataclasses

    if as_json:
        print_json({"event": "plan", **dataclasses.asdict(plan), "allowed": plan.is_allowed}, is_line=True)
        return
    held = f", {plan.gpu_memory_mib:,} MiB of GPU memory" if plan.gpu_memory_mib is not None else ""
    say(plain(f"end {plan.server} on {plan.host}{held}: {'; '.join(plan.notes)}"))
    for check in plan.checks:
        if check.state == "failed":
            say(plain(f"  FAILED: {check.name}: {check.detail}"))


def _agree(question: str, *, is_agreed: bool) -> None:
    """The question, unless it was answered beforehand; the default is no."""
    if is_agreed:
        return
    if not sys.stdin.isatty():
        raise UsageError("end asks before it acts, and there is no terminal to ask: say --yes")
    if not click.confirm(plain(question), default=False, err=True):
        raise Refused("nothing was done")

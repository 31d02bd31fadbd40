"""`specdeck check --connect`: all hosts at once, one line a step, in the order of the fleet."""

from dataclasses import field
from typing import TYPE_CHECKING

import click

from specdeck.cli.output import plain
from specdeck.errors import ExitCode
from specdeck.quick_dataclass import dataclass

if TYPE_CHECKING:
    from specdeck.config.objects import Fleet, Host
    from specdeck.services.deck import Check

MARKS = {"passed": "ok", "failed": "FAILED", "unknown": "note"}
UNREACHED = ("resolve", "connect", "host key", "login")


@dataclass(slots=True)
class Walked:
    """A host and its steps."""

    host: "Host"
    checks: "list[Check]" = field(default_factory=list)

    @property
    def exit_code(self) -> ExitCode:
        """Unreachable where no login was possible."""
        failed = [check.name for check in self.checks if check.state == "failed"]
        if any(name in UNREACHED for name in failed):
            return ExitCode.UNREACHABLE
        return ExitCode.NOT_AS_ASKED if failed else ExitCode.FINE


def walk_all(fleet: "Fleet") -> list[Walked]:
    """Every host through every step; a slow one holds nobody up."""
    import asyncio

    from specdeck.cli.terminal import questions_for

    questions = questions_for(host.name for host in fleet.hosts)

    async def all_at_once() -> list[Walked]:
        return await asyncio.gather(*(_walk(host, questions.get(host.name)) for host in fleet.hosts))

    return asyncio.run(all_at_once())


async def _walk(host: "Host", questions: object) -> Walked:
    from specdeck.services.connect_check import check_host
    from specdeck.transport.connect import transport_for

    walked = Walked(host)
    transport = transport_for(host, questions)  # type: ignore[arg-type]
    try:
        async for check in check_host(host, transport):
            walked.checks.append(check)
    finally:
        await transport.close()
    return walked


def print_lines(walked: list[Walked]) -> None:
    """`lab  login  FAILED  ...`."""
    names = max((len(each.host.name) for each in walked), default=0)
    steps = max((len(check.name) for each in walked for check in each.checks), default=0)
    for each in walked:
        for check in each.checks:
            line = f"{each.host.name:{names}}  {check.name:{steps}}  {MARKS[check.state]:6}  {check.detail}"
            click.echo(plain(line.rstrip()))


def as_json(walked: list[Walked]) -> list[dict[str, object]]:
    """For the object that `check --json` prints."""
    return [
        {
            "name": each.host.name,
            "ssh": each.host.ssh,
            "steps": [{"name": check.name, "state": check.state, "detail": check.detail} for check in each.checks],
        }
        for each in walked
    ]


def worst(walked: list[Walked]) -> ExitCode:
    """3 before 1 before 0."""
    return max((each.exit_code for each in walked), default=ExitCode.FINE)

"""The journal of an act as its script on the host writes it: `UNIX_SECONDS<TAB>KIND<TAB>STEP<TAB>DETAIL`, one line a step."""

from collections.abc import Iterable, Iterator

from specdeck.config.objects import Server
from specdeck.quick_dataclass import dataclass
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text

LAST_STEPS = ("done", "failed", "blocked")


@dataclass(frozen=True, slots=True)
class Step:
    """One line of it; times by the host's clock."""

    at: float
    act: str
    name: str
    detail: str

    @property
    def is_last(self) -> bool:
        """The act is over."""
        return self.name in LAST_STEPS


@dataclass(frozen=True, slots=True)
class Journal:
    """The newest act of a server; no steps: there never was one."""

    steps: tuple[Step, ...] = ()
    is_actor_alive: bool = False

    @property
    def broken_off(self) -> Step | None:
        """The last step of an act whose script on the host is gone without a last word."""
        last = self.steps[-1] if self.steps else None
        return last if last and not last.is_last and not self.is_actor_alive else None


async def read_journal(transport: Transport, server: Server) -> Journal:
    """As it is now; costs the host next to nothing. Raises TransportError."""
    text = "\n".join(map(script_text, ("proc", "steps")))
    outcome = await transport.run(Script(text, (server.name,)), limit_seconds=30)
    return parse_journal(tagged(outcome.stdout))


async def await_step(transport: Transport, server: Server, told: int) -> Journal:
    """The same once there are more steps than were told, or its actor is gone, or a second has passed. Raises TransportError."""
    text = "\n".join(map(script_text, ("proc", "await_step", "steps")))
    outcome = await transport.run(Script(text, (server.name, str(told))), limit_seconds=30)
    return parse_journal(tagged(outcome.stdout))


def parse_journal(lines: Iterable[tuple[str, str]]) -> Journal:
    """steps.sh's lines `act ...` and `actor ...`; others are not looked at."""
    steps: list[Step] = []
    is_actor_alive = False
    for tag, rest in lines:
        if tag == "act":
            steps += read_step(rest)
        elif tag == "actor":
            is_actor_alive = rest == "alive"
    return Journal(tuple(steps), is_actor_alive)


def read_step(line: str) -> list[Step]:
    """One line of a journal; nothing if it is half written."""
    words = line.split("\t", 3)
    if len(words) < 4 or not words[0].isdigit():
        return []
    return [Step(float(words[0]), words[1], words[2], words[3])]


def tagged(answer: bytes) -> Iterator[tuple[str, str]]:
    """The lines `TAG REST` of a script's answer."""
    for line in answer.decode("utf-8", "replace").split("\n"):
        tag, _, rest = line.partition(" ")
        if tag:
            yield tag, rest

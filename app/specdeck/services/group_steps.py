"""Sees the act of a group through: reads the journals of all ranks and gives each actor the words that it waits for."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence

from specdeck.config.objects import Server
from specdeck.errors import TransportError
from specdeck.quick_dataclass import dataclass
from specdeck.services.journal import Journal, Step, read_journal
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text

LOOK_EVERY_SECONDS = 0.4
AWAY_SECONDS = 60.0
"""So long a host may not answer in the middle of an act."""
WAITING_STEPS = ("locked", "free")


@dataclass(frozen=True, slots=True)
class RankStep:
    """A step of one rank."""

    server: Server
    step: Step


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the actor of a rank is in one common act."""

    rank: int
    host: str
    steps: tuple[str, ...] = ()
    """Of this act; none: its actor has no part in it, or was not asked yet."""
    is_over: bool = False
    is_failed: bool = False
    why: str = ""

    @property
    def waits(self) -> str | None:
        """The step at which it waits for a word."""
        return self.steps[-1] if self.steps and self.steps[-1] in WAITING_STEPS else None


def new_group_act(name: str, ranks: int) -> str:
    """A name for a common act of so many ranks, so that nobody who watches takes some of them for all."""
    return f"{name}-{secrets.token_hex(8)}-{ranks}"


def words_to_give(everyone: Sequence[Progress], ranks: int) -> dict[int, str]:
    """By rank, the word for each that may go on, of so many `ranks`. Pure: the same whoever asks and however often.

    `begin` when all hold their locks; `launch` one after the other when all are free; `no` to all that wait when one has failed.
    """
    everyone = [each for each in everyone if each.steps]
    failed = next((each for each in everyone if each.is_failed), None)
    if failed is not None:
        words = f"no rank {failed.rank} on {failed.host}: {failed.why}"
        return {each.rank: words for each in everyone if each.waits}
    if len(everyone) < ranks:
        return {}
    begins = {each.rank: "begin" for each in everyone if each.waits == "locked"}
    if begins or not all("free" in each.steps for each in everyone):
        return begins
    unlaunched = [each for each in everyone if "launched" not in each.steps]
    first = min(unlaunched, key=lambda each: each.rank, default=None)
    return {first.rank: "launch"} if first is not None and first.waits == "free" else {}


async def see_through(
    transports: Mapping[str, Transport], members: Sequence[Server], group_act: str
) -> AsyncIterator[RankStep]:
    """The steps of all ranks that have a part in it as they come, until these have ended.

    Raises TransportError where a host stays away. It gives the words on the way; it may be cancelled, and begun again by anybody.
    """
    told, ranks = [0] * len(members), int(group_act.rpartition("-")[2])
    loop = asyncio.get_running_loop()
    heard_at = loop.time()
    while True:
        seen = await asyncio.gather(*(_look(transports, member) for member in members))
        for number, (member, each) in enumerate(zip(members, seen, strict=True)):
            steps = _steps(each, group_act)
            for step in steps[told[number] :]:
                yield RankStep(member, step)
            told[number] = max(told[number], len(steps))
        everyone = [_progress(member, each, group_act) for member, each in zip(members, seen, strict=True)]
        asked = [each for each in everyone if each.steps]
        if asked and all(each.is_over for each in asked):
            return
        away = [member.host for member, each in zip(members, seen, strict=True) if each is None]
        if not away:
            heard_at = loop.time()
            await _give(transports, members, words_to_give(everyone, ranks), group_act)
        elif loop.time() - heard_at > AWAY_SECONDS:
            raise TransportError(f"{', '.join(away)} did not answer for {AWAY_SECONDS:g} s in the middle of it")
        await asyncio.sleep(LOOK_EVERY_SECONDS)


async def tell(transport: Transport, server: Server, words: str) -> None:
    """One line for the actor of a rank. Raises TransportError."""
    line = " ".join(words.split())
    outcome = await transport.run(Script(script_text("go"), (server.name, line), is_urgent=True), limit_seconds=30)
    if outcome.exit_status != 0:
        raise TransportError(f"{server.host} did not take the word for {server.name}")


async def _give(
    transports: Mapping[str, Transport], members: Sequence[Server], words: Mapping[int, str], group_act: str
) -> None:
    """One that cannot be told now is told at the next turn."""
    told = (
        tell(transports[each.host], each, f"{group_act} {words[_rank(each)]}")
        for each in members
        if _rank(each) in words
    )
    await asyncio.gather(*told, return_exceptions=True)


async def _look(transports: Mapping[str, Transport], member: Server) -> Journal | None:
    try:
        return await read_journal(transports[member.host], member)
    except TransportError:
        return None


def _steps(journal: Journal | None, group_act: str) -> tuple[Step, ...]:
    """Its steps, if it is of this act."""
    steps = journal.steps if journal is not None else ()
    is_mine = any(step.name == "locked" and step.detail.split(" ")[0] == group_act for step in steps)
    return steps if is_mine else ()


def _progress(member: Server, journal: Journal | None, group_act: str) -> Progress:
    steps = _steps(journal, group_act)
    if journal is None or not steps:
        return Progress(_rank(member), member.host)
    last, is_broken_off = steps[-1], journal.broken_off is not None
    return Progress(
        rank=_rank(member),
        host=member.host,
        steps=tuple(step.name for step in steps),
        is_over=last.is_last or is_broken_off,
        is_failed=is_broken_off or (last.is_last and last.name != "done"),
        why=f"broke off after `{last.name}`" if is_broken_off else last.detail,
    )


def _rank(member: Server) -> int:
    return member.group.rank if member.group else 0

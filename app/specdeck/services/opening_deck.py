"""A deck that is there at once: what watches the hosts is imported and started behind the first frame of the dashboard."""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from specdeck.config.objects import Fleet
from specdeck.config.settings import AlertSettings
from specdeck.parsing.lines import Line
from specdeck.services.deck import Deck, Plan
from specdeck.services.store import Store
from specdeck.state.diagnosis import Diagnosis
from specdeck.state.initial import initial_state
from specdeck.state.snapshot import ActKind, FleetState, Question

if TYPE_CHECKING:
    from specdeck.engines.recovery import Recovered
    from specdeck.services.log_older import OlderLines
    from specdeck.state.events import Event

SLOW_IMPORTS = (
    "httpx",
    "specdeck.transport.local",
    "specdeck.engines.registry",
    "asyncssh.public_key",
    "asyncssh",
    "specdeck.transport.ssh",
    "specdeck.services.launcher",
    "specdeck.services.open_deck",
)
"""In pieces, so that keys are answered in between."""


class OpeningDeck:
    """Implements `deck.Deck`: shows the fleet as its file names it until `keep_open` runs, then passes everything on."""

    def __init__(
        self,
        fleet: Fleet,
        *,
        is_read_only: bool = False,
        clock: Callable[[], float] = time.time,
        record: Path | None = None,
        alerts: AlertSettings | None = None,
    ) -> None:
        self.store = Store(initial_state(fleet, clock()), _reduced, clock)
        self.is_read_only = is_read_only
        self._fleet = fleet
        self._clock = clock
        self._alerts = alerts
        self._record = record
        """A file that everything which the hosts give is written into."""
        self._in_sight: str | None = None
        self._deck: Deck | None = None
        self.opened = asyncio.Event()
        """The monitors run."""

    async def keep_open(self) -> None:
        """Start all monitors and watch until it is cancelled."""
        for name in SLOW_IMPORTS:
            import_module(name)
            await asyncio.sleep(0)
        from specdeck.services.line_file import keep_line
        from specdeck.services.open_deck import open_deck
        from specdeck.services.recordings import recorded
        from specdeck.services.supervised import supervised
        from specdeck.state.events import Noted

        def told(words: str) -> None:
            self.store.apply(Noted("specdeck", words, "error"))

        with recorded(self._record, self._fleet, self._clock, told=told) as transport_of:
            async with open_deck(
                self._fleet,
                read_only=self.is_read_only,
                announced=True,
                clock=self._clock,
                transport_of=transport_of,
                store=self.store,
                ask="screen",
                alerts=self._alerts,
            ) as deck:
                self._deck = deck
                deck.look_at(self._in_sight)
                self.opened.set()
                await supervised("status line", partial(keep_line, self.store, self._fleet), self.store.apply)

    @property
    def fleet(self) -> Fleet:
        """With the servers that were found since."""
        return self._fleet if self._deck is None else self._deck.fleet

    @property
    def strangers(self) -> "Sequence[Recovered]":
        """Nothing is found before it is open."""
        return () if self._deck is None else self._deck.strangers

    async def take(self, fleet: Fleet) -> None:
        """Watch what the fleet file says now."""
        await (await self._open()).take(fleet)

    def look_at(self, server: str | None) -> None:
        """Follow this server's log closely."""
        self._in_sight = server
        if self._deck is not None:
            self._deck.look_at(server)

    def log_lines(self, server: str, after: int) -> Sequence[Line]:
        """Nothing is read before it is open."""
        return () if self._deck is None else self._deck.log_lines(server, after)

    async def older_lines(self, server: str, before: Line) -> "OlderLines":
        """Read on the server's host."""
        return await (await self._open()).older_lines(server, before)

    async def refresh(self) -> None:
        """Look again, now."""
        await (await self._open()).refresh()

    def answer(self, question: Question, answer: str | None) -> None:
        """The user's answer to the question of a login."""
        if self._deck is not None:
            self._deck.answer(question, answer)

    async def diagnose(self, server: str) -> Diagnosis:
        """Why it is as it is."""
        return await (await self._open()).diagnose(server)

    async def plan(self, act: ActKind, server: str, profile: str | None = None) -> Plan:
        """Look and check; nothing is touched."""
        return await (await self._open()).plan(act, server, profile)

    async def perform(self, plan: Plan) -> None:
        """Ask the host to do what the plan says."""
        await (await self._open()).perform(plan)

    async def _open(self) -> Deck:
        await self.opened.wait()
        assert self._deck is not None  # noqa: S101 - it was set before
        return self._deck


def _reduced(state: FleetState, event: "Event", at: float) -> FleetState:
    from specdeck.state.reduce import reduce  # with all rules of all events: behind the first frame

    return reduce(state, event, at)

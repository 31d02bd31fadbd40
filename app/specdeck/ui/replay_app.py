"""The dashboard on a recording: the same, with keys that stop its time and go ahead or back in it."""

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import ClassVar

from textual.app import SystemCommand
from textual.binding import BindingType
from textual.screen import Screen

from specdeck.config.settings import AlertSettings, Settings
from specdeck.quick_dataclass import replace
from specdeck.services.replaying_deck import ReplayingDeck
from specdeck.ui.app import SpecdeckApp
from specdeck.ui.commands import bindings_for
from specdeck.ui.drawing.words import span_clock
from specdeck.ui.screens.deck_screen import DeckScreen

JUMPS_SECONDS = (-300.0, -30.0, 30.0, 300.0)
END_SECONDS = 2.0
"""Time stands still so long after the last bytes: what comes then would only be old."""


class ReplayApp(SpecdeckApp):
    """Read-only: there is no host behind it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("replay")

    def __init__(
        self,
        deck: ReplayingDeck,
        *,
        theme: str | None = None,
        settings: Settings | None = None,
        problems: Sequence[str] = (),
        begin_at: float | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        past = replace(settings or Settings(), alerts=AlertSettings(kinds=()))  # what rang then rings no more
        super().__init__(deck, theme=theme, settings=past, problems=problems, clock=deck.now, monotonic=monotonic)
        self._replay = deck
        self._wanted = deck.recording.began if begin_at is None else begin_at
        """The moment that was asked for last."""
        self.is_going = False
        """On the way to another moment: nothing is drawn."""

    def on_mount(self) -> None:
        """Begin where it was asked for; that of the dashboard is called too."""
        self._go_to(self._wanted)

    def tick(self) -> None:
        """Not while the recording is read up to another moment; at its end time stands still."""
        if self.is_going:
            return
        if not self._replay.is_paused and self.now >= self._replay.recording.ended + END_SECONDS:
            self._replay.pause(is_paused=True)
        self._say_place()
        super().tick()

    @property
    def place(self) -> str:
        """`replay 1:23 of 4:08, paused`."""
        recording = self._replay.recording
        length = recording.ended - recording.began
        passed = min(max(self.now - recording.began, 0.0), length)
        mark = ", end" if self.now >= recording.ended else ", paused" if self._replay.is_paused else ""
        return f"replay {span_clock(passed)} of {span_clock(length)}{mark}"

    def _say_place(self, words: str | None = None) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, DeckScreen):
                screen.replay = words or self.place

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The recording's own first."""
        words = "go on" if self._replay.is_paused else "pause"
        yield SystemCommand(f"Replay: {words}", "Time of the recording stands still", self.action_pause)
        for seconds in JUMPS_SECONDS:
            way = f"{abs(seconds):.0f} s {'back' if seconds < 0 else 'ahead'}"
            yield SystemCommand(
                f"Replay: {way}", "The core is fed up to that moment", partial(self.action_seek, seconds)
            )
        yield SystemCommand("Replay: begin anew", "From the first second", self.action_begin_anew)
        yield from super().get_system_commands(screen)

    def action_pause(self) -> None:
        """Time of the recording stands still, or goes on."""
        self._replay.pause(is_paused=not self._replay.is_paused)
        self.tick()

    def action_seek(self, seconds: float) -> None:
        """Go ahead or back."""
        self._go_to((self._wanted if self.is_going else self.now) + seconds)

    def action_begin_anew(self) -> None:
        """From the first second."""
        self._go_to(self._replay.recording.began)

    def _go_to(self, at: float) -> None:
        self._wanted = at
        if not self.is_going:
            self._say_place(f"replay: reading up to {span_clock(max(at - self._replay.recording.began, 0.0))}")
            super().tick()
            self.is_going = True
            self.run_worker(self._go(), name="seek", group="seek", exit_on_error=False)

    async def _go(self) -> None:
        """To the moment that was asked for last, also if that was while it was on its way."""
        try:
            reached: float | None = None
            while reached != self._wanted:
                reached = self._wanted
                await self._replay.go_to(reached)
        finally:
            self.is_going = False
        for screen in self.screen_stack:
            if isinstance(screen, DeckScreen):
                screen.log_pane.tail.clear()
        self.fleet = self._replay.store.state
        self.tick()

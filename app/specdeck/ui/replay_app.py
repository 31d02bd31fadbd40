"""The dashboard on a recording: the same, and in its palette the recording's own pause, jumps and a new begin."""

from collections.abc import Iterable
from functools import partial

from textual.app import SystemCommand
from textual.screen import Screen

from specdeck.services.deck import Deck
from specdeck.services.recordings import Pace
from specdeck.ui.app import SpecdeckApp

JUMPS_SECONDS = (30.0, 300.0)


class ReplayApp(SpecdeckApp):
    """Read-only: there is no host behind it."""

    def __init__(self, deck: Deck, *, clock: Pace, theme: str | None = None) -> None:
        super().__init__(deck, theme=theme, clock=clock.now)
        self.begins_anew = False
        """Whether it was left to begin again."""
        self._replay = clock

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The recording's own first."""
        words = "go on" if self._replay.is_paused else "pause"
        yield SystemCommand(f"Replay: {words}", "Time of the recording stands still", self.action_pause_replay)
        for seconds in JUMPS_SECONDS:
            yield SystemCommand(
                f"Replay: {seconds:.0f} s ahead",
                "What lies between is read at once",
                partial(self._replay.seek, seconds),
            )
        yield SystemCommand("Replay: begin anew", "From the first second", self.action_begin_anew)
        yield from super().get_system_commands(screen)

    def action_pause_replay(self) -> None:
        """Stand still, or go on."""
        self._replay.pause(is_paused=not self._replay.is_paused)

    def action_begin_anew(self) -> None:
        """Leave, for whoever opened it to open it again."""
        self.begins_anew = True
        self.exit()

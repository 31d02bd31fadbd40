"""`python -m tests.ui.monkeyed FOLDER`: a dashboard whose states change, for a monkey; ends with 3 if something is done unasked."""

import asyncio
import contextlib
import itertools
import sys
from dataclasses import replace
from pathlib import Path

from tests.pictures.scenes import serving_log, starting_log
from tests.ui import fleets
from tests.ui.fake_deck import FakeDeck, configured, lines
from tests.ui.states import STATES

from specdeck.services.deck import Plan
from specdeck.state.snapshot import ActKind, Happening
from specdeck.ui.app import SpecdeckApp
from specdeck.ui.screens.sheet import ActSheet

CHANGE_SECONDS = 0.2
UNASKED = 3
NASTY = (
    (Path(__file__).parents[1] / "cases" / "B55_log_text_as_markup" / "nasty_lines.txt").read_text("utf-8").split("\n")
)


class Watched(FakeDeck):
    """Knows whether a sheet was there when it was asked to act."""

    app: SpecdeckApp
    unasked = 0

    async def plan(self, act: ActKind, server: str, profile: str | None = None) -> Plan:
        """For a sheet, or unasked."""
        self.unasked += not any(isinstance(screen, ActSheet) for screen in self.app.screen_stack)
        return await super().plan(act, server, profile)

    async def perform(self, plan: Plan) -> None:
        """Only what a sheet showed."""
        self.unasked += not any(plan.server == server and plan.act == act for act, server, _ in self.asked)


async def live(deck: Watched) -> None:
    """All states in turn, with hostile words of the host, and logs that grow."""
    for turn in itertools.count():
        name = list(STATES)[turn // 5 % len(STATES)]
        text = NASTY[turn % len(NASTY)]
        state = STATES[name]
        deck.publish(replace(state, happenings=(*state.happenings, Happening(fleets.NOW, text, text, "error"))))
        for log in deck.logs.values():
            log.extend(lines([text, f"[{turn}] Decode batch, error {text}"], start=len(log) + 1))
        await asyncio.sleep(CHANGE_SECONDS)


async def main(folder: Path) -> int:
    """Until it is left."""
    path = folder / "fleet.yaml"
    deck = Watched(STATES["starting"])
    deck.fleet = replace(configured(), source=path)
    deck.logs = {"kimi": lines(starting_log()), "qwen": lines(serving_log())}
    deck.app = SpecdeckApp(deck, clock=deck.clock)
    living = asyncio.create_task(live(deck))
    await deck.app.run_async()
    living.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await living
    return UNASKED if deck.unasked else deck.app.return_code or 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Path(sys.argv[1]))))

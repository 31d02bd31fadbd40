"""From a wish to an act: the picker of profiles, the sheet that asks, and then the act. Nothing is done that no sheet has shown."""

from typing import TYPE_CHECKING

from specdeck.errors import SpecdeckError
from specdeck.services.deck import Plan
from specdeck.state.snapshot import ActKind, ServerState
from specdeck.ui.screens.sheet import ActSheet

if TYPE_CHECKING:
    from specdeck.ui.app import SpecdeckApp


class Acting:
    """Of one dashboard."""

    def __init__(self, app: "SpecdeckApp") -> None:
        self._app = app

    def pick_profile(self, state: ServerState) -> None:
        """Which profile shall it have; then the sheet."""
        from specdeck.ui.screens.picker import ProfilePicker

        fleet = self._app.deck.fleet
        mine = [fleet.profiles[name] for name in state.configured_profiles if name in fleet.profiles]
        rest = [each for each in fleet.profiles.values() if each.engine == state.engine and each not in mine]
        if not (mine or rest):
            self._app.say(f"no launch profile for {state.engine or 'this engine'}", severity="warning")
            return

        def picked(profile: str | None) -> None:
            if profile is not None and not self._app.pace.is_burst:
                self.ask("pivot" if _is_up(state) else "launch", state.name, profile)

        configured = fleet.server(state.name)
        picker = ProfilePicker(state, [*mine, *rest], configured=configured, known=fleet.profiles)
        self._app.push_screen(picker, picked)

    def ask(self, act: ActKind, server: str, profile: str | None) -> None:
        """Show what the act would do; a key that came before the sheet was there cancels it."""
        deck, pace = self._app.deck, self._app.pace
        configured = deck.fleet.server(server)
        sheet = ActSheet(
            lambda: deck.plan(act, server, profile),
            act=act,
            server=server,
            model=configured.model if configured is not None else "not known",
            clock=self._app.stopwatch,
            seen=lambda: deck.store.state.server(server),
        )
        keys = pace.keys

        def came_late() -> None:
            if pace.keys != keys:
                sheet.cancel()

        self._app.push_screen(sheet, self._decided)
        sheet.call_after_refresh(came_late)

    def _decided(self, plan: Plan | None) -> None:
        if plan is not None:
            self._app.run_worker(
                self._perform(plan), name=f"{plan.act} {plan.server}", group="act", exclusive=False, exit_on_error=False
            )

    async def _perform(self, plan: Plan) -> None:
        try:
            await self._app.deck.perform(plan)
        except SpecdeckError as error:
            self._app.faults.tell(plan.server, f"{plan.act} not done: {error}")


def _is_up(state: ServerState) -> bool:
    """So that another profile means a pivot."""
    return state.evidence.process.state == "alive" or (state.run is not None and state.word.value != "stopped")

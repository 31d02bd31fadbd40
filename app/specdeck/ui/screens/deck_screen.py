"""What overview and server view share: the view that panes bind to, and the acting keys for the chosen server."""

from typing import ClassVar

from textual import events, on
from textual.reactive import Reactive, var
from textual.screen import Screen
from textual.widget import Widget

from specdeck.services.deck import Deck
from specdeck.state.snapshot import ActKind, FleetState, ServerState, Word
from specdeck.state.witnesses import shown_word
from specdeck.ui.arrangement import Arrangement
from specdeck.ui.drawing.spans import clean
from specdeck.ui.drawing.state_words import TROUBLED, running_act
from specdeck.ui.key_pace import KeyPace
from specdeck.ui.messages import ActWanted, LookChanged, ProfileWanted, ServerChosen
from specdeck.ui.pane_choice import PaneChoice
from specdeck.ui.panes.log import LogPane
from specdeck.ui.panes.size import LEAST_HEIGHT, LEAST_WIDTH
from specdeck.ui.view import View, is_bare_host
from specdeck.ui.widgets.key_line import KeyLine

ACTING = ("act(", "pick_profile")
"""How actions begin that act on a server."""
RUNS = (Word.STARTING, Word.READY, Word.UNHEALTHY, Word.STALLED)


class DeckScreen(Screen[None]):
    """A screen over the fleet."""

    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (LEAST_WIDTH, "-narrow"), (100, "-wide")]  # noqa: RUF012 - as textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (LEAST_HEIGHT, "-short"), (30, "-tall")]  # noqa: RUF012
    focused = Reactive[Widget | None](None, repaint=False)
    """As textual has it, but a focus that moves does not repaint the whole screen."""
    view: var[View | None] = var(None, init=False)
    chosen: var[str | None] = var(None, init=False)
    wanted: var[str] = var("", init=False)

    PANES: ClassVar[tuple[str, ...]] = ()
    """Those that can be zoomed and hidden, in the order of Tab."""
    KEPT: ClassVar[tuple[str, ...]] = ()
    """Of these, those that can not be hidden; the first is meant where no pane has the focus."""
    IS_CALM: ClassVar[bool] = False
    """New figures are drawn with the second hand; another word of a server, and what a key does, as the pump brings them."""
    LOG_SECONDS: ClassVar[float] = 0.0
    """The log is drawn no more often than this."""

    def __init__(
        self, deck: Deck, pace: KeyPace, fleet_name: str = "", *, arrangement: Arrangement | None = None
    ) -> None:
        super().__init__()
        self.arrangement = arrangement or Arrangement()
        hidden = self.arrangement.hidden.setdefault(type(self).__name__, set())
        self.panes = PaneChoice(self, self.PANES, hidden)
        self.key_line = KeyLine()
        self.log_pane = LogPane(deck, draw_every_seconds=self.LOG_SECONDS, id="log")
        self.deck = deck
        self.pace = pace
        self.fleet_name = fleet_name
        self.replay = ""
        """The place in a recording; empty: live."""
        self._possible: tuple[object, ...] = ()
        self._has_frames = False

    def on_compose(self) -> None:
        """The form for this size, before the panes are styled: textual sets it after the first layout, and styles all again."""
        size, forms = self.app.size, (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS)
        self.add_class(*(_form(length, of) for length, of in zip(size, forms, strict=True)))

    def _on_timer_update(self) -> None:
        """The time of a frame: where all is laid out anew, the layout paints all, and textual would paint it a second time."""
        self._has_frames = True
        if self._layout_required and self._repaint_required:
            self._dirty_widgets.add(self)
            self._repaint_required = False
        super()._on_timer_update()

    def _compositor_refresh(self) -> None:
        """Not at the layouts before the first frame: the panes hear their sizes by them and have nothing to show yet."""
        if self._has_frames:
            super()._compositor_refresh()

    def on_mount(self) -> None:
        """What was hidden in the screen before stays so."""
        if not self.panes.is_plain:
            self.panes.apply()

    def on_resize(self) -> None:
        """In a very small terminal nothing is shown alone."""
        if self.panes.is_suspended != self.is_too_small:
            self.panes.is_suspended = self.is_too_small
            if not self.panes.is_plain:
                self.panes.apply()

    def look(self, fleet: FleetState, now: float, paused_at: float | None) -> None:
        """Draw this state; bindings are refreshed only where what can be done changed."""
        self.view = View(
            fleet=fleet,
            now=now,
            server_name=None if is_bare_host(self.chosen) else self.chosen,
            host_name=self.chosen[1:] if self.chosen is not None and is_bare_host(self.chosen) else None,
            wanted=self.wanted,
            is_read_only=self.deck.is_read_only,
            paused_at=paused_at,
            fleet_name=self.fleet_name,
            replay=self.replay,
            order=self.arrangement.names(fleet, now, keys=self.pace.keys),
            is_worst_first=self.arrangement.is_worst_first,
        )
        instead = self.instead()
        possible = (
            self.is_too_small,
            *instead.items(),
            *(self.can(act, self.server) for act in ("pivot", "relaunch", "stop", "launch")),
        )
        if possible != self._possible:
            self._possible = possible
            self.key_line.instead = instead
            self.refresh_bindings()

    def instead(self) -> dict[str, str]:
        """What has the place of another key in the bottom line: where something is wrong, the key that tells why."""
        is_wrong = self.server is not None and self.server.word in TROUBLED
        return {"zoom": "cause"} if is_wrong else {}

    @on(events.ScreenResume)
    def _on_first_resume(self, event: events.ScreenResume) -> None:
        """What was just made has its styles."""
        event.refresh_styles = self._has_frames

    def on_screen_resume(self) -> None:
        """In sight: it may have missed something."""
        self.post_message(LookChanged())

    @property
    def is_too_small(self) -> bool:
        """Nothing can be read but the size that is needed: nobody acts on what he cannot see."""
        return self.size.width < LEAST_WIDTH or self.size.height < LEAST_HEIGHT

    @property
    def server(self) -> ServerState | None:
        """The server that acting keys mean."""
        return self.view.server if self.view is not None else None

    def watch_chosen(self) -> None:
        """Another server: keys may do other things, and the log another one."""
        self.post_message(LookChanged())

    def watch_wanted(self) -> None:
        """Another filter."""
        self.post_message(LookChanged())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Acting keys are hidden when read-only and dimmed when they cannot be done now."""
        if action == "act":
            return self.can(str(parameters[0]), self.server)
        if action == "pick_profile":
            return self.can("pivot", self.server)
        return True

    def can(self, act: str, server: ServerState | None) -> bool | None:
        """True: now; None: not now; False: not at all."""
        if self.deck.is_read_only:
            return False
        if self.is_too_small:
            return None
        is_up = server is not None and (server.word in RUNS or server.evidence.process.state == "alive")
        has_left_some = server is not None and bool(
            server.evidence.process.family
        )  # a stop ends what a dead server left
        if (act == "launch" and is_up) or (act == "stop" and not is_up and not has_left_some):
            return False
        if server is None or running_act(server) is not None:
            return None
        if server.word in (Word.UNKNOWN, Word.UNREACHABLE, Word.STOPPING):
            return None
        if act == "pivot" and other_profile(server) is None and not server.configured_profiles:
            return None
        return True

    def say_why_not(self, action: str) -> None:
        """An acting key that did nothing because somebody acts already."""
        server = self.server
        act = running_act(server) if server is not None else None
        if server is None or act is None or self.deck.is_read_only or self.is_too_small:
            return
        if not action.removeprefix("screen.").startswith(ACTING):
            return
        by = f" by {act.who}" if act.who else ""
        self.notify(clean(f"{act.kind}{by} is under way: one act at a time"), title=clean(server.name), markup=False)

    def action_zoom(self) -> None:
        """Show the focused pane alone, or all again."""
        self.panes.zoom(None if self.panes.zoomed else self.panes.focused or self.KEPT[0])
        self.post_message(LookChanged())

    def action_hide(self) -> None:
        """Take the focused pane out of sight."""
        pane = self.panes.zoomed or self.panes.focused
        if pane is None or pane in self.KEPT:
            self.notify("Tab goes to a pane; then this key hides it.", markup=False)
            return
        self.set_focus(None)
        self.panes.hide(pane)
        self.post_message(LookChanged())

    def action_show_all(self) -> None:
        """Bring all panes back."""
        self.panes.show_all()
        self.post_message(LookChanged())

    def action_focus_pane(self, step: int) -> None:
        """Go to the next pane; where one is shown alone, show the next one alone."""
        if self.panes.zoomed is not None:
            self.panes.step(step)
            self.post_message(LookChanged())
        elif step > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def action_jump(self, number: int) -> None:
        """Open the view of a server by its number."""
        servers = self.view.all_servers if self.view is not None else ()
        if number <= len(servers) and servers[number - 1].name != self.opened:
            self.post_message(ServerChosen(servers[number - 1].name))

    @property
    def opened(self) -> str | None:
        """The server whose view this is; None: it is no view of one."""
        return None

    def leave_zoom(self) -> bool:
        """Show all panes again; False where none was shown alone."""
        if self.panes.zoomed is None:
            return False
        self.action_zoom()
        return True

    def action_act(self, act: ActKind) -> None:
        """Ask for an act on the chosen server, unless it was pasted."""
        if self.server is not None:
            self.ask_act(act, self.server.name)

    def ask_act(self, act: ActKind, name: str) -> None:
        """Ask for an act on a server, also from the palette."""
        server = self.view.fleet.server(name) if self.view is not None else None
        if server is None or self.pace.is_burst:
            self._refuse_burst()
            return
        profile = other_profile(server) if act == "pivot" else None
        if act == "pivot" and profile is None:
            self.ask_profile(name)
            return
        self.post_message(ActWanted(act, name, profile, keys=self.pace.keys))

    def action_pick_profile(self) -> None:
        """Ask which profile."""
        if self.server is not None:
            self.ask_profile(self.server.name)

    def ask_profile(self, name: str) -> None:
        """Ask which profile this server should have."""
        if self.pace.is_burst:
            self._refuse_burst()
            return
        self.post_message(ProfileWanted(name))

    def _refuse_burst(self) -> None:
        if self.pace.is_burst:
            self.notify("That came too fast for a key press; press it again.", severity="warning", markup=False)

    def action_cause(self) -> None:
        """Go to the first cause in the log; where it is not kept here, diagnose on the host; else say what decided the state."""
        server = self.server
        if server is None:
            return
        cause = server.story.cause if server.story is not None else None
        if cause is None and server.word not in TROUBLED:
            reasons = "; ".join(server.because) or "no cause found in the log"
            self.notify(reasons, title=f"{server.name}: {shown_word(server)}", markup=False)
            return
        name = server.name

        def diagnose() -> None:
            from specdeck.ui.screens.diagnosis import DiagnosisScreen

            self.app.push_screen(DiagnosisScreen(name, lambda: self.deck.diagnose(name)))

        if cause is not None and cause.line is not None:
            self.log_pane.reach_line(cause.line, otherwise=diagnose)
        else:
            diagnose()


def _form(length: int, breakpoints: list[tuple[int, str]]) -> str:
    return max(each for each in breakpoints if each[0] <= length)[1]


def other_profile(server: ServerState) -> str | None:
    """The other one of the pivot pair; the first one where another profile runs; None without a pair."""
    pair = server.configured_profiles[:2]
    if len(pair) < 2:
        return None
    return pair[1] if server.profile == pair[0] else pair[0]

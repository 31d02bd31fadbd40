"""The dashboard: one pump carries the newest state to the screens, keys become commands, no I/O of its own.

What only a key can ask for is imported with that key: the first frame does not wait for it.
"""

import asyncio
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.console import RenderableType
from rich.text import Text
from textual import events, on
from textual._compositor import CompositorUpdate
from textual.actions import ActionParseResult
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.driver import Driver
from textual.notifications import Notify
from textual.reactive import var
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from specdeck.config.settings import Settings
from specdeck.config.theme import ThemeSpec
from specdeck.errors import SpecdeckError
from specdeck.parsing.ascii_only import ascii_only
from specdeck.services.deck import Deck
from specdeck.state.alert_book import Alert, Silence
from specdeck.state.brief import in_brief
from specdeck.state.line import title
from specdeck.state.snapshot import ActKind, FleetState, ServerState
from specdeck.ui.arrangement import Arrangement
from specdeck.ui.asking import Asking
from specdeck.ui.commands import COMMAND, bindings_for
from specdeck.ui.drawing.spans import clean
from specdeck.ui.faults import Faults
from specdeck.ui.filters import with_ours
from specdeck.ui.key_pace import KeyPace
from specdeck.ui.keymap import display, for_textual, keymap_of, keys_of
from specdeck.ui.last_words import UNTOUCHED, last_words
from specdeck.ui.messages import ActWanted, EditWanted, LookChanged, ProfileWanted, ServerChosen
from specdeck.ui.mouse import Mouse
from specdeck.ui.notices import Notices
from specdeck.ui.offer_search import OfferSearch
from specdeck.ui.ringing import Ringing
from specdeck.ui.screens.deck_screen import DeckScreen
from specdeck.ui.screens.overview import OverviewScreen
from specdeck.ui.terminal_picture import TerminalPicture
from specdeck.ui.theme_choice import ThemeChoice
from specdeck.ui.themes import found_themes

if TYPE_CHECKING:
    from specdeck.ui.acting import Acting
    from specdeck.ui.fleet_files import FleetFiles
    from specdeck.ui.screens.sheet import ActSheet

Severity = Literal["information", "warning", "error"]
LEAVING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
PUMP_SECONDS = 0.25
TICK_SECONDS = 1.0
RESTART_SECONDS = 2.0
SETTLED_SECONDS = 5.0
"""By then everything is imported and connected."""

_log = logging.getLogger(__name__)


class SpecdeckApp(App[None]):
    """Shows a deck. Leaving it never stops a server."""

    TITLE = "specdeck"
    CSS_PATH = "app.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("app"), Binding("ctrl+q", "quit", show=False, priority=True)]
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {OfferSearch}
    fleet: var[FleetState | None] = var(None, init=False)
    _is_dressed = False

    def __init__(
        self,
        deck: Deck,
        *,
        themes: Sequence[ThemeSpec] | None = None,
        theme: str | None = None,
        settings: Settings | None = None,
        problems: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
        key_time: Callable[[events.Key], float] = lambda key: key.time,
        monotonic: Callable[[], float] = time.monotonic,
        fate: str = UNTOUCHED,
    ) -> None:
        super().__init__()
        self._fate = fate
        """What becomes of the servers if the dashboard ends by a fault of its own."""
        self.deck = deck
        self.pace = KeyPace()
        self.arrangement = Arrangement()
        self.paused_at: float | None = None
        self.settings = settings or Settings()
        self.keymap, key_problems = keymap_of(self.settings.keys)
        """The user's own keys."""
        self.set_keymap(for_textual(self.keymap))
        self._problems = [*problems, *key_problems]
        self._wanted_theme = theme
        self._read_in: str | None = None
        """The theme that the styles were read in before anything was shown."""
        self._theme_choice = ThemeChoice(self, lambda only: self._themes(themes, only), self._tell_problems)
        self._clock = clock
        self.stopwatch = monotonic
        self._key_time = key_time
        self._ticker: Timer | None = None
        self._opened_only_server = False
        self.faults = Faults(deck.store, lambda text: self.say(text, severity="error"))
        self._is_touched = True
        """A key or a click came: what it changes is drawn without a rest."""
        self._said: object = None
        """What the newest state said that may not wait."""
        self._asking = Asking(self, deck)
        self._picture = TerminalPicture()
        self._is_left_to_editor = False
        self.no_color = bool(os.environ.get("NO_COLOR"))
        self._filters = with_ours(self._filters, is_ascii=self.settings.is_ascii, has_colours=not self.no_color)
        self.notices = Notices(self._to_terminal, spelled=ascii_only if self.settings.is_ascii else str)
        """Bell, notification and title of the terminal."""
        self._ticked_at = 0.0
        self._waiting_messages: list[Callable[[], None]] = []
        self._mouse = Mouse(lambda: self._driver)
        self._ringing = Ringing(self.settings.alerts, self.notices, self._toast)
        self.drawn = asyncio.Event()
        """The first frame is on its way to the terminal."""
        self.animation_level = "none"

    @property
    def now(self) -> float:
        """The moment that is drawn."""
        return self._clock()

    def get_driver_class(self) -> type[Driver]:
        """Textual's own, but one that no byte of the terminal ends."""
        from specdeck.ui.hardy_driver import hardened

        return hardened(super().get_driver_class())

    def get_css_variables(self) -> dict[str, str]:
        """Those of the theme that is worn; before there is one, textual's own would be made for nothing."""
        return super().get_css_variables() if self._is_dressed else {}

    def get_default_screen(self) -> Screen[None]:
        """The fleet; before the first style is read, for with another theme all are read a second time."""
        self._theme_choice.wear(self._wanted_theme)
        self._is_dressed = True
        self.stylesheet.set_variables(self.get_css_variables())
        self._read_in = self.theme
        source = self.deck.fleet.source
        name = source.stem if source is not None else ""
        return OverviewScreen(self.deck, self.pace, name, arrangement=self.arrangement)

    def on_mount(self) -> None:
        """The pump and the second hand."""
        self._leave_on_signals()
        if not self.settings.has_mouse:
            self._mouse.toggle()
        self.app_resume_signal.subscribe(self, self._on_resumed)
        self._tell_problems(self._problems)
        self._pump()
        self._ticker = self.set_interval(TICK_SECONDS, self._on_second)
        self.call_after_refresh(self.drawn.set)
        if not self.is_headless:  # else each full collection looks through all modules, and keys wait 0.2 s for it
            self.set_timer(SETTLED_SECONDS, gc.freeze)

    def _leave_on_signals(self) -> None:
        """A lost terminal or a kill leaves the terminal as it was."""
        loop = asyncio.get_running_loop()
        for number in LEAVING:
            loop.add_signal_handler(number, self.exit, None, 128 + number)

    def on_unmount(self) -> None:
        """Signals mean again what they meant, and the terminal has its title back."""
        self.notices.close()
        loop = asyncio.get_running_loop()
        for number in LEAVING:
            loop.remove_signal_handler(number)

    def _display(self, screen: Screen[object], renderable: RenderableType | CompositorUpdate | None) -> None:
        """Write only what the terminal does not show yet; where there is no terminal any more, leave."""
        if self._is_left_to_editor:
            return
        if self._has_lost_its_terminal():
            self.exit(return_code=128 + signal.SIGHUP)
            return
        if isinstance(renderable, CompositorUpdate):
            renderable = self._picture.narrowed(renderable)
        super()._display(screen, renderable)  # type: ignore[arg-type]

    def _left_to_editor(self, is_so: bool) -> None:
        """Nothing is drawn while the terminal is an editor's, and its ctrl+c is not ours; afterwards all is drawn anew."""
        self._is_left_to_editor = is_so
        loop = asyncio.get_running_loop()
        if is_so:
            loop.add_signal_handler(signal.SIGINT, _nothing)
        else:
            loop.add_signal_handler(signal.SIGINT, self.exit, None, 128 + signal.SIGINT)
            self._picture = TerminalPicture()

    def copy_to_clipboard(self, text: str) -> None:
        """Also inside of tmux and screen."""
        self._clipboard = text
        self.notices.copy(text)

    def _to_terminal(self, sequence: str) -> None:
        """Beside the screen."""
        if self._driver is not None and not self._is_left_to_editor:
            self._driver.write(sequence)

    def _has_lost_its_terminal(self) -> bool:
        """The writer of the driver ends when its terminal is gone."""
        writer = getattr(self._driver, "_writer_thread", None)
        return writer is not None and not writer.is_alive()

    def _fatal_error(self) -> None:
        """An error of our own: a few words after the terminal is restored, instead of a screenful with all variables."""
        self._exit_renderables.append(Text(last_words(sys.exception() or RuntimeError("unknown"), fate=self._fate)))
        self._close_messages_no_wait()

    def panic(self, *renderables: object) -> None:
        """The same for errors that know how to show themselves."""
        self._return_code = 1
        self._fatal_error()

    def _themes(self, given: Sequence[ThemeSpec] | None, only: str | None) -> tuple[Sequence[ThemeSpec], Sequence[str]]:
        return found_themes(self.deck.fleet.source, only) if given is None else (given, ())

    def refresh_css(self, animate: bool = True) -> None:
        """Read all styles again, unless it was the first theme that asked for it: they were read in that one."""
        read_in, self._read_in = self._read_in, None
        if read_in != self.theme:
            super().refresh_css(animate)

    def _tell_problems(self, problems: Sequence[str]) -> None:
        """What is wrong with files of the user's; the dashboard starts all the same, and tells it as soon as it can be seen."""
        if not self.screen_stack:
            self._problems += problems
        elif problems:
            self.say("\n".join(problems), title="configuration", severity="warning")
            self.faults.note(problems)

    def action_change_theme(self) -> None:
        """Pick a theme, also from the palette."""
        self._theme_choice.pick()

    # Alerts

    def _toast(self, alert: Alert) -> None:
        severity: Severity = "information" if alert.severity == "info" else alert.severity
        self.say(in_brief(alert.text), title=alert.subject, severity=severity)

    def action_suspend_process(self) -> None:
        """Back to the shell, with its title."""
        self.notices.give_title_back()
        super().action_suspend_process()

    def _on_resumed(self, _: object) -> None:
        """Back from the shell: nothing of what was drawn is there any more."""
        self._picture.forget()
        self.screen.refresh(layout=True)
        self.notices.title(title(self.deck.store.state))

    def action_mouse(self) -> None:
        """Give the mouse back to the terminal, so that it can select text, or take it again."""
        has_it = self._mouse.toggle()
        self.say("specdeck has the mouse" if has_it else "the terminal has the mouse: select and copy as everywhere")

    def action_silence(self) -> None:
        """Ask for how long alerts do not ring."""
        from specdeck.state.events import AlertsSilenced
        from specdeck.ui.screens.silence import SilenceScreen

        def chosen(silence: Silence | None) -> None:
            if silence is not None and self.pace.is_burst:
                self.say("Keys came too fast: nothing was silenced.", severity="warning")
            elif silence is not None:
                self.deck.store.apply(AlertsSilenced(silence))

        self.push_screen(SilenceScreen(self.deck.store.state.alerts, self.now), chosen)

    # The one way of state to the screen

    def _pump(self) -> None:
        self.run_worker(self._carry(), name="pump", group="pump", exclusive=True, exit_on_error=False)

    async def _carry(self) -> None:
        async for state in self.deck.store.changes(at_most_every_seconds=PUMP_SECONDS):
            self._asking.look(state)
            self._ringing.look(state)
            self.notices.title(title(state))
            if self.paused_at is None and not self._rests(state):
                self.fleet = state

    def _rests(self, state: FleetState) -> bool:
        """Whether this state can wait for the second hand: only figures changed, and no key was touched."""
        said = ([each.word for each in state.servers], [(each.link, bool(each.gpus)) for each in state.hosts])
        is_calm = isinstance(self.screen, DeckScreen) and self.screen.IS_CALM
        rests = is_calm and said == self._said and not self._is_touched
        self._said, self._is_touched = said, False
        return rests

    def watch_fleet(self) -> None:
        """New state."""
        self.tick()
        fleet = self.fleet
        if fleet is not None and fleet.servers and not self._opened_only_server:
            self._opened_only_server = True
            if len(fleet.servers) == len(fleet.hosts) == 1 and len(self.screen_stack) == 1:
                self.open_server(fleet.servers[0].name)

    def _on_second(self) -> None:
        """The second hand: draw what rested since the last one, and ages where nothing else was drawn meanwhile."""
        newest = self.deck.store.state
        if self.paused_at is None and self.fleet is not None and newest is not self.fleet:
            self.fleet = newest
        elif self.stopwatch() - self._ticked_at > TICK_SECONDS / 2:
            self.tick()

    def tick(self) -> None:
        """Draw the newest state at this moment: ages grow without events."""
        self._tell_waiting_messages()
        self._asking.look(self.deck.store.state)
        if self.fleet is None:
            return
        self._ticked_at = self.stopwatch()
        try:
            self._show(self.fleet)
        except Exception as error:  # what one screen cannot draw ends neither the others nor the acts
            _log.exception("the screen could not be drawn")
            self.faults.tell("specdeck", f"the screen could not be drawn: {type(error).__name__}: {error}")

    def _show(self, fleet: FleetState) -> None:
        seen = next((screen for screen in reversed(self.screen_stack) if isinstance(screen, DeckScreen)), None)
        if seen is not None and seen.is_mounted:
            seen.look(fleet, self.now, self.paused_at)

    @on(LookChanged)
    def _on_look_changed(self) -> None:
        self.tick()

    # Keys

    async def on_event(self, event: events.Event) -> None:
        """Watch how fast keys come; an open sheet gets them all."""
        if isinstance(event, events.Key | events.MouseDown):
            self._is_touched = True
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.pace.note(self._key_time(event))
            if (sheet := self._sheet()) is not None:
                sheet.answer(event.key, is_burst=self.pace.is_burst)
                return
            if await self._has_done(event):
                return
        elif isinstance(event, events.Paste) and not event.is_forwarded:
            self.pace.note_paste()
            if (sheet := self._sheet()) is not None:
                sheet.cancel()
                return
        await super().on_event(event)

    def _sheet(self) -> "ActSheet | None":
        from specdeck.ui.screens.sheet import ActSheet

        return self.screen if isinstance(self.screen, ActSheet) else None

    async def _has_done(self, key: events.Key) -> bool:
        """Do at once what a key asks for, so that the next one finds the line or the screen that it opened.

        Textual asks the focused widget first and comes back to the bindings when the next keys are on their way already.
        """
        if not self.screen.is_mounted:
            self.screen.call_later(self.post_message, key)  # it has no line to type in yet
            return True
        if isinstance(self.focused, Input):
            return False
        return await self._check_bindings(key.key, priority=True) or await self._check_bindings(key.key)

    async def run_action(
        self,
        action: "str | ActionParseResult",
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Do what a key asks for; where that fails, it is said, and the dashboard goes on."""
        try:
            is_done = await super().run_action(action, default_namespace, namespaces)
            if not is_done and isinstance(self.screen, DeckScreen) and not self.pace.is_burst:
                self.screen.say_why_not(action if isinstance(action, str) else action[1])
            return is_done
        except Exception as error:
            if not (isinstance(error, NoMatches) and _is_bare(self.screen)):
                self.faults.of_key(action if isinstance(action, str) else action[1], error)
            return True

    def action_refresh_now(self) -> None:
        """Look again at everything."""
        self.run_worker(self._refresh(), name="refresh", group="refresh", exclusive=True, exit_on_error=False)

    async def _refresh(self) -> None:
        try:
            await self.deck.refresh()
        except SpecdeckError as error:
            self.say(str(error), severity="error")

    def action_pause(self) -> None:
        """Freeze the screen, or go on with the newest state."""
        self.paused_at = self.now if self.paused_at is None else None
        if self.paused_at is None:
            self.fleet = self.deck.store.state
        self.tick()

    def action_help_quit(self) -> None:
        """ctrl+c, which ends other programs."""
        key = display(keys_of(COMMAND["quit"], self.keymap)[0])
        self.say(f"{key} leaves specdeck")

    def action_help(self) -> None:
        """The keys of what is in front."""
        from specdeck.ui.screens.help import HelpScreen, told_of

        self.push_screen(HelpScreen(told_of(self.screen.active_bindings), self.keymap))

    def action_command_palette(self) -> None:
        """Find any command."""
        from specdeck.ui.command_palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: ours first; of textual's own those that ours do not say better."""
        from specdeck.ui.offers import offers

        yield from offers(self, screen)
        yield from (each for each in super().get_system_commands(screen) if each.title in ("Theme", "Screenshot"))

    # Screens

    @on(ServerChosen)
    def _on_server_chosen(self, message: ServerChosen) -> None:
        self.open_server(message.server)

    def open_server(self, server: str) -> None:
        """Show its view."""
        overview = self.screen_stack[0]
        if not isinstance(overview, OverviewScreen):
            return
        from specdeck.ui.screens.server import ServerScreen

        overview.chosen = server
        screen = ServerScreen(self.deck, self.pace, server, overview.fleet_name, arrangement=self.arrangement)
        if isinstance(self.screen, ServerScreen):
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    # Acts

    @on(ProfileWanted)
    def _on_profile_wanted(self, message: ProfileWanted) -> None:
        state = self.fleet.server(message.server) if self.fleet is not None else None
        if state is not None:
            self._acting.pick_profile(state)

    @on(EditWanted)
    def _on_edit_wanted(self, message: EditWanted) -> None:
        if message.profile is not None:
            self._files.edit_profile(message.profile)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whoever may not act writes no files either."""
        if action in ("add", "edit_files") and self.deck.is_read_only:
            return False
        return super().check_action(action, parameters)

    @cached_property
    def _acting(self) -> "Acting":
        from specdeck.ui.acting import Acting

        return Acting(self)

    @cached_property
    def _files(self) -> "FleetFiles":
        from specdeck.ui.fleet_files import FleetFiles

        return FleetFiles(self, self.deck, self._left_to_editor)

    def action_edit_files(self) -> None:
        """Open the fleet file or a profile in the user's editor."""
        server = self._chosen_server
        if not self._refuses_files():
            self._files.pick(server.engine if server is not None else "")

    def action_add(self) -> None:
        """Add a host or a server to the fleet file."""
        server = self._chosen_server
        if not self._refuses_files():
            self._files.add(server.name if server is not None else None)

    @property
    def _chosen_server(self) -> ServerState | None:
        return self.screen.server if isinstance(self.screen, DeckScreen) else None

    def _refuses_files(self) -> bool:
        """A burst of keys, or a dashboard that may not act."""
        if self.deck.is_read_only or self.pace.is_burst or not isinstance(self.screen, DeckScreen):
            return True
        return self.screen.is_too_small

    @on(ActWanted)
    def _on_act_wanted(self, message: ActWanted) -> None:
        if message.keys != self.pace.keys:
            self.say("Keys came too fast: nothing was started. Press it again.", severity="warning")
            return
        self.ask(message.act, message.server, message.profile)

    def ask(self, act: ActKind, server: str, profile: str | None) -> None:
        """Show a sheet that asks."""
        self._acting.ask(act, server, profile)

    # What went wrong

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A worker that failed is told once; the pump starts again."""
        if event.state is not WorkerState.ERROR:
            return
        error = event.worker.error
        self.faults.tell("specdeck", f"{event.worker.name} failed: {type(error).__name__}: {error}")
        if event.worker.name == "pump":
            self.set_timer(RESTART_SECONDS, self._pump)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: Severity = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """A message in the corner; while a sheet asks, it waits: its time would be over before it can be seen."""
        tell = partial(super().notify, message, title=title, severity=severity, timeout=timeout, markup=markup)
        if self._lets_messages_wait:
            self._waiting_messages.append(tell)
        else:
            tell()

    def on_notify(self, event: Notify) -> None:
        """The same words do not stand there twice: they stand there anew."""
        new = event.notification
        for old in list(self._notifications):
            if (old.title, old.message) == (new.title, new.message):
                self._unnotify(old, refresh=False)

    @property
    def _lets_messages_wait(self) -> bool:
        return bool(self.screen_stack) and getattr(self.screen, "LETS_MESSAGES_WAIT", False)

    def _tell_waiting_messages(self) -> None:
        if self._waiting_messages and not self._lets_messages_wait:
            waiting, self._waiting_messages = self._waiting_messages, []
            for tell in waiting:
                tell()

    def say(self, text: str, *, title: str = "", severity: Severity = "information") -> None:
        """A message in the corner; text of hosts may be in it."""
        lines = "\n".join(clean(line) for line in text.split("\n"))
        self.notify(lines, title=clean(title), severity=severity, markup=False)


def _is_bare(screen: Screen[object]) -> bool:
    """A key came before what it is for: textual mounts a screen before its widgets."""
    return all(child.has_class("-textual-system") for child in screen.children)


def _nothing() -> None:
    """A signal that is somebody else's."""

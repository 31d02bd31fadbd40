"""What the palette offers: every act on every server, every view, every key that works now."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SystemCommand
from textual.binding import ActiveBinding
from textual.screen import Screen

from specdeck.state.snapshot import ActKind
from specdeck.ui.drawing.spans import clean
from specdeck.ui.keymap import label_of
from specdeck.ui.screens.deck_screen import DeckScreen
from specdeck.ui.screens.help import told_of

if TYPE_CHECKING:
    from specdeck.ui.app import SpecdeckApp

ACTS: tuple[ActKind, ...] = ("pivot", "relaunch", "stop", "launch")
NOT_OFFERED = frozenset(
    {
        "open",
        "palette",
        "back",
        "jump",
        "move",
        "move-up",
        "add",
        "edit-files",
        "scroll-down",
        "scroll-up",
        "theme",
    }
)
"""Keys that mean nothing without the hand on them, and those that textual offers itself."""


def offers(app: "SpecdeckApp", screen: Screen[object]) -> Iterator[SystemCommand]:
    """The chosen server first, then the others, then everything else."""
    if isinstance(screen, DeckScreen):
        yield from _acts(screen)
    yield from _views(app)
    yield from _files(app)
    yield from _orphans(app)
    yield from _keys(app, screen)


def _acts(screen: DeckScreen) -> Iterator[SystemCommand]:
    """Each leads to its sheet, as the key does."""
    chosen = screen.server
    servers = screen.view.fleet.servers if screen.view is not None else ()
    for server in sorted(servers, key=lambda server: server is not chosen):
        where = f"on {clean(server.host)}, {server.word.value}"
        for act in ACTS:
            if screen.can(act, server):
                yield SystemCommand(
                    f"{act.capitalize()} {clean(server.name)}", where, partial(screen.ask_act, act, server.name)
                )
        if screen.can("pivot", server):
            words = "then the sheet of a pivot"
            yield SystemCommand(
                f"Pick a profile for {clean(server.name)}", words, partial(screen.ask_profile, server.name)
            )


def _views(app: "SpecdeckApp") -> Iterator[SystemCommand]:
    for server in app.fleet.servers if app.fleet is not None else ():
        about = f"{clean(server.host)}, {server.word.value}"
        yield SystemCommand(f"Open {clean(server.name)}", about, partial(app.open_server, server.name))


def _files(app: "SpecdeckApp") -> Iterator[SystemCommand]:
    if app.deck.is_read_only:
        return
    about = "Adopt one that was found, or write a new one into the fleet file"
    yield SystemCommand("Add a host or a server", about, app.action_add)
    about = "In your own editor; read again afterwards"
    yield SystemCommand("Edit the fleet file or a profile", about, app.action_edit_files)


def _orphans(app: "SpecdeckApp") -> Iterator[SystemCommand]:
    """Workers that hold GPU memory for no server: each can be ended, after the question."""
    if app.fleet is None or app.deck.is_read_only:
        return
    for host in app.fleet.hosts:
        for pid, name in dict.fromkeys((each.pid, each.name) for each in host.processes if each.is_orphan):
            yield SystemCommand(
                f"End orphan {pid} {clean(name)}",
                f"on {clean(host.name)}: it holds GPU memory and belongs to no server",
                partial(app.ask, "end", f"{pid}@{host.name}", None),
            )


def _keys(app: "SpecdeckApp", screen: Screen[object]) -> Iterator[SystemCommand]:
    """The keys of the present pane, for those who do not know them yet."""
    bindings = {each.binding.id: each for each in screen.active_bindings.values()}
    for _, command, is_possible in told_of(screen.active_bindings):
        if is_possible and not command.is_acting and command.id not in NOT_OFFERED:
            title = f"{command.description} ({label_of(command, app.keymap)})"
            yield SystemCommand(title, command.tooltip.replace("`", ""), partial(_run, app, bindings[command.id]))


async def _run(app: "SpecdeckApp", active: ActiveBinding) -> None:
    await app.run_action(active.binding.action, active.node)

"""All keys of the dashboard in one table: bindings, footer, help screen, palette and the README derive from it."""

from collections.abc import Mapping
from typing import Literal

from textual.binding import Binding, BindingType

from specdeck.quick_dataclass import dataclass

Place = Literal["overview", "server", "log", "app", "replay"]


@dataclass(frozen=True, slots=True)
class Command:
    """One key and what it does."""

    id: str
    keys: str
    """As textual names them, separated by commas."""
    label: str
    """As the help and the README show the keys."""
    action: str
    description: str
    tooltip: str
    places: tuple[Place, ...]
    is_acting: bool = False
    """It changes something on a host: hidden when read-only."""
    is_in_footer: bool = False


BOTH: tuple[Place, ...] = ("overview", "server")
COMMANDS = (
    Command("open", "enter", "Enter", "open", "Open", "Open the view of the chosen server", ("overview",), False, True),
    Command(
        "pivot", "v", "v", "act('pivot')", "Pivot",
        "Stop the server and start it with the other profile of its pair: shows the difference, checks, "
        "then counts down 3 seconds; Enter starts at once, any other key cancels",
        BOTH, True, True,
    ),
    Command(
        "profile", "p", "p", "pick_profile", "Profile",
        "Pick any profile for this server, then the same sheet as for a pivot", BOTH, True, True,
    ),
    Command(
        "relaunch", "R", "R", "act('relaunch')", "Relaunch",
        "Stop the server and start it again with the same profile; waits for Enter", BOTH, True, True,
    ),
    Command(
        "stop", "K", "K", "act('stop')", "Stop",
        "Stop the server and wait until its processes are gone and its GPU memory is back; waits for Enter",
        BOTH, True, True,
    ),
    Command(
        "launch", "L", "L", "act('launch')", "Launch",
        "Start a server that does not run; waits for Enter", BOTH, True, True,
    ),
    Command("cause", "d", "d", "cause", "Cause", "Show the first cause and its place in the log", BOTH),
    Command("filter", "slash", "/", "search", "Filter", "Show only servers that contain a text", ("overview",), False, True),
    Command("search", "slash", "/", "ask_log('search')", "Search", "Search the log", ("server",), False, True),
    Command("next-match", "n", "n", "next_match", "Next match", "Go to the next match in the log", ("server",)),
    Command("previous-match", "N", "N", "previous_match", "Previous match", "Go to the match before", ("server",)),
    Command(
        "filter-log", "ampersand", "&", "ask_log('filter')", "Filter",
        "Show only log lines with a text (`!text`: only those without)", ("server",),
    ),
    Command(
        "next-error", "e", "e", "next_error", "Next error",
        "Go to the next error in the log, after the last to the first", ("server",),
    ),
    Command(
        "log-time", "T", "T", "ask_log('time')", "Time", "Go to a time in the log: `14:32`, `11-29 14:32`, `-10m`", ("server",)
    ),
    Command(
        "plot", "c", "c", "next_plot", "Plot",
        "Plot another number: tok/s, requests, KV use, accept length, GPU utilisation, GPU power", ("server",),
    ),
    Command(
        "plot-window", "C", "C", "next_window", "Plot over", "Plot over 5 minutes, an hour, or the whole run", ("server",)
    ),
    Command("mark", "m", "m", "mark", "Mark", "Put a line with the time into the log, to find the place again", ("server",)),
    Command(
        "copy", "y", "y", "copy_lines", "Copy",
        "Copy the selected log lines (by mouse), else the one that was jumped to, else those in sight (OSC 52)", ("server",),
    ),
    Command(
        "save-log", "s", "s", "ask_log('save')", "Save", "Save the shown log lines to a file of this machine", ("server",)
    ),
    Command("follow", "f", "f", "follow", "Follow", "Follow the end of the log again", ("server",)),
    Command("wrap", "w", "w", "wrap", "Wrap", "Wrap long log lines, or scroll them sideways", ("server",)),
    Command(
        "polls", "a", "a", "polls", "Polls", "Show or hide the access lines of health and metrics polls in the log", ("server",)
    ),
    Command("move", "down,j", "Down j", "move(1)", "Down", "Choose the next server", ("overview",)),
    Command("move-up", "up,k", "Up k", "move(-1)", "Up", "Choose the server above", ("overview",)),
    Command("move-page", "pagedown,ctrl+d", "PgDn", "move(10)", "Ten down", "Choose the tenth server from here", ("overview",)),
    Command("move-page-up", "pageup,ctrl+u", "PgUp", "move(-10)", "Ten up", "Choose the tenth server above", ("overview",)),
    Command("move-first", "home,g", "g Home", "move(-9999)", "First", "Choose the first server", ("overview",)),
    Command("move-last", "end,G", "G End", "move(9999)", "Last", "Choose the last server", ("overview",)),
    Command("order", "o", "o", "order", "Order", "Worst servers first, or as in the fleet file", ("overview",)),
    Command(
        "jump", "1,2,3,4,5,6,7,8,9", "1 ... 9", "jump", "Jump", "Open the view of the server with this number", BOTH
    ),
    Command(
        "zoom", "z", "z", "zoom", "Zoom", "Show the focused pane alone, or all again; Tab then shows the next one alone", BOTH,
        is_in_footer=True,
    ),
    Command("next-pane", "tab", "Tab", "focus_pane(1)", "Next pane", "Go to the next pane", BOTH),
    Command("previous-pane", "shift+tab", "shift+Tab", "focus_pane(-1)", "Pane before", "Go to the pane before", BOTH),
    Command("hide", "x", "x", "hide", "Hide", "Hide the focused pane; the others get its place", BOTH),
    Command("show-all", "X", "X", "show_all", "Show all", "Bring all hidden panes back", BOTH),
    Command("scroll-down", "down,j", "Down j", "scroll_down", "Scroll down", "Scroll the log down", ("log",)),
    Command("scroll-up", "up,k", "Up k", "scroll_up", "Scroll up", "Scroll the log up, which stops following", ("log",)),
    Command("page-down", "pagedown,ctrl+d", "PgDn", "page_down", "Page down", "Scroll the log a page down", ("log",)),
    Command("page-up", "pageup,ctrl+u", "PgUp", "page_up", "Page up", "Scroll the log a page up", ("log",)),
    Command("log-start", "home,g", "g Home", "scroll_home", "Start", "Go to the oldest kept log line", ("log",)),
    Command("log-end", "end,G", "G End", "follow", "End", "Go to the newest log line and follow", ("log",)),
    Command("scroll-left", "left,h", "Left h", "scroll_left", "Left", "Scroll the log to the left", ("log",)),
    Command("scroll-right", "right,l", "Right l", "scroll_right", "Right", "Scroll the log to the right", ("log",)),
    Command(
        "add", "plus", "+", "app.add", "Add",
        "Add to the fleet file: adopt a server that was found, or write down a new host or server; its comments stay", BOTH, True,
    ),
    Command(
        "edit", "E", "E", "app.edit_files", "Edit",
        "Open the fleet file or a profile in $VISUAL or $EDITOR, and read it again afterwards", BOTH, True,
    ),
    Command("refresh", "r", "r", "app.refresh_now", "Refresh", "Look again at everything, now", ("app",)),
    Command("pause", "space", "Space", "app.pause", "Pause", "Freeze the screen, or let it go on; nothing else stops", ("app",)),
    Command(
        "mouse", "M", "M", "app.mouse", "Mouse",
        "Give the mouse back to the terminal, to select text with it, or take it again", ("app",),
    ),
    Command(
        "theme", "ctrl+t", "ctrl+t", "app.change_theme", "Theme",
        "Pick a colour theme: each is shown as the cursor comes to it; the choice is kept", ("app",),
    ),
    Command(
        "silence", "exclamation_mark", "!", "app.silence", "Silence",
        "Silence alerts for a while, or until what holds now has cleared; or let them ring again", ("app",),
    ),
    Command("palette", "colon,ctrl+p", ": ctrl+p", "app.command_palette", "Palette", "Find any command, server or theme", ("app",)),
    Command(
        "back", "escape", "Esc", "back", "Back", "Close the search or the filter, then the view: back to the overview", BOTH,
        is_in_footer=True,
    ),
    Command("help", "question_mark,f1", "?", "app.help", "Help", "Show this help", ("app",), False, True),
    Command("suspend", "ctrl+z", "ctrl+z", "app.suspend_process", "Suspend", "Back to the shell; `fg` returns", ("app",)),
    Command("back-30", "left_square_bracket", "[", "seek(-30)", "Back", "Go 30 seconds back in the recording", ("replay",)),
    Command("ahead-30", "right_square_bracket", "]", "seek(30)", "Ahead", "Go 30 seconds ahead", ("replay",)),
    Command(
        "back-300", "left_curly_bracket", "{", "seek(-300)", "Far back", "Go 5 minutes back in the recording", ("replay",)
    ),
    Command("ahead-300", "right_curly_bracket", "}", "seek(300)", "Far ahead", "Go 5 minutes ahead", ("replay",)),
    Command("quit", "q", "q", "app.quit", "Quit", "Leave specdeck; every server runs on (only a demo ends with its own)", ("app",)),
)  # fmt: skip
COMMAND = {command.id: command for command in COMMANDS}


WHERE: Mapping[tuple[Place, ...], str] = {
    ("overview",): " (overview)",
    ("server",): " (server view)",
    ("log",): " (log)",
    BOTH: "",
    ("app",): "",
    ("replay",): " (replay)",
}


def bindings_for(place: Place) -> list[BindingType]:
    """The bindings of a screen or widget."""
    bindings: list[BindingType] = []
    for command in COMMANDS:
        if place in command.places:
            bindings += _jumps(command) if command.id == "jump" else [_binding(command)]
    return bindings


def _jumps(command: Command) -> list[Binding]:
    """One for each number: an action does not learn which key it was."""
    return [
        Binding(
            key, f"jump({key})", f"{command.description} {key}", tooltip=command.tooltip, id=f"jump-{key}", show=False
        )
        for key in command.keys.split(",")
    ]


def _binding(command: Command) -> Binding:
    return Binding(
        command.keys,
        command.action,
        command.description,
        tooltip=command.tooltip,
        id=command.id,
        show=command.is_in_footer,
        key_display=command.label.split()[0],
    )


def readme_table() -> str:
    """The keys as a Markdown table."""
    lines = ["| Key | What it does |", "|---|---|"]
    for command in COMMANDS:
        where = WHERE[command.places]
        lines.append(f"| `{command.label}` | {command.tooltip}{where} |")
    return "\n".join(lines)

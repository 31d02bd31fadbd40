"""What the roles of `drawing` look like in the current theme: the only place where colours meet text."""

from collections.abc import Mapping
from functools import lru_cache

from rich.style import Style
from textual.color import Color, ColorParseError

from specdeck.state.snapshot import Word

Looks = Mapping[str, Style]
WORD_ROLES: Mapping[Word, str] = {
    Word.UNKNOWN: "dim",
    Word.UNREACHABLE: "warning",
    Word.STOPPED: "dim",
    Word.STARTING: "starting",
    Word.READY: "ready",
    Word.UNHEALTHY: "warning",
    Word.STALLED: "warning",
    Word.STOPPING: "starting",
    Word.CRASHED: "error",
    Word.BLOCKED: "error",
}
COLOURS: Mapping[str, str] = {
    "title": "primary",
    "accent": "accent",
    "key": "accent",
    "ready": "success",
    "starting": "secondary",
    "warning": "warning",
    "error": "error",
    "spark": "primary",
    "bar": "primary",
    "hot": "error",
}
FADED = {"role-dim": 0.4, "role-heading": 0.45, "role-bar-rest": 0.72}
"""Variables that our own themes bring (`themes.py`), and how far a theme without them fades the text."""
CALM = 0.4
BOLD = {"title", "strong", "starting-strong", "ready-strong", "error-strong", "warning-strong", "key"}


def looks_of(variables: Mapping[str, str]) -> Looks:
    """One style a role, from a theme's variables."""
    wanted = ("foreground", "background", *FADED, *COLOURS.values())
    return _looks(tuple((name, variables.get(name, "")) for name in dict.fromkeys(wanted)))


@lru_cache(maxsize=16)
def _looks(variables: tuple[tuple[str, str], ...]) -> Looks:
    colours = {name: _colour(value) for name, value in variables}
    looks = {role: _style(colours[name], bold=role in BOLD) for role, name in COLOURS.items()}
    for role in ("ready", "starting", "warning", "error"):
        looks[f"{role}-strong"] = _style(colours[COLOURS[role]], bold=True)
    looks["strong"] = Style(bold=True)
    for role, (name, share) in zip(("dim", "heading", "bar-rest"), FADED.items(), strict=True):
        looks[role] = _style(colours[name], bold=False) if colours[name] else _faded(colours, share)
    looks["spark-calm"] = _calm(colours[COLOURS["spark"]], colours["background"])
    looks["found"] = Style(reverse=True)
    return looks


def _calm(colour: Color | None, ground: Color | None) -> Style:
    """The same colour, nearer to the ground: for what stands in every row and is only glanced at."""
    if colour is None or ground is None or colour.ansi is not None or ground.ansi is not None:
        return _style(colour, bold=False)
    return Style(color=colour.blend(ground, CALM).rich_color)


def _style(colour: Color | None, *, bold: bool) -> Style:
    return Style(color=colour.rich_color if colour else None, bold=bold or None)


def _faded(colours: Mapping[str, Color | None], factor: float) -> Style:
    text, ground = colours["foreground"], colours["background"]
    if text is None or ground is None or text.ansi is not None or ground.ansi is not None:
        return Style(dim=True)
    return Style(color=text.blend(ground, factor).rich_color)


def _colour(value: str) -> Color | None:
    try:
        colour = Color.parse(value) if value else None
    except ColorParseError:
        return None
    return None if colour is not None and colour.ansi == -1 else colour

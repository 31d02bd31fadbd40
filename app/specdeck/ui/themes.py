"""Theme specs into textual themes, each tried before it is registered: a bad one is a problem line, never a dead app."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path

from rich.color import ColorSystem
from textual.color import Color, ColorParseError
from textual.css.errors import StylesheetError
from textual.css.stylesheet import Stylesheet
from textual.css.tokenizer import TokenError
from textual.theme import Theme

from specdeck.config import places
from specdeck.config.problems import Problems, nearest
from specdeck.config.theme import ThemeSpec, read_theme, read_themes
from specdeck.quick_dataclass import replace
from specdeck.ui.palette import READABLE, Rgb, blended, reduced
from specdeck.ui.sixteen import in_sixteen

DARK, LIGHT = "specdeck-dark", "specdeck-light"
COLOURS = {field.name for field in fields(Theme)} - {"name", "dark", "variables", "luminosity_spread", "text_alpha"}
GROUNDS = ("background", "surface", "panel")
STATES = ("error", "success", "warning", "secondary")
"""Crashed, ready, in trouble, starting: never the same colour."""
TEXTS = ("foreground", "primary", "accent", *STATES)
FADED = {"role-dim": (0.4, READABLE), "role-heading": (0.45, READABLE), "role-bar-rest": (0.72, 1.0)}
"""How far from the text to the ground, and how readable it stays all the same."""
MUTED = ("text-muted", "text-disabled")
"""Textual's own names for what stands back: hints in frames and in empty fields."""
FAINT_WITHOUT_COLOURS = dict.fromkeys(FADED, (0.6, 1.0))
"""So faint that the filter for NO_COLOR takes it for what it is: dim."""


class BadTheme(ValueError):
    """What is wrong with a theme; `key` is the colour or variable."""

    def __init__(self, key: str, what: str) -> None:
        super().__init__(f"{key}: {what}")
        self.key = key


def found_themes(fleet: Path | None, only: str | None = None) -> tuple[tuple[ThemeSpec, ...], list[str]]:
    """The themes beside the fleet file, in the XDG folder and the shipped ones, and what is wrong with their files.

    `only`: of the shipped ones just that; before the first frame each file counts.
    """
    problems = Problems()
    shipped = places.shipped("themes")
    folders = [folder for folder in places.folders_of("themes", fleet, os.environ) if only is None or folder != shipped]
    specs = dict(read_themes(folders, problems))
    if only is not None and only not in specs:
        specs |= read_theme(shipped / f"{only}.yaml", problems)
    return tuple(specs.values()), [str(problem) for problem in problems.found]


def themes_of(
    specs: Iterable[ThemeSpec],
    css: Mapping[str, str],
    defaults: Mapping[str, str],
    system: ColorSystem = ColorSystem.TRUECOLOR,
    *,
    has_colours: bool = True,
) -> tuple[list[Theme], list[str]]:
    """The themes that can be applied, and one line for each that cannot. `css` is what must parse, by its name."""
    themes: list[Theme] = []
    problems: list[str] = []
    for spec in specs:
        try:
            theme = _readable(_theme(spec), system, FADED if has_colours else FAINT_WITHOUT_COLOURS)
            if spec.source.parent != places.shipped("themes"):  # those are tried by the tests
                _try(theme, css, defaults)
        except BadTheme as error:
            place = spec.places.get(error.key) or spec.places.get("name") or spec.source
            problems.append(f"{place}: theme {spec.name}: {error}")
        else:
            themes.append(theme)
    return themes, problems


def _theme(spec: ThemeSpec) -> Theme:
    for name, value in spec.colors.items():
        if name not in COLOURS:
            raise BadTheme(name, f"is not a colour of a theme{nearest(name, COLOURS)}")
        _parsed(name, value)
    if "primary" not in spec.colors:
        raise BadTheme("primary", "is missing")
    theme = Theme(name=spec.name, primary=spec.colors["primary"], dark=spec.is_dark, variables=dict(spec.variables))
    for name, value in spec.colors.items():
        setattr(theme, name, value)
    return theme


def _readable(theme: Theme, system: ColorSystem, fading: Mapping[str, tuple[float, float]]) -> Theme:
    """With the colours that this terminal can show, and looks for what stands back; a theme of ANSI colours is left as it is."""
    generated = theme.to_color_system().generate()
    colours = {name: _parsed(name, generated[name]) for name in (*GROUNDS, *TEXTS)}
    if any(colour.ansi is not None for colour in colours.values()):
        return theme
    grounds = {name: _ground(colours[name].rgb, system, is_dark=theme.dark) for name in GROUNDS}
    under = tuple(dict.fromkeys(grounds.values()))
    texts = {name: colours[name].rgb for name in TEXTS}
    if system is ColorSystem.STANDARD:
        texts = dict(in_sixteen(texts, is_dark=theme.dark))
    elif system is ColorSystem.EIGHT_BIT:
        texts = _in_256(texts, under)
    faded = {
        name: reduced(blended(texts["foreground"], grounds["background"], share), system, under, least)
        for name, (share, least) in fading.items()
    }
    if system is not ColorSystem.TRUECOLOR:
        for name, colour in {**grounds, **texts}.items():
            setattr(theme, name, _hex(colour))
    dim = theme.variables.get("role-dim", _hex(faded["role-dim"]))
    looks = {**{name: _hex(colour) for name, colour in faded.items()}, **dict.fromkeys(MUTED, dim)}
    theme.variables = {**looks, **theme.variables}
    return theme


def _in_256(texts: Mapping[str, Rgb], grounds: tuple[Rgb, ...]) -> dict[str, Rgb]:
    """Each as near as it can be read; the states keep apart."""
    found: dict[str, Rgb] = {}
    for name in STATES:
        found[name] = reduced(texts[name], ColorSystem.EIGHT_BIT, grounds, READABLE, taken=tuple(found.values()))
    others = {
        name: reduced(colour, ColorSystem.EIGHT_BIT, grounds, READABLE)
        for name, colour in texts.items()
        if name not in found
    }
    return found | others


def _try(theme: Theme, css: Mapping[str, str], defaults: Mapping[str, str]) -> None:
    """Raises BadTheme with the variable that the stylesheet does not take."""
    generated = {**defaults, **replace(theme, variables={}).to_color_system().generate()}
    for key in (None, *theme.variables):
        chosen = theme.variables if key is None else {key: theme.variables[key]}
        sheet = Stylesheet(variables={**generated, **chosen})
        for name, text in css.items():
            sheet.add_source(text, read_from=(name, ""))
        try:
            sheet.parse()
        except (StylesheetError, TokenError, ColorParseError, ValueError, KeyError) as error:
            if key is not None or not theme.variables:
                raise BadTheme(key or "name", _short(error)) from error
        else:
            if key is None:
                return


def _parsed(name: str, value: str) -> Color:
    try:
        return Color.parse(value)
    except ColorParseError as error:
        raise BadTheme(name, _short(error)) from error


def _ground(colour: Rgb, system: ColorSystem, *, is_dark: bool) -> Rgb:
    """Of 16 colours only the darkest or the lightest leaves room for others on it."""
    if system is ColorSystem.STANDARD:
        return (0, 0, 0) if is_dark else (255, 255, 255)
    return reduced(colour, system)


def _hex(colour: Rgb) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _short(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__

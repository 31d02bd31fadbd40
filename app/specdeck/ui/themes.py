"""Theme specs into textual themes, each tried before it is registered: a bad one is a problem line, never a dead app."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path

from textual.color import ColorParseError
from textual.css.errors import StylesheetError
from textual.css.stylesheet import Stylesheet
from textual.css.tokenizer import TokenError
from textual.theme import Theme

from specdeck.config import places
from specdeck.config.problems import Problems
from specdeck.config.theme import ThemeSpec, read_themes

DARK, LIGHT = "specdeck-dark", "specdeck-light"
COLOURS = {field.name for field in fields(Theme)} - {"name", "dark", "variables", "luminosity_spread", "text_alpha"}


def found_themes(fleet: Path | None) -> tuple[tuple[ThemeSpec, ...], list[str]]:
    """The themes beside the fleet file, in the XDG folder and the shipped ones, and what is wrong with their files."""
    problems = Problems()
    specs = read_themes(places.folders_of("themes", fleet, os.environ), problems)
    return tuple(specs.values()), [str(problem) for problem in problems.found]


def themes_of(
    specs: Iterable[ThemeSpec], css: Mapping[str, str], defaults: Mapping[str, str]
) -> tuple[list[Theme], list[str]]:
    """The themes that can be applied, and one line for each that cannot. `css` is what must parse, by its name."""
    themes: list[Theme] = []
    problems: list[str] = []
    for spec in specs:
        try:
            theme = _theme(spec)
            _try(theme, css, defaults)
        except (ValueError, KeyError, ColorParseError, StylesheetError, TokenError) as error:
            problems.append(f"{spec.source.name}: theme {spec.name}: {_short(error)}")
        else:
            themes.append(theme)
    return themes, problems


def _theme(spec: ThemeSpec) -> Theme:
    unknown = sorted(set(spec.colors) - COLOURS)
    if unknown:
        raise ValueError(f"colors: {', '.join(unknown)} is not a colour of a theme")
    if "primary" not in spec.colors:
        raise ValueError("colors: primary is missing")
    theme = Theme(name=spec.name, primary=spec.colors["primary"], dark=spec.is_dark, variables=dict(spec.variables))
    for name, value in spec.colors.items():
        setattr(theme, name, value)
    return theme


def _try(theme: Theme, css: Mapping[str, str], defaults: Mapping[str, str]) -> None:
    generated = theme.to_color_system().generate()
    sheet = Stylesheet(variables={**defaults, **generated, **theme.variables})
    for name, text in css.items():
        sheet.add_source(text, read_from=(name, ""))
    sheet.parse()


def _short(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__

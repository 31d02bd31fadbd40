"""Which theme the dashboard wears: the wanted one before the first frame, all others behind it, another one by the picker."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rich.color import ColorSystem
from textual.app import App

from specdeck.config.theme import ThemeSpec
from specdeck.ui.palette import SYSTEMS
from specdeck.ui.remembered import remember_theme
from specdeck.ui.themes import DARK, themes_of


def stylesheets(paths: Iterable[Path]) -> dict[str, str]:
    """What a theme must be good for, by the name of the file."""
    return {str(path): path.read_text("utf-8") for path in paths}


Find = Callable[[str | None], tuple[Sequence[ThemeSpec], Sequence[str]]]
"""The theme of that name, or all (None), and what is wrong with their files."""


class ThemeChoice:
    """Of one dashboard; `tell` gets one line for each theme that cannot be used."""

    def __init__(self, app: App[None], find: Find, tell: Callable[[Sequence[str]], None]) -> None:
        self._app = app
        self._find = find
        self._tell = tell
        self._tried: set[str] = set()
        self._names: list[str] = []
        """What can be worn, of our own and the user's."""

    def wear(self, wanted: str | None) -> None:
        """Apply the wanted theme, or our dark one where that is not to be had."""
        for name in dict.fromkeys((wanted or DARK, DARK)):
            self._register(name)
            if name in self._app.available_themes:
                self._app.theme = name
                return
            self._tell([f"there is no theme {name}; `specdeck themes` lists them"])

    def pick(self) -> None:
        """Let the user see each on the dashboard itself; the choice is kept for the next time."""
        from specdeck.ui.screens.theme_picker import ThemePicker

        self._register(None)
        self._app.push_screen(ThemePicker(self._names, self._app.theme), self._picked)

    def _picked(self, name: str | None) -> None:
        if name is None:
            return
        try:
            remember_theme(name)
        except OSError as error:
            self._tell([f"the theme could not be remembered: {error.strerror}"])

    def _register(self, only: str | None) -> None:
        """This one before the first frame; all others (None) once somebody wants to see them."""
        found, problems = self._find(only)
        self._tell(problems)
        specs = [spec for spec in found if spec.name not in self._tried and only in (None, spec.name)]
        css = stylesheets(self._app.css_path)
        system = ColorSystem.TRUECOLOR  # as pictures are made
        if not self._app.is_headless:
            system = SYSTEMS.get(self._app.console.color_system or "", system)
        defaults = self._app.get_theme_variable_defaults()
        themes, problems = themes_of(specs, css, defaults, system, has_colours=not self._app.no_color)
        for theme in themes:
            self._app.register_theme(theme)
        self._tried |= {spec.name for spec in specs}
        self._names = sorted({*self._names, *(theme.name for theme in themes)})
        self._tell(problems)

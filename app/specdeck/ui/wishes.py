"""What the user wants of the dashboard: options, environment, config.yaml and what was picked before, put together."""

import os
from typing import TypedDict

from specdeck.config.problems import Problems
from specdeck.config.settings import Settings, read_settings
from specdeck.quick_dataclass import replace
from specdeck.ui.remembered import remembered_theme


class Wishes(TypedDict):
    """Arguments of `SpecdeckApp`."""

    theme: str | None
    settings: Settings
    problems: list[str]


def wishes(theme: str | None, *, is_ascii: bool) -> Wishes:
    """The theme by the option, else by `$SPECDECK_THEME`, else the one that was picked last; the rest by config.yaml."""
    settings = read_settings(problems := Problems())
    return Wishes(
        theme=theme or os.environ.get("SPECDECK_THEME") or remembered_theme(),
        settings=replace(settings, is_ascii=True) if is_ascii else settings,
        problems=[str(problem) for problem in problems.found],
    )

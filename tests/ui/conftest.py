"""What all tests of the dashboard share: some hundred dashboards, each at the usual keys for a second."""

from collections.abc import Iterator

import pytest
from tests.ui.resting import until_it_rests
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet


@pytest.fixture(scope="session", autouse=True)
def quick_hand() -> Iterator[None]:
    """No key waits longer than the dashboard works."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("app", "pilot"):
            patch.setattr(f"textual.{module}.wait_for_idle", until_it_rests)
        yield


@pytest.fixture(scope="session", autouse=True)
def styles_are_parsed_once() -> Iterator[None]:
    """Not by each dashboard again; the same text with the same variables is the same rules."""
    parsed: dict[object, list[RuleSet]] = {}
    parse = Stylesheet._parse_rules

    def parse_once(sheet: Stylesheet, css: str, *place: object, **more: object) -> list[RuleSet]:
        key = (css, place, tuple(more.items()), tuple(sheet._variables.items()))
        if key not in parsed:
            parsed[key] = parse(sheet, css, *place, **more)  # type: ignore[arg-type]
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield

"""Every colour of every shipped theme can be read on every ground, as it is and as terminals of 256 and 16 colours show it."""

from pathlib import Path

import pytest
from rich.color import Color as RichColor
from rich.color import ColorSystem
from tests.pictures.scenes import themes
from textual.color import Color
from textual.theme import Theme

from specdeck.config.theme import ThemeSpec
from specdeck.ui.palette import FAINT, READABLE, Rgb, contrast, reduced, shown_as
from specdeck.ui.roles import COLOURS, looks_of
from specdeck.ui.themes import GROUNDS, themes_of

SYSTEMS = (ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT, ColorSystem.STANDARD)
TEXT_ROLES = [*COLOURS, "ready-strong", "starting-strong", "warning-strong", "error-strong", "dim"]
COLOURED = set(TEXT_ROLES) - {"dim"}
"""Of 16 colours green on white has no more than 3 to 1; words and shapes stand beside it."""
APART = (("ready", "error"), ("ready", "warning"), ("ready", "starting"))
NAMES = sorted(spec.name for spec in themes())


def applied(name: str, system: ColorSystem) -> Theme:
    (theme,), problems = themes_of([spec for spec in themes() if spec.name == name], {}, {}, system)
    assert problems == []
    return theme


def rgb(text: str) -> Rgb:
    return Color.parse(text).rgb


def looks(theme: Theme, system: ColorSystem) -> dict[str, Rgb]:
    """Each role as the terminal shows it."""
    variables = {**theme.to_color_system().generate(), **theme.variables}
    styles = looks_of(variables)
    seen: dict[str, Rgb] = {"text": shown_as(rgb(variables["foreground"]), system)}
    for role, style in styles.items():
        if style.color is not None and style.color.triplet is not None:
            seen[role] = shown_as((*style.color.triplet,), system)
    return seen


def grounds(theme: Theme, system: ColorSystem) -> dict[str, Rgb]:
    return {name: shown_as(rgb(theme.to_color_system().generate()[name]), system) for name in GROUNDS}


def test_there_are_at_least_six_and_those_that_were_promised() -> None:
    assert {
        "specdeck-dark", "specdeck-light", "high-contrast", "high-contrast-light", "colour-blind",
        "tokyo-night", "catppuccin", "gruvbox",
    } <= set(NAMES)  # fmt: skip


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name.lower())
@pytest.mark.parametrize("name", NAMES)
def test_every_role_can_be_read_on_every_ground(name: str, system: ColorSystem) -> None:
    theme = applied(name, system)
    seen = looks(theme, system)
    for ground_name, ground in grounds(theme, system).items():
        for role in ("text", *TEXT_ROLES):
            found = contrast(seen[role], ground)
            least = FAINT if system is ColorSystem.STANDARD and role in COLOURED else READABLE
            assert found >= least, f"{role} {seen[role]} on {ground_name} {ground}: {found:.2f}"
        assert contrast(seen["heading"], ground) >= FAINT


@pytest.mark.parametrize("name", ["high-contrast", "high-contrast-light"])
def test_high_contrast_is_seven_to_one(name: str) -> None:
    theme = applied(name, ColorSystem.TRUECOLOR)
    seen = looks(theme, ColorSystem.TRUECOLOR)
    for ground in grounds(theme, ColorSystem.TRUECOLOR).values():
        assert {role: seen[role] for role in ("text", *TEXT_ROLES) if contrast(seen[role], ground) < 7.0} == {}


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name.lower())
@pytest.mark.parametrize("name", NAMES)
def test_well_and_unwell_have_different_colours(name: str, system: ColorSystem) -> None:
    seen = looks(applied(name, system), system)
    assert [(one, other) for one, other in APART if seen[one] == seen[other]] == []


@pytest.mark.parametrize("loss", ["protan", "deutan"])
def test_without_red_or_green_ready_and_trouble_differ_in_the_colour_blind_theme(loss: str) -> None:
    """By the matrices of Vienot, Brettel and Mollon (1999) on linear light."""
    seen = looks(applied("colour-blind", ColorSystem.TRUECOLOR), ColorSystem.TRUECOLOR)
    matrix = {
        "protan": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, -0.0), (0.00401, -0.00401, 1.0)),
        "deutan": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, -0.0), (-0.02234, 0.02234, 1.0)),
    }[loss]

    def as_seen(colour: Rgb) -> tuple[float, ...]:
        linear = [(part / 255) ** 2.2 for part in colour]
        return tuple(
            max(sum(w * part for w, part in zip(row, linear, strict=True)), 0.0) ** (1 / 2.2) for row in matrix
        )

    for trouble in ("error", "warning", "starting"):
        one, other = as_seen(seen["ready"]), as_seen(seen[trouble])
        assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 0.3, trouble


def test_contrast_is_that_of_wcag() -> None:
    """Black on white is 21, and #777777 on white the well known 4.48 that just fails."""
    assert round(contrast((0, 0, 0), (255, 255, 255)), 2) == 21.0
    assert round(contrast((0x77, 0x77, 0x77), (255, 255, 255)), 2) == 4.48


def test_a_reduced_colour_is_one_that_the_terminal_keeps() -> None:
    for system in SYSTEMS[1:]:
        for colour in ((15, 20, 26), (108, 182, 255), (250, 189, 47)):
            found = reduced(colour, system, ((0, 0, 0),))
            assert shown_as(found, system) == found
            assert RichColor.from_rgb(*found).downgrade(system).number is not None


def test_a_dim_theme_of_a_user_is_still_readable_in_16_colours() -> None:
    spec = ThemeSpec(
        "own", True, {"primary": "#333333", "error": "#400000", "background": "#111111"}, {}, Path("own.yaml")
    )
    (theme,), _ = themes_of([spec], {}, {}, ColorSystem.STANDARD)
    seen = looks(theme, ColorSystem.STANDARD)
    assert contrast(seen["error"], grounds(theme, ColorSystem.STANDARD)["background"]) >= FAINT


@pytest.mark.parametrize("name", NAMES)
def test_in_16_colours_text_and_what_stands_back_have_no_colour(name: str) -> None:
    seen = looks(applied(name, ColorSystem.STANDARD), ColorSystem.STANDARD)
    assert [role for role in ("text", "dim", "heading") if len(set(seen[role])) > 1] == []

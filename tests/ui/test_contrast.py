"""Every colour of every shipped theme can be read on every ground, as it is and as terminals of 256 and 16 colours show it."""

import itertools
from pathlib import Path

import pytest
from rich.color import Color as RichColor
from rich.color import ColorSystem
from tests.pictures.scenes import themes
from textual.color import Color
from textual.theme import Theme

from specdeck.config.theme import ThemeSpec
from specdeck.ui.palette import APART, FAINT, READABLE, Rgb, contrast, distance, reduced, shown_as
from specdeck.ui.roles import COLOURS, looks_of
from specdeck.ui.themes import GROUNDS, themes_of

SYSTEMS = (ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT, ColorSystem.STANDARD)
TEXT_ROLES = [*COLOURS, "ready-strong", "starting-strong", "warning-strong", "error-strong", "dim", "heading"]
STATES = ("ready", "starting", "warning", "error")
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
            assert found >= READABLE, f"{role} {seen[role]} on {ground_name} {ground}: {found:.2f}"


@pytest.mark.parametrize("name", ["high-contrast", "high-contrast-light"])
def test_high_contrast_is_seven_to_one(name: str) -> None:
    theme = applied(name, ColorSystem.TRUECOLOR)
    seen = looks(theme, ColorSystem.TRUECOLOR)
    for ground in grounds(theme, ColorSystem.TRUECOLOR).values():
        assert {role: seen[role] for role in ("text", *TEXT_ROLES) if contrast(seen[role], ground) < 7.0} == {}


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name.lower())
@pytest.mark.parametrize("name", NAMES)
def test_no_two_states_have_the_same_colour(name: str, system: ColorSystem) -> None:
    seen = looks(applied(name, system), system)
    least = APART if system is ColorSystem.EIGHT_BIT else 0.05
    pairs = itertools.combinations(STATES, 2)
    assert [(one, other) for one, other in pairs if distance(seen[one], seen[other]) < least] == []


def test_a_difference_is_that_of_oklab() -> None:
    """By the values that its author gives: white is (1, 0, 0), red (0.628, 0.225, 0.126)."""
    assert round(distance((0, 0, 0), (255, 255, 255)), 3) == 1.0
    assert round(distance((0, 0, 0), (255, 0, 0)), 3) == round((0.628**2 + 0.225**2 + 0.126**2) ** 0.5, 3)


@pytest.mark.parametrize("name", NAMES)
def test_a_grey_stays_a_grey_in_256_colours(name: str) -> None:
    """The grounds and texts of all our themes are greys with a tinge, which rich would show as another grey, or lavender."""
    whole = grounds(applied(name, ColorSystem.TRUECOLOR), ColorSystem.TRUECOLOR)
    for ground, colour in grounds(applied(name, ColorSystem.EIGHT_BIT), ColorSystem.EIGHT_BIT).items():
        assert len(set(colour)) == 1, f"{ground} {colour}"
        assert abs(colour[1] - whole[ground][1]) <= 18, f"{ground} {colour} for {whole[ground]}"


TERMINALS = {
    "xterm": "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5 7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff",
    "vga": "000000 aa0000 00aa00 aa5500 0000aa aa00aa 00aaaa aaaaaa 555555 ff5555 55ff55 ffff55 5555ff ff55ff 55ffff ffffff",
    "putty": "000000 bb0000 00bb00 bbbb00 0000bb bb00bb 00bbbb bbbbbb 555555 ff5555 55ff55 ffff55 5555ff ff55ff 55ffff ffffff",
    "tango": "2e3436 cc0000 4e9a06 c4a000 3465a4 75507b 06989a d3d7cf 555753 ef2929 8ae234 fce94f 729fcf ad7fa8 34e2e2 eeeeec",
    "windows": "0c0c0c c50f1f 13a10e c19c00 0037da 881798 3a96dd cccccc 767676 e74856 16c60c f9f1a5 3b78ff b4009e 61d6d6 f2f2f2",
    "macos": "000000 990000 00a600 999900 0000b2 b200b2 00a6b2 bfbfbf 666666 e50000 00d900 e5e500 0000ff e500e5 00e5e5 e5e5e5",
}
"""The 16 colours as these terminals show them unless they are told otherwise."""


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("name", NAMES)
def test_in_16_colours_a_theme_can_be_read_in_the_terminals_of_today(name: str, terminal: str) -> None:
    theme = applied(name, ColorSystem.STANDARD)
    shown = [rgb(f"#{each}") for each in TERMINALS[terminal].split()]

    def in_terminal(colour: Rgb) -> Rgb:
        number = RichColor.from_rgb(*colour).downgrade(ColorSystem.STANDARD).number
        assert number is not None
        return shown[number]

    ground = in_terminal(grounds(theme, ColorSystem.STANDARD)["background"])
    seen = {role: contrast(in_terminal(colour), ground) for role, colour in looks(theme, ColorSystem.STANDARD).items()}
    least = READABLE if terminal in ("xterm", "vga") else FAINT
    assert {role: seen[role] for role in ("text", *COLOURS) if seen[role] < least} == {}
    assert seen["dim"] >= 4.0


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


def test_a_reduced_colour_gives_the_nearest_that_the_terminal_has() -> None:
    """Of 256: the cube has steps of 40 above 95, the greys of 10 above 8."""
    for colour, shown in (
        ((15, 20, 26), (18, 18, 18)),
        ((228, 233, 238), (228, 228, 228)),
        ((108, 182, 255), (95, 175, 255)),
        ((250, 189, 47), (255, 175, 0)),
    ):
        found = reduced(colour, ColorSystem.EIGHT_BIT)
        assert shown_as(found, ColorSystem.EIGHT_BIT) == shown


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

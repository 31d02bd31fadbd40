"""Themes in 16 colours: a terminal has its own idea of each, so only those count that can be read in all of them."""

from collections.abc import Mapping

from specdeck.ui.palette import Rgb

BLACK, WHITE = (0, 0, 0), (255, 255, 255)
RED, BLUE, MAGENTA = (170, 0, 0), (0, 0, 170), (170, 0, 170)
BRIGHT_RED, BRIGHT_GREEN, BRIGHT_YELLOW = (255, 85, 85), (85, 255, 85), (255, 255, 85)
BRIGHT_MAGENTA, BRIGHT_CYAN = (255, 85, 255), (85, 255, 255)
"""In the values of rich's palette, by which it finds their numbers."""
ON_BLACK: Mapping[str, Rgb] = {
    "success": BRIGHT_GREEN,
    "secondary": BRIGHT_YELLOW,
    "warning": BRIGHT_MAGENTA,
    "error": BRIGHT_RED,
    "primary": BRIGHT_CYAN,
    "accent": BRIGHT_CYAN,
}
ON_WHITE: Mapping[str, Rgb] = {
    "success": BLUE,
    "secondary": BLACK,
    "warning": MAGENTA,
    "error": RED,
    "primary": BLUE,
    "accent": BLUE,
}
"""No green, yellow or cyan of any terminal can be read on white."""


def in_sixteen(texts: Mapping[str, Rgb], *, is_dark: bool) -> Mapping[str, Rgb]:
    """The colours of a theme by their names; a theme whose ready is not green keeps that, for eyes that do not see it."""
    if not is_dark:
        return {**texts, **ON_WHITE, "foreground": BLACK}
    _, green, blue = texts["success"]
    return {**texts, **ON_BLACK, "success": BRIGHT_CYAN if blue > green else BRIGHT_GREEN, "foreground": WHITE}

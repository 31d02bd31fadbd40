"""Colours that can be read: WCAG contrast, and the nearest readable colour that a terminal of 256 or 16 colours really shows."""

from collections.abc import Callable
from functools import cache, lru_cache

from rich._palettes import EIGHT_BIT_PALETTE, STANDARD_PALETTE
from rich.color import Color as RichColor
from rich.color import ColorSystem

Rgb = tuple[int, int, int]
READABLE = 4.5
"""WCAG 2.2, 1.4.3: text."""
FAINT = 3.0
GREYEST = 32
"""What stands back on purpose, and bars: 1.4.11."""
SYSTEMS = {"standard": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}
"""By the names of rich's consoles."""
PALETTES = {ColorSystem.STANDARD: STANDARD_PALETTE, ColorSystem.EIGHT_BIT: EIGHT_BIT_PALETTE}


def contrast(one: Rgb, other: Rgb) -> float:
    """From 1 (the same) to 21 (black on white), as WCAG 2.2 defines it."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Rgb) -> float:
    red, green, blue = (_linear(part / 255) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


@lru_cache(maxsize=1024)
def shown_as(colour: Rgb, system: ColorSystem) -> Rgb:
    """What the terminal makes of it: rich's own choice, in the usual values of its palette."""
    reduced = RichColor.from_rgb(*colour).downgrade(system)
    if reduced.number is None:
        return colour
    red, green, blue = PALETTES[system][reduced.number]
    return red, green, blue


@lru_cache(maxsize=1024)
def reduced(colour: Rgb, system: ColorSystem, grounds: tuple[Rgb, ...] = (), least: float = 1.0) -> Rgb:
    """The nearest colour that such a terminal has and that is readable on all these grounds; else the most readable one."""
    wanted = _without_grey(colour) if system is ColorSystem.STANDARD else colour
    shown = {ground: shown_as(ground, system) for ground in grounds}

    def legible(candidate: Rgb) -> float:
        return min((contrast(candidate, ground) for ground in shown.values()), default=21.0)

    def distance(candidate: Rgb) -> float:
        return sum(weight * (one - other) ** 2 for weight, one, other in zip((3, 4, 2), wanted, candidate, strict=True))

    if system is ColorSystem.TRUECOLOR:
        return colour if legible(colour) >= least else _towards_legible(colour, legible, least)
    candidates = [each for each in _palette(system) if legible(each) >= least] or [max(_palette(system), key=legible)]
    return min(candidates, key=distance)


def _without_grey(colour: Rgb) -> Rgb:
    """A pastel as the strong colour that it is made of: the nearest of 16 would be grey."""
    high, low = max(colour), min(colour)
    if high - low < GREYEST:
        return colour
    red, green, blue = (round((part - low) * high / (high - low)) for part in colour)
    return red, green, blue


def _towards_legible(colour: Rgb, legible: Callable[[Rgb], float], least: float) -> Rgb:
    end = max(((0, 0, 0), (255, 255, 255)), key=legible)
    steps = (blended(colour, end, share / 20) for share in range(1, 21))
    return next((step for step in steps if legible(step) >= least), end)


def blended(one: Rgb, other: Rgb, share: float) -> Rgb:
    """Some of the way from one to the other."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


@cache
def _palette(system: ColorSystem) -> tuple[Rgb, ...]:
    """The colours that rich keeps as they are; of 256 without the first 16, which every terminal has another idea of."""
    first, size = (0, 16) if system is ColorSystem.STANDARD else (16, 256)
    every: list[Rgb] = []
    for number in range(first, size):
        red, green, blue = PALETTES[system][number]
        every.append((red, green, blue))
    return tuple(each for each in every if shown_as(each, system) == each)

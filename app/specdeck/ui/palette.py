"""Colours that can be read: WCAG contrast, and the nearest readable colour that a terminal of 256 or 16 colours really shows."""

from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from rich._palettes import EIGHT_BIT_PALETTE, STANDARD_PALETTE
from rich.color import Color as RichColor
from rich.color import ColorSystem

Rgb = tuple[int, int, int]
READABLE = 4.5
"""WCAG 2.2, 1.4.3: text."""
FAINT = 3.0
"""What stands back on purpose, and bars: 1.4.11."""
APART = 0.07
"""Two states look different from here on (Oklab)."""
LIGHTNESS = 0.2
"""How much it counts beside the hue: a dark orange is rather a dark brown than a red of the same lightness."""
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
def reduced(
    colour: Rgb, system: ColorSystem, grounds: tuple[Rgb, ...] = (), least: float = 1.0, *, taken: tuple[Rgb, ...] = ()
) -> Rgb:
    """What gives the nearest colour of such a terminal that is readable on all these grounds, else the most readable one.

    `taken`: what it must not be taken for, as long as there is something else.
    """
    shown = {ground: shown_as(ground, system) for ground in grounds}
    others = [shown_as(each, system) for each in taken]

    def legible(candidate: Rgb) -> float:
        return min((contrast(candidate, ground) for ground in shown.values()), default=21.0)

    if system is ColorSystem.TRUECOLOR:
        return colour if legible(colour) >= least else _towards_legible(colour, legible, least)
    palette = _palette(system)
    readable = [each for each in palette if legible(each) >= least] or [max(palette, key=legible)]
    free = [each for each in readable if all(distance(each, other) >= APART for other in others)]
    return palette[min(free or readable, key=lambda each: distance(each, colour, lightness=LIGHTNESS))]


def distance(one: Rgb, other: Rgb, *, lightness: float = 1.0) -> float:
    """How different they look: Oklab (Ottosson, 2020), black to white is 1."""
    weights = (lightness, 1.0, 1.0)
    return float(sum(w * (a - b) ** 2 for w, a, b in zip(weights, _oklab(one), _oklab(other), strict=True)) ** 0.5)


@lru_cache(maxsize=2048)
def _oklab(colour: Rgb) -> tuple[float, float, float]:
    red, green, blue = (_linear(part / 255) for part in colour)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def _towards_legible(colour: Rgb, legible: Callable[[Rgb], float], least: float) -> Rgb:
    end = max(((0, 0, 0), (255, 255, 255)), key=legible)
    steps = (blended(colour, end, share / 20) for share in range(1, 21))
    return next((step for step in steps if legible(step) >= least), end)


def blended(one: Rgb, other: Rgb, share: float) -> Rgb:
    """Some of the way from one to the other."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


@cache
def _palette(system: ColorSystem) -> Mapping[Rgb, Rgb]:
    """What such a terminal shows, and what to ask for: rich takes most greys for others.

    Of 256 without the first 16, which every terminal has another idea of.
    """
    first, size = (0, 16) if system is ColorSystem.STANDARD else (16, 256)
    greys = {shown_as((part, part, part), system): (part, part, part) for part in range(256)}
    every = (PALETTES[system][number] for number in range(first, size))
    return greys | {(r, g, b): (r, g, b) for r, g, b in every if shown_as((r, g, b), system) == (r, g, b)}

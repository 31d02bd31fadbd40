"""A list to choose from. Textual's own raises KeyError for a page up or down that comes before it is laid out."""

from contextlib import suppress
from typing import Literal

from textual.widgets import OptionList


class Options(OptionList):
    """A key that comes too early moves nothing."""

    def _move_page(self, direction: Literal[-1, 1]) -> None:
        with suppress(KeyError):
            super()._move_page(direction)

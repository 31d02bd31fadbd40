"""Table columns that share a width: the least important ones give way, the elastic ones take what is left."""

from collections.abc import Sequence

from specdeck.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    key: str
    title: str
    width: int
    most: int = 0
    """May grow up to this width; 0: fixed."""
    rank: int = 0
    """The highest rank is dropped first; 0: never."""
    is_number: bool = False


def shared_out(columns: Sequence[Column], width: int) -> dict[str, int]:
    """The width of each column that is shown, with one blank between two."""
    shown = list(columns)
    while _needs(shown) > width and any(column.rank for column in shown):
        shown.remove(max(shown, key=lambda column: column.rank))
    widths = {column.key: column.width for column in shown}
    spare = width - _needs(shown)
    while spare > 0 and (elastic := [c for c in shown if c.most > widths[c.key]]):
        for column in elastic[:spare]:
            widths[column.key] += 1
            spare -= 1
    return widths


def _needs(columns: Sequence[Column]) -> int:
    return sum(column.width for column in columns) + max(len(columns) - 1, 0)

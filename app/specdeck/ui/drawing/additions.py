"""What an addition to the files looks like before it is written, and what is wrong with files."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specdeck.ui.drawing.spans import Row, clean, wrapped
from specdeck.ui.screens.chooser import Choice

if TYPE_CHECKING:
    from specdeck.engines.recovery import Recovered
    from specdeck.services.fleet_file import FileChange

BLANK: Row = (("", ""),)


def difference_rows(changes: "Sequence[FileChange]", notes: Sequence[str], width: int) -> list[Row]:
    """Each file with what comes into it, then what could not be recovered."""
    rows: list[Row] = []
    for change in changes:
        rows += [BLANK] if rows else []
        rows.append(((str(change.path), "title"), ("  new" if change.old is None else "", "dim")))
        for line in change.difference.splitlines()[2:]:
            if not line.startswith("@@"):
                rows.append(
                    (
                        (
                            clean(line),
                            "ready-strong" if line.startswith("+") else "error" if line.startswith("-") else "dim",
                        ),
                    )
                )
    told = [
        (("· " if at == 0 else "  ") + line, "warning")
        for note in notes
        for at, line in enumerate(wrapped(note, width - 2))
    ]
    return [*rows, *([BLANK] if told else []), *((span,) for span in told)]


def problem_rows(text: str, width: int) -> list[Row]:
    """One problem a paragraph, its place first."""
    rows: list[Row] = []
    for problem in text.split("\n"):
        rows += [((line, "error" if at == 0 else ""),) for at, line in enumerate(wrapped(problem, width, most=4))]
    return rows


def stranger_choice(key: str, seen: "Recovered") -> Choice:
    """A server that was found and stands in no file."""
    server = seen.server
    words = seen.nearest.words if seen.nearest is not None else seen.profile.engine
    row: Row = (
        ("adopt ", "accent"),
        (f"{server.name}  ", ""),
        (f"{server.host}:{server.port}  ", "dim"),
        (words, ""),
    )

    def detail(width: int) -> list[Row]:
        told: list[Row] = [((f"model {server.model}", ""),)]
        told += [((line, "warning"),) for note in seen.notes for line in wrapped(note, width, most=2)]
        return told

    return Choice(key, row, f"adopt {server.name} {server.host} {server.port} {words}", detail)

"""What an addition to the files looks like before it is written, and what is wrong with files."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specdeck.ui.drawing.spans import Row, clean, wrapped

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


def stranger_row(seen: "Recovered") -> Row:
    """`adopt kimi  lab:30001  eagle3-v1, but topk 8`: a server that was found and stands in no file."""
    server = seen.server
    words = seen.nearest.words if seen.nearest is not None else seen.profile.engine
    place = f"{server.host}:{server.port}  "
    return ("adopt ", "accent"), (f"{server.name}  ", ""), (place, "dim"), (words, "")


def stranger_detail(seen: "Recovered", width: int) -> list[Row]:
    """Its model, and what could not be recovered."""
    told: list[Row] = [((f"model {seen.server.model}", ""),)]
    return told + [((line, "warning"),) for note in seen.notes for line in wrapped(note, width, most=2)]

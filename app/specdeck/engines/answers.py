"""Reads what any engine's endpoint may answer: JSON of unknown shape, sums over label sets. Never raises on content."""

import json
from collections.abc import Iterable, Mapping, Sequence

from specdeck.parsing.prometheus import Sample


def parsed(body: bytes) -> object:
    """The JSON of a body; None if it is none."""
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value


def mapping(body: bytes) -> Mapping[str, object]:
    """The JSON object of a body; empty if it is none."""
    value = parsed(body)
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[dict[str, object]]:
    """The objects of a list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def number(value: object) -> float | None:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None


def integer(value: object) -> int | None:
    """A whole number."""
    found = number(value)
    return None if found is None else int(found)


def text(value: object) -> str | None:
    """A string that says something."""
    return value if isinstance(value, str) and value else None


def mean(values: Iterable[float]) -> float | None:
    """The average; None of nothing."""
    found = list(values)
    return sum(found) / len(found) if found else None


def labelled_sum(found: Sequence[Sample]) -> tuple[float | None, str]:
    """A counter summed over its label sets, and which sets those were."""
    if not found:
        return None, ""
    names = sorted(
        f"{sample.name}{{{','.join(f'{key}={value}' for key, value in sorted(sample.labels.items()))}}}"
        for sample in found
    )
    return sum(sample.value for sample in found), ";".join(names)

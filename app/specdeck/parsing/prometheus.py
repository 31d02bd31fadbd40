"""A Prometheus text exposition into the few samples that somebody asked for; it never raises on content."""

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from prometheus_client.parser import text_string_to_metric_families

from specdeck.quick_dataclass import dataclass

_SAMPLE = re.compile(r"[ \t]*([^\s{}]+(?:\{.*\})?)[ \t]+([+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)[ \t]*", re.ASCII)
"""A series and its value, without time stamp and exemplar."""
_LONGEST_SERIES = 512
_LONGEST_LINE = 4096
"""Bytes; a longer line is no metric of an engine, and the parser's time grows with its square."""
_BROKEN = (ValueError, IndexError, OverflowError)
"""What the parser raises on lines that are cut or made up."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of one label set. Always a finite number: NaN and infinities say nothing and are left out."""

    name: str
    labels: Mapping[str, str]
    value: float


def samples(body: bytes, wanted: frozenset[str]) -> tuple[Sample, ...]:
    """The samples whose full name (`..._total`, `..._bucket`) is wanted, in their order; broken lines are left out."""
    starts = tuple(name.encode() for name in wanted)
    lines = [line.decode("utf-8", "replace") for line in _lines_that_begin(body, starts)]
    found = (sample for line in lines for sample in _read(line))
    return tuple(sample for sample in found if sample.name in wanted)


def _lines_that_begin(body: bytes, starts: tuple[bytes, ...]) -> Iterator[bytes]:
    """The lines that may be wanted: a comparison each, before anything costs more."""
    for line in body.split(b"\n"):
        if line.lstrip(b" \t").startswith(starts) and len(line) <= _LONGEST_LINE:
            yield line.rstrip(b"\r")


def _read(line: str) -> tuple[Sample, ...]:
    """A page has the same series each time, so most of a line is known from the last one."""
    match = None if "#" in line else _SAMPLE.fullmatch(line)
    if match is None or len(match[1]) > _LONGEST_SERIES:
        return _parse_or_nothing(line)
    series, value = _series(match[1]), float(match[2])
    return (Sample(series.name, series.labels, value),) if series and math.isfinite(value) else ()


@lru_cache(maxsize=8192)
def _series(text: str) -> Sample | None:
    """A series as a sample of 0; None: it is broken."""
    return next(iter(_parse_or_nothing(f"{text} 0")), None)


def _parse_or_nothing(line: str) -> tuple[Sample, ...]:
    try:
        return tuple(_parse(line))
    except _BROKEN:
        return ()


def _parse(text: str) -> Iterator[Sample]:
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if math.isfinite(sample.value):
                yield Sample(sample.name, sample.labels, float(sample.value))

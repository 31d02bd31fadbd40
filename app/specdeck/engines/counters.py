"""Takes the counters of a metrics page that are read as differences: histograms, cache hits, accepted drafts."""

from collections.abc import Mapping, Sequence

from specdeck.parsing.prometheus import Sample
from specdeck.state.serving import CounterKey, CounterName

MOST_POSITIONS = 64
_PARTS = ("le", "position")


def page_of(found: Sequence[Sample], names: Mapping[str, CounterName]) -> dict[CounterKey, float]:
    """`names`: what a metric's full name counts. A name that two metrics of a page share is that of the first found."""
    chosen: dict[CounterName, str] = {}
    page: dict[CounterKey, float] = {}
    for sample in found:
        name = names.get(sample.name)
        if name is None or chosen.setdefault(name, sample.name) != sample.name:
            continue
        key = CounterKey(name, _series(sample), _part(sample))
        if name != "accepted_at" or (key.part.isdecimal() and int(key.part) < MOST_POSITIONS):
            page[key] = sample.value
    return page


def _series(sample: Sample) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(sample.labels.items()) if key not in _PARTS)


def _part(sample: Sample) -> str:
    return next((sample.labels[part] for part in _PARTS if part in sample.labels), "")

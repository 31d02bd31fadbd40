"""specdeck's words beside the observer's: how many seconds they differ, and what must never happen.

`python -m tests.gpu.report FOLDER [SERVER]`.

The folder holds `watch.jsonl` (status --watch --json), `observer.tsv`, `stages.tsv` and, where there was load, `load.tsv`.
"""

import json
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from tests.gpu.words import CLEAR_MIB, Asked, Row, Said, read_rows, words_of

GRACE_SECONDS = 1.0
STEP_SECONDS = 0.1
HOLDS_SECONDS = 5.0
DYING_SECONDS = 30.0
LEAST_TOKENS = 500
"""In a window: with fewer, the moment at which a counter is read decides."""
WINDOW_SECONDS = 10.0
LATE_SECONDS = 3.0
"""Between the moment at which specdeck read the counter and the one at which it tells of it."""
HALTS = ("SIGSTOP", "SIGCONT")
STOPPING = ("stop", "pivot", "relaunch")


@dataclass(frozen=True, slots=True)
class Sample:
    """One server in one object of `status --watch --json`."""

    at: float
    word: str
    eta_seconds: float | None
    tok_s: float | None
    phase: str | None
    profile: str | None


@dataclass(frozen=True, slots=True)
class Difference:
    """A stretch in which the words differ."""

    begin: float
    seconds: float
    said: str
    right: str


@dataclass
class Report:
    """What came out."""

    seconds: float = 0.0
    differences: list[Difference] = field(default_factory=list)
    false_ready: list[float] = field(default_factory=list)
    early_launches: list[float] = field(default_factory=list)
    etas: list[tuple[str, float, float, float]] = field(default_factory=list)
    """(profile, length of the start, ETA at its half, what was left), seconds."""
    rates: list[tuple[float, float]] = field(default_factory=list)
    """(specdeck's tok/s, the engine's counter's)."""
    decoys_lost: int | None = None
    cost: tuple[float, float, float] | None = None
    """Processes, CPU seconds and bytes, each a minute."""

    @property
    def differing_seconds(self) -> float:
        """Of all differences."""
        return sum(each.seconds for each in self.differences)

    @property
    def rate_error_percent(self) -> float | None:
        """The median difference of tok/s, in percent of the engine's counter."""
        errors = [abs(said - counted) / counted * 100 for said, counted in self.rates if counted > 0]
        return median(errors) if errors else None


def read_samples(path: Path, server: str | None = None) -> list[Sample]:
    """The named server, or the first one."""
    return [sample for line in path.read_text().splitlines() if (sample := _sample(line, server)) is not None]


def _sample(line: str, server: str | None) -> Sample | None:
    try:
        told: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    found = next((each for each in told["servers"] if server in (None, each["name"])), None)
    if found is None:
        return None
    phase = (found.get("phase") or {}).get("name")
    rate = found.get("throughput_tok_s")
    return Sample(told["at"], found["state"], found.get("eta_ready_seconds"), rate, phase, found.get("profile"))


def read_asked(path: Path) -> list[Asked]:
    """Lines of `stages.tsv`: time, tab, words; those that ask for a stop, also as a part of a pivot."""
    lines = [line.split("\t", 1) for line in path.read_text().splitlines() if "\t" in line]
    stops = [Asked(float(at), "stop") for at, words in lines if any(word in words.split() for word in STOPPING)]
    return [*stops, *(Asked(float(at), words.split()[0]) for at, words in lines if words.startswith(HALTS))]


def read_load(path: Path) -> list[tuple[float, int, int]]:
    """(time, requests open, tokens so far); empty where there was no load."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [(float(at), int(opened), int(tokens)) for at, opened, tokens in (line.split("\t") for line in lines)]


def compare(
    samples: Sequence[Sample], rows: Sequence[Row], asked: Sequence[Asked], load: Sequence[tuple[float, int, int]] = ()
) -> Report:
    """All figures of one run."""
    said = words_of(rows, asked, load)
    report = Report()
    if not said:
        return report
    times = [each.at for each in said]
    explained = {"unhealthy": _dying(said), "stalled": _halted(asked), "blocked": _robbed(rows)}
    samples = [sample for sample in samples if times[0] <= sample.at <= times[-1]]
    for at, sample in _moments(samples):
        report.seconds += STEP_SECONDS
        near = said[max(bisect_right(times, at - GRACE_SECONDS) - 1, 0) : bisect_right(times, at + GRACE_SECONDS)]
        right = frozenset[str]().union(*(each.words for each in near))
        is_explained = any(begin <= at <= end for begin, end in explained.get(sample.word, ()))
        if near and sample.word not in right and not is_explained:
            _add(report.differences, at, sample.word, " or ".join(sorted(right)))
            if sample.word == "ready" and sample.at not in report.false_ready:
                report.false_ready.append(sample.at)
    report.early_launches = list(_early_launches(rows, said))
    report.etas = list(_etas(samples, said))
    report.rates = list(_rates(samples, rows, load))
    decoys = [row.decoys for row in rows if row.decoys is not None]
    report.decoys_lost = decoys[0] - decoys[-1] if decoys else None
    return report


def _moments(samples: Sequence[Sample]) -> Iterator[tuple[float, Sample]]:
    """What was said holds until something else is said, but not for ever."""
    for sample, following in zip(samples, [*samples[1:], None], strict=False):
        end = min(following.at if following else sample.at, sample.at + HOLDS_SECONDS)
        for step in range(round((end - sample.at) / STEP_SECONDS)):
            yield sample.at + step * STEP_SECONDS, sample


def _dying(said: Sequence[Said]) -> list[tuple[float, float]]:
    """The last seconds of a start that then crashed: specdeck reads the log and may call it unhealthy; the observer cannot."""
    ends = [later.at for now, later in pairwise(said) if "crashed" in later.words - now.words]
    return [(end - DYING_SECONDS, end + GRACE_SECONDS) for end in ends]


def _halted(asked: Sequence[Asked]) -> list[tuple[float, float]]:
    """While the driver held the scheduler still: specdeck reads its state, the observer waits for the tokens."""
    begins = [each.at for each in asked if each.what == HALTS[0]]
    ends = [each.at for each in asked if each.what == HALTS[1]]
    return [(begin, end + GRACE_SECONDS) for begin, end in zip(begins, ends, strict=False)]


def _robbed(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """While somebody else listened on the port, of which the observer has no word."""
    thieves = [row.at for row in rows if row.owner > 0 and not row.is_own]
    return [(at, at + 2 * GRACE_SECONDS) for at in thieves]


def _add(differences: list[Difference], at: float, word: str, right: str) -> None:
    last = differences[-1] if differences else None
    if last and (last.said, last.right) == (word, right) and at - last.begin - last.seconds < 2 * STEP_SECONDS:
        differences[-1] = Difference(last.begin, last.seconds + STEP_SECONDS, word, right)
    else:
        differences.append(Difference(at, STEP_SECONDS, word, right))


def _early_launches(rows: Sequence[Row], said: Sequence[Said]) -> Iterator[float]:
    """A run that began before the memory of the one before was back."""
    free = rows[0].mem_mib if rows else None
    memory = {row.at: row.mem_mib for row in rows}
    for before, after in pairwise(said):
        held = memory.get(after.at)
        if after.run > before.run and held is not None and held > (free or 0) + CLEAR_MIB:
            yield after.at


def _etas(samples: Sequence[Sample], said: Sequence[Said]) -> Iterator[tuple[str, float, float, float]]:
    """Of each start that came to ready: what specdeck said at its half."""
    begins: dict[int, float] = {}
    ready: dict[int, float] = {}
    for each in said:
        if "starting" in each.words:
            begins.setdefault(each.run, each.at)
        elif "ready" in each.words and each.run in begins:
            ready.setdefault(each.run, each.at)
    for run, at in ready.items():
        half = begins[run] + (at - begins[run]) / 2
        sample = min(samples, key=lambda each: abs(each.at - half), default=None)
        if sample is not None and sample.eta_seconds is not None:
            yield sample.profile or "?", at - begins[run], sample.eta_seconds, at - sample.at


def _rates(
    samples: Sequence[Sample], rows: Sequence[Row], load: Sequence[tuple[float, int, int]]
) -> Iterator[tuple[float, float]]:
    """While the same load lasted: the two windows are not the same one, and between them a load that changes has changed."""
    loaded = [at for at, _, _ in load]
    counts = sorted({row.tokens[::-1] for row in rows if row.tokens is not None})
    times = [at for at, _ in counts]
    for sample in samples:
        begin, end = bisect_left(times, sample.at - WINDOW_SECONDS), bisect_right(times, sample.at) - 1
        first = bisect_left(loaded, sample.at - WINDOW_SECONDS - LATE_SECONDS)
        opened = {each[1] for each in load[first : bisect_right(loaded, sample.at)]}
        is_steady = len(opened) == 1 and 0 not in opened and loaded[first] < sample.at - WINDOW_SECONDS
        if (
            sample.word != "ready"
            or not sample.tok_s
            or not is_steady
            or begin >= end
            or times[end] - times[begin] < WINDOW_SECONDS * 0.7
        ):
            continue
        spell = counts[begin : end + 1]
        steps = [later[1] - earlier[1] for earlier, later in pairwise(spell)]
        if all(step > 0 for step in steps) and sum(steps) >= LEAST_TOKENS:
            yield sample.tok_s, sum(steps) / (spell[-1][0] - spell[0][0])


def _cost(rows: Sequence[Row]) -> tuple[float, float, float] | None:
    told = [(row.at, row.guests) for row in rows if row.guests is not None]
    if len(told) < 2 or told[-1][0] - told[0][0] < 1:
        return None
    minutes = (told[-1][0] - told[0][0]) / 60
    first, last = told[0][1], told[-1][1]
    return ((last[0] - first[0]) / minutes, (last[1] - first[1]) / minutes, (last[2] - first[2]) / minutes)


def lines_of(report: Report) -> Iterator[str]:
    """The report for people."""
    share = report.differing_seconds / report.seconds * 100 if report.seconds else 0.0
    yield f"watched {report.seconds:.0f} s, words differ for {report.differing_seconds:.1f} s ({share:.2f} %; goal 0.1 %)"
    for each in report.differences:
        yield f"  at {each.begin:.0f} for {each.seconds:.1f} s: specdeck said {each.said}, the observer {each.right}"
    yield f"false ready: {len(report.false_ready)} (goal 0)"
    yield f"launched before the memory was back: {len(report.early_launches)} (goal 0)"
    lost = "not watched" if report.decoys_lost is None else str(report.decoys_lost)
    yield f"strangers that a signal ended: {lost} (goal 0)"
    for profile, length, eta, left in report.etas:
        yield (
            f"start of {profile}, {length:.0f} s: at its half ETA {eta:.0f} s, left {left:.0f} s,"
            f" {abs(eta - left) / length * 100:.0f} % of the start (goal 10 %)"
        )
    error = report.rate_error_percent
    counted = (
        "no counter was read under load" if error is None else f"{error:.1f} % (goal 3 %), {len(report.rates)} looks"
    )
    yield f"tok/s beside the engine's counter: {counted}"
    if report.cost is not None:
        yield "cost on the host, a minute: {:.1f} processes, {:.2f} s CPU, {:,.0f} bytes".format(*report.cost)


def report_of(folder: Path, server: str | None = None) -> Report:
    """From the files of one run."""
    rows = read_rows(folder / "observer.tsv")
    asked = read_asked(folder / "stages.tsv")
    report = compare(read_samples(folder / "watch.jsonl", server), rows, asked, read_load(folder / "load.tsv"))
    report.cost = _cost([row for begin, end in _rests(folder / "stages.tsv") for row in rows if begin <= row.at <= end])
    return report


def _rests(path: Path) -> list[tuple[float, float]]:
    """When only the watching went on: at other times the driver's own calls are among the guests of its sshd."""
    stages = [line.split("\t", 1) for line in path.read_text().splitlines() if "\t" in line]
    return [(float(now[0]) + 2, float(later[0])) for now, later in pairwise(stages) if now[1] == "rest"]


if __name__ == "__main__":
    for said_line in lines_of(report_of(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)):
        print(said_line)

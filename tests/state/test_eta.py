"""When a start will be ready, by earlier starts of its kind; three real starts on an H200 are played again."""

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from specdeck.engines.reader import LogReader
from specdeck.state.eta import Eta, eta_of, eta_words, share_of, starts_of_its_kind
from specdeck.state.log_story import LogStory, Phase, PhaseSpan, Progress
from specdeck.state.snapshot import Evidence, RunIdentity, ServerState, Word
from specdeck.state.starts import PastStart, lengths

CAPTURES = Path(__file__).parents[1] / "captures" / "sglang_h200"
_STAMP = re.compile(rb"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\]")
PHASES = (("import", 10.0), ("weights", 20.0), ("graphs", 60.0), ("http", 10.0))


def start(run: str = "0001", at: float = 100.0, **changes: object) -> PastStart:
    known = PastStart("kimi", run, "/m", "v2", "sglang", "0.5.12", "boot-1", at, PHASES, is_cold=False)
    return replace(known, **changes)  # type: ignore[arg-type]


FIRST_OF_THE_BOOT = start("0000", 1.0, profile="none", is_cold=True)
"""Whatever runs after it is warm."""


def server(*starts: PastStart, story: LogStory | None = None, began: float = 1000.0) -> ServerState:
    return ServerState(
        "kimi", "lab", 30000, "sglang",
        profile="v2", run=RunIdentity("0009", 7, 7, "boot-1", profile="v2", started_at=began), word=Word.STARTING,
        past_starts=(*starts, FIRST_OF_THE_BOOT), is_seen_from_start=True, evidence=Evidence(story=story),
    )  # fmt: skip


def in_phase(*spans: PhaseSpan, progress: Progress | None = None) -> LogStory:
    """The log's first stamp was written at 1010."""
    return LogStory("sglang", phase=Phase("weights", 2, 4), phases=spans, progress=progress, zero_at=1010.0)


def seconds(server: ServerState, at: float) -> float | None:
    eta = eta_of(server, at)
    return None if eta is None else eta.seconds


def test_without_an_earlier_start_nothing_is_guessed() -> None:
    assert eta_of(server(), 1005.0) is None


def test_before_the_log_begins_it_is_the_usual_length_less_what_has_passed() -> None:
    assert seconds(server(start()), 1004.0) == 96.0


def test_inside_a_phase_the_rest_of_it_and_all_later_ones_count() -> None:
    story = in_phase(PhaseSpan("import", None, 0.0), PhaseSpan("weights", 0.0, 20.0), PhaseSpan("graphs", 20.0))
    # graphs began at 1030 and take 60 s, http 10 s
    assert seconds(server(start(), story=story), 1050.0) == 50.0
    assert seconds(server(start(), story=story), 1200.0) == 10.0


def test_a_bar_of_two_steps_tells_the_pace_of_this_load() -> None:
    bar = Progress("target weights", 16, 64, 25.0, rate=0.4, eta_seconds=120.0)
    story = in_phase(PhaseSpan("import", None, 0.0), PhaseSpan("weights", 0.0), progress=bar)
    assert seconds(server(start(), story=story), 1050.0) == 190.0
    first = replace(bar, done=1, percent=1.6, eta_seconds=None)
    story = in_phase(PhaseSpan("import", None, 0.0), PhaseSpan("weights", 0.0), progress=first)
    assert seconds(server(start(), story=story), 1015.0) == 85.0


def test_the_median_of_earlier_starts_counts_not_the_one_that_was_slow() -> None:
    slow = start("0002", 200.0, phases=(("import", 10.0), ("weights", 900.0), ("graphs", 60.0), ("http", 10.0)))
    assert seconds(server(start(), slow, start("0003", 300.0)), 1000.0) == 100.0


def test_other_profiles_and_versions_say_nothing() -> None:
    others = (start(profile="v1"), start("0002", engine_version="0.5.11"))
    assert eta_of(replace(server(*others), engine_version="0.5.12"), 1001.0) is None
    known = replace(server(*others, start("0003", 300.0)), engine_version="0.5.12")
    assert [each.run for each in starts_of_its_kind(known)] == ["0003"]


def test_a_cold_start_is_compared_with_cold_ones() -> None:
    cold = start("0002", 200.0, boot_id="boot-0", is_cold=True, phases=(("import", 18.0), ("weights", 75.0)))
    first = replace(server(start(boot_id="boot-0"), cold), run=RunIdentity("0009", 7, 7, "boot-2", started_at=1000.0))
    assert [each.run for each in starts_of_its_kind(first)] == ["0002"]
    warm = server(start("0003", 150.0), cold)
    assert [each.run for each in starts_of_its_kind(warm)] == ["0003"]


def test_a_server_that_is_ready_has_no_eta_and_is_never_whole_before() -> None:
    ready = replace(server(start()), word=Word.READY)
    assert eta_of(ready, 1005.0) is None
    eta = eta_of(server(start()), 1025.0)
    assert share_of(server(start()), eta, 1025.0) == pytest.approx(25 / 115)


def test_the_words_name_the_starts_that_the_estimate_rests_on() -> None:
    at = datetime(2026, 1, 5, 14, 10, 1).timestamp()
    assert eta_words(Eta(470.0, at, (510.0, 498.0, 505.0, 700.0))) == (
        "ready in about 7m50s (at 14:10:01; last three starts 8m30s 8m18s 8m25s)"
    )
    assert eta_words(Eta(47.0, at, (51.0,))) == "ready in about 47 s (at 14:10:01; last start 51 s)"


def test_what_is_at_rest_or_has_no_run_has_no_starts_of_its_kind() -> None:
    assert starts_of_its_kind(replace(server(start()), run=None)) == ()
    assert eta_of(replace(server(start()), word=Word.STOPPED), 1001.0) is None


def test_starts_of_which_only_later_phases_are_known_count_from_there() -> None:
    """A colleague's record may lack the import: then the sum of what is known is all there is."""
    known = start(phases=(("weights", 20.0), ("graphs", 60.0)))
    assert seconds(server(known), 1003.0) == 80.0
    assert seconds(server(known, story=in_phase(PhaseSpan("kv_cache", 3.0))), 1020.0) is None


def test_a_phase_whose_begin_the_log_does_not_tell_counts_whole() -> None:
    story = replace(in_phase(PhaseSpan("import", None, 0.0), PhaseSpan("weights", 0.0)), zero_at=None)
    assert seconds(server(start(), story=story), 1015.0) == 90.0


def test_a_late_reader_takes_the_begin_of_the_log_no_later_than_usual() -> None:
    """It read the first stamp at 1300, when all of it had long been written."""
    late = replace(in_phase(PhaseSpan("import", None, 0.0), PhaseSpan("weights", 0.0)), zero_at=1300.0)
    found = replace(server(start(), story=late), is_seen_from_start=False)
    assert seconds(found, 1015.0) == 85.0  # the import is usually over at 1010, so 5 of 20 s have passed


def test_the_share_of_a_start_needs_its_begin_and_its_length() -> None:
    assert share_of(server(start()), None, 1010.0) is None
    assert share_of(server(start()), Eta(30.0, 1040.0, (40.0,)), 1010.0) == 0.25


def timed(name: str) -> tuple[float, list[tuple[float, bytes]]]:
    """The lines of a log with the times of their stamps, and the time of the first."""
    rows: list[tuple[float, bytes]] = []
    first: float | None = None
    now = 0.0
    for line in (CAPTURES / name / "server.log").read_bytes().splitlines(keepends=True):
        if (stamp := _STAMP.match(line)) is not None:
            now = datetime.fromisoformat(stamp[1].decode()).timestamp()
            first = now if first is None else first
        rows.append((now, line))
    assert first is not None
    return first, [(at or first, line) for at, line in rows]


SPAWN_TO_FIRST_STAMP = {"eagle3_v2": 9.0, "eagle3_v1": 9.0, "eagle3_v1_b": 9.0}
"""Seconds, by eye from the first lines and the recorded time of the launch."""


def past(name: str, run: str) -> PastStart:
    first, rows = timed(name)
    reader = LogReader("sglang")
    for at, line in rows:
        reader.feed(line, at)
    importing = SPAWN_TO_FIRST_STAMP[name]
    return start(run, first - importing, phases=lengths(reader.story.phases, importing), profile="v2")


@pytest.mark.parametrize(
    ("earlier", "name", "total", "largest_error"),
    [
        ("eagle3_v1", "eagle3_v1_b", 55.0, 5.0),  # the same profile again: its draft graphs took 14 s after 10
        ("eagle3_v1", "eagle3_v2", 54.0, 4.0),
        ("eagle3_v2", "eagle3_v1", 51.0, 4.0),
    ],
)
def test_half_way_through_a_real_start_the_second_estimate_is_right_within_a_tenth(
    earlier: str, name: str, total: float, largest_error: float
) -> None:
    first, rows = timed(name)
    began = first - SPAWN_TO_FIRST_STAMP[name]
    half = began + total / 2
    reader = LogReader("sglang")
    for at, line in rows:
        if at <= half:
            reader.feed(line, at)
    assert past(name, "0000").seconds == total
    state = replace(server(past(earlier, "0001"), story=reader.story, began=began))
    state = replace(state, past_starts=(past(earlier, "0001"), replace(FIRST_OF_THE_BOOT, started_at=1.0)))
    eta = eta_of(state, half)
    assert eta is not None
    assert abs(eta.seconds - total / 2) <= largest_error


def test_a_start_that_is_warm_is_not_as_long_as_the_cold_one_of_its_profile() -> None:
    """Phases of eight starts on one H200: v2 first after the boot (95 s), then baseline and v1; then v2 took 54 s."""
    cold = start(
        "0001", 100.0, is_cold=True,
        phases=(("import", 4.0), ("processes", 12.0), ("weights", 3.0), ("graphs", 49.0), ("draft_graphs", 12.0), ("warm_up", 5.0)),
    )  # fmt: skip
    baseline = start(
        "0002", 300.0, profile="baseline",
        phases=(("import", 3.0), ("processes", 12.0), ("weights", 3.0), ("graphs", 15.0), ("warm_up", 23.0)),
    )  # fmt: skip
    v1 = start(
        "0003", 500.0, profile="v1",
        phases=(("import", 2.0), ("processes", 13.0), ("weights", 3.0), ("graphs", 13.0), ("draft_graphs", 14.0), ("warm_up", 4.0)),
    )  # fmt: skip
    assert seconds(server(cold), 1000.0) == 85.0
    eta = eta_of(server(cold, baseline, v1), 1000.0)
    assert eta is not None
    # the less of its own and the median of the others: 2.5 + 12 + 3 + 14 + 12 + 5
    assert eta.seconds == 48.5
    assert eta_words(eta).endswith("last start 1m25s, cold)")
    other_model = start("0002", 300.0, profile="baseline", model="/other", phases=(("graphs", 1.0),))
    other_version = start("0003", 300.0, profile="v1", engine_version="0.5.13", phases=(("graphs", 1.0),))
    assert seconds(server(cold, other_model, other_version), 1000.0) == 85.0


def test_a_cold_start_is_not_shortened_by_warm_ones() -> None:
    cold = start("0001", 100.0, is_cold=True, boot_id="boot-0")
    warm = start("0002", 200.0, profile="v1", boot_id="boot-0", phases=(("graphs", 1.0),))
    first = replace(server(cold, warm), past_starts=(cold, warm))
    eta = eta_of(first, 1000.0)
    assert eta is not None
    assert (eta.seconds, eta.is_by_cold) == (100.0, False)

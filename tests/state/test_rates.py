"""Rolling tokens per second: counters over a window, restarts, gaps, and the log where there are no counters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdeck.state.counter_window import CounterWindow
from specdeck.state.log_story import BatchReport, LogStory
from specdeck.state.rates import fresh_batch, throughput
from specdeck.state.snapshot import Throughput

NO_COUNTERS = CounterWindow()


def window_of(*points: tuple[float, float], series: str = "decode") -> CounterWindow:
    """Samples as (second, counter)."""
    window = CounterWindow()
    for at, value in points:
        window = window.with_sample(value, series, at, window_seconds=10.0)
    return window


def rate_of(window: CounterWindow, at: float) -> Throughput | None:
    return throughput(window, None, at)


def story_of(batch: BatchReport, at: float, engine: str = "sglang") -> LogStory:
    return LogStory(engine=engine, word="ready", batch=batch, batch_at=at)


def test_one_sample_is_no_rate() -> None:
    assert rate_of(window_of((0, 500)), 0) is None
    assert rate_of(NO_COUNTERS, 0) is None


def test_two_samples_are_a_rate_with_its_source_window_and_time() -> None:
    assert rate_of(window_of((100, 1000), (102, 1200)), 102) == Throughput(100.0, "counters", 2.0, 102)


def test_the_window_rolls_over_ten_seconds() -> None:
    window = window_of(*((at, at * 10.0) for at in range(0, 20, 2)), (20, 1180.0))
    rate = rate_of(window, 20)
    assert rate == Throughput(108.0, "counters", 10.0, 20)  # from 100 at second 10 to 1180 at second 20
    assert window.points[0] == (10, 100.0)


def test_samples_that_come_irregularly_count_by_their_own_times() -> None:
    window = window_of((0, 0), (1.3, 130), (7.9, 790), (8.1, 810), (16.4, 1640))
    rate = rate_of(window, 16.4)
    assert rate is not None
    assert rate.tok_s == pytest.approx(100.0)
    assert rate.window_seconds == pytest.approx(15.1)


def test_samples_rarer_than_the_window_still_make_a_rate() -> None:
    window = window_of((0, 0), (15, 300), (30, 600))
    assert rate_of(window, 30) == Throughput(20.0, "counters", 15.0, 30)
    assert rate_of(window, 44) is not None
    assert rate_of(window, 60) is None


def test_a_counter_that_falls_is_a_restart_and_never_negative() -> None:
    window = window_of((0, 9000), (2, 9400), (4, 12))
    assert rate_of(window, 4) is None
    assert rate_of(window.with_sample(212, "decode", 6, window_seconds=10.0), 6) == Throughput(
        100.0, "counters", 2.0, 6
    )


def test_another_series_starts_a_new_window() -> None:
    window = window_of((0, 100), (2, 200)).with_sample(5000, "decode tp=1", 4, window_seconds=10.0)
    assert rate_of(window, 4) is None


def test_a_clock_that_was_set_back_starts_a_new_window() -> None:
    assert rate_of(window_of((100, 100), (102, 200), (50, 300)), 50) is None


def test_a_long_silence_is_not_averaged_into_the_rate_of_now() -> None:
    assert rate_of(window_of((0, 100), (2, 200), (600, 9000)), 600) is None


def test_two_samples_at_the_same_moment_are_one() -> None:
    assert rate_of(window_of((1, 100), (1, 200)), 1) is None


def test_a_flat_counter_is_a_measured_zero() -> None:
    assert rate_of(window_of((0, 100), (2, 100)), 2) == Throughput(0.0, "counters", 2.0, 2)


def test_samples_that_stop_are_unknown_not_zero() -> None:
    window = window_of((0, 100), (2, 300))
    assert rate_of(window, 12) is not None
    assert rate_of(window, 12.1) is None


def test_how_long_a_counter_stands_still_is_known_over_a_silence() -> None:
    window = window_of((0, 10_000), (10, 10_400), (20, 10_400), (60, 10_400), (130, 10_400))
    assert window.flat_since == 20
    assert window.with_sample(10_401, "decode", 132, window_seconds=10.0).flat_since is None


def test_the_log_tells_the_rate_where_there_are_no_counters() -> None:
    story = story_of(BatchReport(640.25, 2, 0), at=100)
    assert throughput(NO_COUNTERS, story, 104) == Throughput(640.25, "log", 0.0, 100)


def test_counters_win_over_the_log() -> None:
    story = story_of(BatchReport(640.25, 2, 0), at=100)
    assert throughput(window_of((98, 0), (100, 200)), story, 100) == Throughput(100.0, "counters", 2.0, 100)


def test_a_log_line_of_ten_seconds_ago_says_nothing() -> None:
    story = story_of(BatchReport(640.25, 2, 0), at=100)
    assert throughput(NO_COUNTERS, story, 110) is not None
    assert throughput(NO_COUNTERS, story, 110.5) is None
    assert fresh_batch(story, 110.5) is None


def test_the_first_line_after_a_pause_is_not_shown() -> None:
    assert throughput(NO_COUNTERS, story_of(BatchReport(0.73, 1, 0, follows_idle=True), at=100), 100) is None


def test_a_rate_without_running_requests_is_of_what_ran_before() -> None:
    assert throughput(NO_COUNTERS, story_of(BatchReport(640.25, 0, 0), at=100), 100) is None


def test_a_vllm_line_holds_until_the_next_is_due_and_its_zero_is_measured() -> None:
    story = story_of(BatchReport(310.4, 4, 0), at=100, engine="vllm")
    assert throughput(NO_COUNTERS, story, 114) == Throughput(310.4, "log", 10.0, 100)
    assert throughput(NO_COUNTERS, story, 116) is None
    idle = throughput(NO_COUNTERS, story_of(BatchReport(0.0, 0, 0), at=100, engine="vllm"), 101)
    assert idle is not None
    assert idle.tok_s == 0.0


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e12), st.sampled_from("ab")), max_size=40))
def test_no_series_of_samples_makes_a_negative_rate_or_an_endless_window(
    samples: list[tuple[float, float, str]],
) -> None:
    window = CounterWindow()
    for at, value, series in samples:
        window = window.with_sample(value, series, at, window_seconds=10.0)
        assert window.rate is None or window.rate >= 0
        assert len([point for point in window.points if point[0] <= at - 10.0]) <= 1

"""The newest minute of a server's counters: quantiles from bucket differences, by hand from small histograms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdeck.state.serving import CounterKey, Page, Serving, ServingWindow, quantile


def latencies(*counts: float, series: str = "") -> Page:
    """A histogram of TTFT with the bounds 0.1, 0.2, 0.4 and +Inf."""
    return dict(zip((CounterKey("ttft", series, part) for part in ("0.1", "0.2", "0.4", "+Inf")), counts, strict=True))


def told(*looks: tuple[float, Page], at: float | None = None) -> Serving | None:
    window = ServingWindow()
    for seen_at, page in looks:
        window = window.with_page(page, seen_at)
    return window.serving(looks[-1][0] if at is None else at)


def test_quantiles_are_of_the_difference_and_never_since_the_start() -> None:
    before = latencies(1000, 1000, 1000, 1000)  # a thousand fast requests, long ago
    serving = told((0, before), (10, latencies(1000, 1000, 1010, 1010)))
    assert serving is not None
    assert serving.ttft is not None
    assert serving.ttft.p50 == pytest.approx(0.3)
    assert serving.ttft.p95 == pytest.approx(0.39)
    assert serving.window_seconds == 10


def test_a_quantile_beyond_the_last_bound_is_that_bound() -> None:
    serving = told((0, latencies(0, 0, 0, 0)), (10, latencies(1, 1, 1, 10)))
    assert serving is not None
    assert serving.ttft is not None
    assert serving.ttft.p95 == 0.4


def test_a_window_without_a_request_has_no_latency() -> None:
    serving = told((0, latencies(3, 4, 5, 5)), (10, latencies(3, 4, 5, 5)))
    assert serving is not None
    assert serving.ttft is None


def test_one_look_tells_nothing() -> None:
    assert told((0, latencies(3, 4, 5, 5))) is None


def test_a_counter_that_falls_starts_anew() -> None:
    assert told((0, latencies(5, 5, 5, 5)), (10, latencies(1, 1, 1, 1))) is None
    assert told((0, latencies(5, 5, 5, 5)), (10, latencies(6, 6, 4, 6))) is None


def test_other_label_sets_than_before_are_another_server() -> None:
    assert told((0, latencies(1, 1, 1, 1, series="model=a")), (10, latencies(2, 2, 2, 2, series="model=b"))) is None


def test_a_label_set_that_joins_counts_from_its_first_request() -> None:
    one, two = latencies(1, 1, 1, 1, series="stream=false"), latencies(0, 4, 4, 4, series="stream=true")
    serving = told((0, one), (10, {**one, **two}))
    assert serving is not None
    assert serving.ttft is not None
    assert serving.ttft.p50 == pytest.approx(0.15)


def test_a_gap_starts_anew_and_an_old_page_tells_nothing() -> None:
    one, two = latencies(1, 1, 1, 1), latencies(2, 2, 2, 2)
    assert told((0, one), (31, two)) is None
    assert told((0, one), (10, two), at=26) is None
    assert told((10, one), (3, two)) is None


def test_what_left_the_window_does_not_count() -> None:
    slow, fast = latencies(0, 0, 10, 10), [latencies(n, n, 10 + n, 10 + n) for n in range(1, 9)]
    looks = [(0.0, latencies(0, 0, 0, 0)), (10.0, slow), *((20.0 + 10 * n, page) for n, page in enumerate(fast))]
    serving = told(*looks)
    assert serving is not None
    assert serving.window_seconds == 60
    assert serving.ttft is not None
    assert serving.ttft.p95 < 0.1


def test_looks_each_two_seconds_keep_few_pages_and_the_whole_window() -> None:
    window = ServingWindow()
    for second in range(0, 300, 2):
        window = window.with_page(latencies(second, second, second, second), float(second))
    assert len(window.pages) <= 15
    assert window.pages[-1][0] == 298
    assert 60 <= window.pages[-1][0] - window.pages[0][0] <= 70


def test_acceptance_by_position_and_length_are_of_the_window() -> None:
    def page(drafts: float, accepted: float, *by_position: float) -> Page:
        places = {CounterKey("accepted_at", "", str(place)): count for place, count in enumerate(by_position)}
        return {CounterKey("drafts", ""): drafts, CounterKey("accepted", ""): accepted, **places}

    serving = told((0, page(1000, 10, 5, 5)), (10, page(1100, 160, 95, 65)))
    assert serving is not None
    assert serving.accept_length == 2.5
    assert serving.accept_by_position == (0.9, 0.6)


def test_cache_hits_are_a_share_of_the_windows_prompt_tokens() -> None:
    def page(queries: float, hits: float) -> Page:
        return {CounterKey("prefix_queries", ""): queries, CounterKey("prefix_hits", ""): hits}

    serving = told((0, page(1000, 0)), (10, page(1400, 100)))
    assert serving is not None
    assert serving.prefix_hit_rate == 0.25
    serving = told((0, page(1000, 0)), (10, page(1000, 0)))
    assert serving is not None
    assert serving.prefix_hit_rate is None


NUMBERS = st.floats(0, 1e9, allow_nan=False)
KEYS = st.builds(
    CounterKey,
    st.sampled_from(["ttft", "tpot", "itl", "prefix_queries", "prefix_hits", "drafts", "accepted"]),
    st.sampled_from(["", "a=1"]),
    st.sampled_from(["", "0.1", "+Inf", "nan", "-1", "x"]),
)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.dictionaries(KEYS, NUMBERS, max_size=8)), max_size=6))
def test_no_counters_raise_and_shares_stay_shares(looks: list[tuple[float, Page]]) -> None:
    window = ServingWindow()
    for at, page in looks:
        window = window.with_page(page, at)
        serving = window.serving(at)
        if serving is not None and serving.prefix_hit_rate is not None:
            assert 0 <= serving.prefix_hit_rate <= 1


@given(st.lists(st.floats(0, 100), min_size=1, max_size=8), st.floats(0.01, 0.99))
def test_a_quantile_lies_between_the_bounds(counts: list[float], share: float) -> None:
    buckets = [(float(bound), sum(counts[: bound + 1])) for bound in range(len(counts))]
    assert 0 <= quantile(buckets, share) <= len(counts) - 1

"""tok/s of the captured loads, beside what the client of each load counted, and beside the engine's own counters."""

import gzip
from statistics import median

import pytest
from tests.replays.lives import LIVES
from tests.replays.watching import Moment, told_load, watched

from specdeck.engines.sglang.answers import read_metrics

LOADS = [(name, load) for name in ("baseline", "eagle3_v1", "eagle3_v2") for load in ("load1", "load8", "load32")]
LAST_SECONDS = 5.0
"""Of each load of 15 s: the window of 10 s then holds nothing else."""


def late(name: str, load: str, *, has_metrics: bool) -> list[Moment]:
    """The last seconds in which all its streams were open."""
    life = LIVES[name]
    last_began = max(each.began for each in life.requests if each.load == load)
    moments = watched(name, has_metrics=has_metrics)
    return [moment for moment in moments if last_began - LAST_SECONDS <= moment.row.at <= last_began]


def counted(name: str, begin: float, end: float) -> float:
    """Tokens a second that the client got between two moments."""
    life = LIVES[name]
    return (told_load(life, end)[1] - told_load(life, begin)[1]) / (end - begin)


@pytest.mark.parametrize(("name", "load"), LOADS)
def test_the_rate_of_a_busy_server_is_what_its_client_counts(name: str, load: str) -> None:
    for moment in late(name, load, has_metrics=True):
        rate = moment.server.throughput
        assert rate is not None
        assert rate.source == "counters"
        assert rate.tok_s == pytest.approx(counted(name, rate.at - rate.window_seconds, rate.at), rel=0.03)


@pytest.mark.parametrize(("name", "load"), LOADS)
def test_without_metrics_the_log_line_tells_nearly_the_same(name: str, load: str) -> None:
    """The line is of the last 40 steps of the whole batch, so single lines vary."""
    rates = [moment.server.throughput for moment in late(name, load, has_metrics=False)]
    told = [rate.tok_s for rate in rates if rate is not None]
    assert {rate.source for rate in rates if rate is not None} == {"log"}
    end = max(each.began for each in LIVES[name].requests if each.load == load)
    assert median(told) == pytest.approx(counted(name, end - LAST_SECONDS, end), rel=0.1)


@pytest.mark.parametrize("name", ["baseline", "eagle3_v1", "eagle3_v2"])
def test_an_idle_server_runs_nothing_and_makes_nothing(name: str) -> None:
    life = LIVES[name]
    idle = [
        moment for moment in watched(name) if moment.server.word == "ready" and moment.row.at < life.requests[0].began
    ]
    assert idle
    assert {moment.server.requests_running for moment in idle} <= {None, 0}
    assert {moment.server.throughput.tok_s for moment in idle if moment.server.throughput is not None} <= {0.0}


@pytest.mark.parametrize("name", ["baseline", "eagle3_v1", "eagle3_v2"])
def test_the_first_line_after_an_idle_time_is_no_rate(name: str) -> None:
    """It says 0.6 to 1.7 tok/s: the tokens of a step, divided by the pause before."""
    shown = [moment.server.throughput for moment in watched(name, has_metrics=False)]
    assert min(rate.tok_s for rate in shown if rate is not None) > 100


def test_a_scheduler_that_is_stopped_makes_nothing() -> None:
    hung = [moment.server.throughput for moment in watched("eagle3_v1_b") if 101.0 < moment.row.at < 113.0]
    assert {rate.tok_s for rate in hung if rate is not None} == {0.0}


@pytest.mark.parametrize("name", ["baseline", "eagle3_v1", "eagle3_v1_b", "eagle3_v2"])
def test_the_counter_that_rates_are_made_of_counts_what_the_clients_got(name: str) -> None:
    """Pages of before and after all loads; streams that were cut into by a stop or a hang came later."""
    pages = [
        gzip.decompress((LIVES[name].folder / f"{when}_metrics.txt.gz").read_bytes()) for when in ("before", "after")
    ]
    before, after = (read_metrics(page).decode_tokens for page in pages)
    assert before is not None
    assert after is not None
    got = sum(each.tokens for each in LIVES[name].requests if each.load.startswith("load"))
    assert after - before == pytest.approx(got, rel=0.01)

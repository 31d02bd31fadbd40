"""Series for plots: bounded whatever the length of a run, gaps stay gaps, marks stand where something happened."""

from dataclasses import replace

import pytest
from tests.ui import fleets

from specdeck.state.history import History, Mark
from specdeck.state.sampling import marked_act, sampled
from specdeck.state.series import FINE_POINTS, HOUR_SLICES, RUN_SLICES, Series
from specdeck.state.snapshot import Act, Word

NOW = fleets.NOW


def series(values: dict[float, float]) -> Series:
    made = Series()
    for at, value in values.items():
        made = made.with_value(value, at)
    return made


def test_the_newest_minutes_are_the_values_themselves() -> None:
    points, seconds = series({100.0: 5.0, 102.0: 7.0, 104.0: 6.0}).since(101.0)
    assert points == ((102.0, 7.0), (104.0, 6.0))
    assert seconds == 0.0


def test_an_hour_is_means_of_ten_seconds() -> None:
    made = series({at: float(at % 10) for at in range(10_000, 12_000, 2)})
    points, seconds = made.since(10_000)
    assert seconds == 10.0
    assert points[:2] == ((10_005.0, 4.0), (10_015.0, 4.0))  # of 0, 2, 4, 6, 8
    assert len(points) == 200


def test_what_was_not_measured_has_no_point() -> None:
    made = series(dict.fromkeys([*range(0, 600, 2), *range(900, 1_500, 2)], 1.0))
    points, _ = made.since(0)
    assert not any(600 < at < 900 for at, _ in points)


def test_days_take_no_more_room_than_hours() -> None:
    made = series({float(at): 2.0 for at in range(0, 400_000, 30)})
    assert (len(made.fine), len(made.hour)) == (2 * FINE_POINTS, 3 * HOUR_SLICES)
    assert len(made.run) <= 3 * RUN_SLICES
    points, seconds = made.since(0)
    assert (points[0][0] < 2_000, points[-1][0] > 398_000) == (True, True)
    assert {value for _, value in points} == {2.0}
    assert seconds == 1_280.0  # 400,000 s in at most 480 slices of 10 s doubled


def test_a_clock_that_was_set_back_adds_nothing() -> None:
    assert series({100.0: 5.0}).with_value(9.0, 50.0).since(0.0)[0] == ((100.0, 5.0),)


def test_a_sample_is_taken_every_two_seconds_of_what_is_known_then() -> None:
    server = replace(fleets.qwen(), load_at=NOW - 1)
    server = sampled(server, fleets.h200("h200-a", "qwen", load=87.0), NOW)
    assert {name: made.since(0)[0][-1][1] for name, made in server.history.series.items()} == {
        "tok_s": 773.0, "running": 31, "queued": 4, "kv": 62.0, "gpu_load": 87.0, "gpu_power": 412.0,
    }  # fmt: skip
    assert sampled(server, None, NOW + 1.9) is server
    assert sampled(server, None, NOW + 2.1) is not server


def test_old_numbers_are_no_samples() -> None:
    told = replace(fleets.qwen(), load_at=NOW - 60, evidence=replace(fleets.qwen().evidence, story=None))
    assert sampled(replace(told, throughput=None), None, NOW).history.series == {}
    away = replace(fleets.qwen(), word=Word.UNREACHABLE, load_at=NOW)
    assert sampled(away, fleets.h200("h200-a", "qwen", load=1.0), NOW).history.series == {}


def test_a_gpu_that_cannot_be_read_makes_no_wrong_sum() -> None:
    host = fleets.h200("h200-a", "qwen", load=87.0)
    blind = replace(host, gpus=(*host.gpus, replace(host.gpus[0], index=1, power_w=None)))
    history = sampled(replace(fleets.qwen(), load_at=NOW), blind, NOW).history
    assert ("gpu_load" in history.series, "gpu_power" in history.series) == (True, False)


@pytest.mark.parametrize(("act", "marks"), [("pivot", (Mark(NOW, "pivot"),)), ("end", ())])
def test_an_act_is_marked_once_where_it_began(act: str, marks: tuple[Mark, ...]) -> None:
    asked = Act(act, "asked", "", NOW)  # type: ignore[arg-type]
    server = fleets.qwen()
    server = replace(server, history=marked_act(server, asked), act=asked)
    assert server.history.marks == marks
    assert marked_act(server, replace(asked, step="term")) is server.history


def test_an_act_that_was_over_when_it_was_first_seen_is_not_marked() -> None:
    over = Act("pivot", "done", "", NOW, is_over=True)
    assert marked_act(fleets.qwen(), over).marks == ()


def test_marks_are_bounded() -> None:
    history = History()
    for number in range(100):
        history = history.with_mark("ready", float(number))
    assert (len(history.marks), history.marks[-1]) == (60, Mark(99.0, "ready"))

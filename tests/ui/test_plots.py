"""The plots: which there are, over which time, with gaps and marks where they belong."""

from dataclasses import replace

from tests.ui import fleets
from tests.ui.fake_deck import FakeDeck
from tests.ui.playing import Play, playing

from specdeck.state.history import History, Mark
from specdeck.state.series import Point
from specdeck.state.snapshot import ServerState
from specdeck.ui.drawing.plots import KINDS, WINDOWS, kinds_of, plot_of
from specdeck.ui.panes.throughput import ThroughputPane
from specdeck.ui.widgets.chart import MARK, chart_rows

NOW = fleets.NOW
FIVE, HOUR, RUN = WINDOWS


def long_served(*, marks: tuple[Mark, ...] = ()) -> ServerState:
    """Two hours of samples, up to now; for twenty minutes, an hour ago, the host was away."""
    history = History()
    for ago in range(7200, 0, -2):
        if not 3000 <= ago <= 4200:
            values = {"tok_s": 700.0 + ago % 60, "kv": 50.0, "gpu_power": 400.0}
            history = history.with_values(values, NOW - ago)  # type: ignore[arg-type]
    run = replace(fleets.qwen().run, started_at=NOW - 7200)  # type: ignore[type-var]
    return replace(fleets.qwen(), run=run, history=replace(history, marks=marks))


def texts(points: list[Point], *, width: int = 70, marks: tuple[Mark, ...] = (), seconds: float = 60.0) -> list[str]:
    rows = chart_rows(points, 1000.0, width, 9, seconds=seconds, marks=marks)
    return ["".join(text for text, _ in row) for row in rows]


def steady(value: float) -> list[Point]:
    return [(1000.0 - ago, value) for ago in range(60, 0, -2)]


def test_only_what_was_measured_can_be_chosen() -> None:
    assert [kind.name for kind in kinds_of(fleets.qwen())] == ["tok_s"]
    assert [kind.name for kind in kinds_of(long_served())] == ["tok_s", "kv", "gpu_power"]


def test_the_heading_names_number_time_and_highest_value() -> None:
    server = long_served()
    assert plot_of(server, KINDS[0], FIVE, NOW).heading.startswith("tok/s over 5m, highest ")
    assert plot_of(server, KINDS[3], HOUR, NOW).heading == "KV cache in use, % over 1h00, highest 50%"
    assert plot_of(server, KINDS[6], RUN, NOW).heading == "power of its GPUs, W over the run, 2h00, highest 400"


def test_a_time_without_measurements_is_no_line_at_zero() -> None:
    plot = plot_of(long_served(), KINDS[3], RUN, NOW)
    assert not any(NOW - 4190 < at < NOW - 3010 for at, _ in plot.points)
    assert plot.gap_seconds < 1200
    rows = chart_rows(plot.points, NOW, 70, 9, seconds=plot.seconds, gap_seconds=plot.gap_seconds, top=100.0)
    line = next("".join(text for text, _ in row) for row in rows if "50" in row[0][0])
    assert " " * 8 in line[8:-1].strip()  # the gap: 20 of 120 minutes of 63 cells


def test_a_mark_stands_at_its_moment_with_its_name() -> None:
    drawn = texts(steady(300.0), marks=(Mark(970.0, "pivot"),))
    column = drawn[-3].index(MARK)
    assert column == 7 + 31  # the middle of 63 cells after the axis
    assert drawn[0][column + 1 : column + 6] == "pivot"
    assert {len(text) for text in drawn} == {70}


def test_a_mark_at_the_right_edge_is_named_left_of_it() -> None:
    assert texts(steady(300.0), marks=(Mark(999.9, "crashed"),))[0].endswith(f"crashed{MARK}")


def test_the_names_of_two_marks_do_not_run_together() -> None:
    for apart in range(1, 14):
        drawn = "\n".join(texts(steady(300.0), marks=(Mark(960.0, "launch"), Mark(960.0 + apart, "ready"))))
        assert "launchready" not in drawn
        assert "readylaunch" not in drawn
        assert "launch" in drawn
        assert "ready" in drawn


def test_a_mark_hides_nothing_of_the_line() -> None:
    bare, marked = texts(steady(300.0)), texts(steady(300.0), marks=(Mark(970.0, "pivot"),))
    for before, after in zip(bare, marked, strict=True):
        assert all(was in " ⠀" or was == now for was, now in zip(before, after, strict=False))


def test_percentages_end_at_a_hundred_and_large_numbers_keep_the_width() -> None:
    rows = chart_rows(steady(12.0), 1000.0, 70, 9, seconds=60.0, top=100.0)
    assert "".join(text for text, _ in rows[0]).startswith("   100 ")
    assert texts(steady(1_234_567.0))[0].startswith("2,000k ")
    assert {len(text) for text in texts(steady(1_234_567.0))} == {70}


def test_a_plot_is_as_wide_as_it_is_asked_to_be() -> None:
    assert {len(text) for text in texts(steady(300.0), width=190)} == {190}


def test_without_a_measurement_the_plot_says_so() -> None:
    assert texts([(100.0, 5.0)]) == ["   nothing was measured in this time"]


def heading(play: Play) -> str:
    return str(play.app.screen.query_one(ThroughputPane).border_title)


async def test_keys_choose_the_number_and_the_time() -> None:
    deck = FakeDeck(fleets.with_server(fleets.fleet(), long_served()))
    async with playing(deck, size=(160, 50)) as play:
        await play.press("j", "enter")
        assert heading(play).startswith("tok/s over 5m")
        await play.press("c")
        assert heading(play).startswith("KV cache in use, % over 5m, highest 50%")
        await play.press("C")
        assert heading(play).startswith("KV cache in use, % over 1h00")
        await play.press("C", "c")
        assert heading(play).startswith("power of its GPUs, W over the run, 2h00, highest 400")
        await play.press("c", "C")
        assert heading(play).startswith("tok/s over 5m")
        assert play.app.screen.query_one(ThroughputPane).builds >= 5

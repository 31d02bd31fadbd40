"""Worst first, and still: rows do not jump under a hand, and a server that flaps keeps its place."""

from dataclasses import replace

import pytest
from tests.ui.fleets import acting, kimi

from specdeck.state.order import BETTER_AFTER_SECONDS, Order, place_of
from specdeck.state.snapshot import Act, ServerState, Word


def server(name: str, word: Word) -> ServerState:
    return ServerState(name, "gpu-a", 30_000, "sglang", word=word)


def servers(**words: Word) -> list[ServerState]:
    return [server(name, word) for name, word in words.items()]


def test_the_worst_comes_first_and_equals_stand_as_in_the_fleet() -> None:
    fleet = [server(word.value, word) for word in sorted(Word)] + [server("second", Word.READY)]
    assert Order().of(fleet, 0.0) == (
        "crashed", "blocked", "stalled", "unhealthy", "unreachable", "unknown", "starting", "stopping", "ready", "second",
        "stopped",
    )  # fmt: skip


def test_a_server_moves_up_at_once() -> None:
    order = Order()
    assert order.of(servers(a=Word.READY, b=Word.READY), 0.0) == ("a", "b")
    assert order.of(servers(a=Word.READY, b=Word.STALLED), 0.1) == ("b", "a")


def test_a_server_moves_down_only_after_it_has_been_better_for_a_while() -> None:
    order = Order()
    order.of(servers(a=Word.READY, b=Word.UNHEALTHY), 0.0)
    well = servers(a=Word.READY, b=Word.READY)
    assert order.of(well, 1.0) == ("b", "a")
    assert order.of(well, 1.0 + BETTER_AFTER_SECONDS - 0.1) == ("b", "a")
    assert order.of(well, 1.0 + BETTER_AFTER_SECONDS) == ("a", "b")


def test_a_server_that_flaps_keeps_its_place() -> None:
    order = Order()
    for second in range(0, 60, 4):
        flapping = Word.UNHEALTHY if second % 8 == 0 else Word.READY
        assert order.of(servers(a=Word.READY, b=flapping), float(second)) == ("b", "a")


def test_no_row_moves_while_the_hand_is_busy() -> None:
    order = Order()
    order.of(servers(a=Word.READY, b=Word.READY), 0.0)
    worse = servers(a=Word.READY, b=Word.CRASHED)
    assert order.of(worse, 1.0, is_busy=True) == ("a", "b")
    assert order.of(worse, 2.0) == ("b", "a")


def test_a_server_that_comes_or_goes_takes_its_place_also_while_the_hand_is_busy() -> None:
    order = Order()
    order.of(servers(a=Word.READY), 0.0)
    assert order.of(servers(a=Word.READY, new=Word.CRASHED), 1.0, is_busy=True) == ("new", "a")
    assert order.of(servers(new=Word.CRASHED), 2.0, is_busy=True) == ("new",)


def test_what_is_first_heard_of_a_server_takes_its_place_at_once() -> None:
    order = Order()
    order.of(servers(a=Word.STARTING, b=Word.UNKNOWN), 0.0)
    assert order.of(servers(a=Word.STARTING, b=Word.READY), 1.0) == ("a", "b")


def test_a_clock_that_goes_back_holds_nothing() -> None:
    order = Order()
    order.of(servers(a=Word.READY, b=Word.CRASHED), 1_000.0)
    order.of(servers(a=Word.READY, b=Word.READY), 1_001.0)
    assert order.of(servers(a=Word.READY, b=Word.READY), 5.0) == ("a", "b")


@pytest.mark.parametrize(("is_failed", "place"), [(True, Word.UNHEALTHY), (False, Word.STOPPED)])
def test_a_failed_act_is_trouble_also_where_the_server_is_only_stopped(is_failed: bool, place: Word) -> None:
    act = Act("launch", "failed", "no such file", 0.0, is_over=True, is_failed=is_failed)
    assert place_of(replace(kimi(), word=Word.STOPPED, act=act)) == place_of(server("x", place))


def test_a_stop_that_goes_on_stands_where_a_start_does() -> None:
    assert place_of(acting(kimi())) == place_of(kimi())

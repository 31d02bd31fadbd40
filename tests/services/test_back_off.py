"""Pauses between tries."""

from specdeck.services.back_off import BackOff


def test_pauses_double_up_to_a_minute() -> None:
    back_off = BackOff(jitter=lambda: 1.0)
    assert [back_off.next_seconds() for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_jitter_takes_up_to_half_of_a_pause_away() -> None:
    assert BackOff(first_seconds=4.0, jitter=lambda: 0.0).next_seconds() == 2.0


def test_a_success_begins_again_with_the_shortest_pause() -> None:
    back_off = BackOff(jitter=lambda: 1.0)
    back_off.next_seconds()
    back_off.next_seconds()
    back_off.reset()
    assert back_off.next_seconds() == 1.0

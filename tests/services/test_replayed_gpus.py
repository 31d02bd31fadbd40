"""A real H200 under load, replayed through the whole deck and held against a loop of plain nvidia-smi that ran beside it."""

import asyncio
from bisect import bisect_right
from itertools import pairwise

import pytest
from tests.engines.reading import CAPTURES
from tests.gpu.words import read_rows

from specdeck.services.recordings import open_replay, read_recording
from specdeck.state.gpu_snapshot import Gpu
from specdeck.state.snapshot import HostState
from specdeck.transport.replay_clock import ReplayClock, ReplayLoop

FOLDER = CAPTURES / "h200_parts" / "part2"
LATE_SECONDS = 4.0
"""A row comes every two seconds, was drawn up to two seconds after it, and is looked at each second."""


@pytest.fixture(scope="module")
def seen() -> list[tuple[float, HostState]]:
    """The host at each second, on a loop that waits for nothing."""

    async def watch() -> list[tuple[float, HostState]]:
        recording = read_recording(FOLDER / "tape.rec.gz")
        clock = ReplayClock(recording.began, asyncio.get_running_loop().time)
        states = []
        async with open_replay(recording, clock) as deck:
            await deck.wait_answered(10.0)
            while clock.now() < recording.ended:
                await asyncio.sleep(1.0)
                states.append((clock.now(), deck.store.state.hosts[0]))
        return states

    with asyncio.Runner(loop_factory=lambda: ReplayLoop(None)) as runner:
        return runner.run(watch())


def gpus(seen: list[tuple[float, HostState]]) -> list[tuple[float, Gpu]]:
    return [(at, host.gpus[0]) for at, host in seen if host.gpus]


def observed(at: float) -> set[int]:
    """What plain nvidia-smi said within the seconds before."""
    rows = [row for row in read_rows(FOLDER / "observer.tsv") if row.mem_mib is not None]
    times = [row.at for row in rows]
    first = max(bisect_right(times, at - LATE_SECONDS) - 1, 0)
    return {row.mem_mib for row in rows[first : bisect_right(times, at)] if row.mem_mib is not None}


def test_the_memory_that_specdeck_shows_is_what_plain_nvidia_smi_said(seen: list[tuple[float, HostState]]) -> None:
    told = gpus(seen)
    assert len(told) > 330
    wrong = [(at, gpu.memory_used_mib) for at, gpu in told if not _is_between(gpu.memory_used_mib, observed(at))]
    assert len(wrong) <= len(told) // 100  # ten samples a second miss a few steps of a load


def _is_between(mib: int | None, said: set[int]) -> bool:
    return mib is not None and min(said) - 200 <= mib <= max(said) + 200


def test_three_starts_fill_the_gpu_and_three_stops_empty_it(seen: list[tuple[float, HostState]]) -> None:
    is_full = [(gpu.memory_used_mib or 0) > 120_000 for _, gpu in gpus(seen)]
    changes = [now for before, now in pairwise([False, *is_full]) if before != now]
    assert changes == [True, False, True, False, True, False]


def test_under_load_it_is_hot_and_hungry_and_only_at_its_power_cap(seen: list[tuple[float, HostState]]) -> None:
    told = [gpu for _, gpu in gpus(seen)]
    assert max(gpu.utilization_percent or 0 for gpu in told) > 70
    assert max(gpu.power_w or 0 for gpu in told) > 420
    assert {reason for gpu in told for reason in gpu.throttle} == {"power cap"}
    assert not [line for _, host in seen for line in (host.gpu_error,) if line]


def test_the_process_that_holds_the_memory_is_named_while_it_lives(seen: list[tuple[float, HostState]]) -> None:
    holders = {(each.pid, each.name, each.user) for _, gpu in gpus(seen) for each in gpu.processes}
    assert holders == {
        (13161, "sglang::scheduler", "root"),
        (15526, "sglang::scheduler", "root"),
        (21704, "sglang::scheduler", "root"),
    }

"""Real engines from start to stop: specdeck's words, out of a recording, beside an observer's that knew nothing of specdeck."""

import asyncio
from functools import cache

import pytest
from tests.engines.reading import CAPTURES
from tests.gpu.report import Report, Sample, compare, read_asked
from tests.gpu.words import read_rows

from specdeck.services.recordings import open_replay, read_recording
from specdeck.state.snapshot import ServerState
from specdeck.transport.replay_clock import ReplayClock, ReplayLoop

WATCHED = CAPTURES / "watched"
LATE = {("starting", "ready"), ("stopping", "stopped"), ("stopped", "starting")}


@cache
def seen(name: str) -> tuple[tuple[float, ServerState], ...]:
    """The server at each second of its recording."""

    async def watch() -> list[tuple[float, ServerState]]:
        recording = read_recording(WATCHED / f"{name}.rec.gz")
        clock = ReplayClock(recording.began, asyncio.get_running_loop().time)
        states: list[tuple[float, ServerState]] = []
        async with open_replay(recording, clock) as deck:
            await deck.wait_answered(10.0)
            while clock.now() < recording.ended:
                await asyncio.sleep(1.0)
                server = deck.store.state.server(name)
                assert server is not None
                states.append((clock.now(), server))
        return states

    with asyncio.Runner(loop_factory=lambda: ReplayLoop(None)) as runner:
        return tuple(runner.run(watch()))


def reported(name: str) -> Report:
    samples = [Sample(at, str(each.word), None, None, None, None) for at, each in seen(name)]
    rows = read_rows(WATCHED / f"{name}.observer.tsv")
    return compare(samples, rows, read_asked(WATCHED / f"{name}.stages.tsv"))


@pytest.mark.parametrize("name", ["sglang", "vllm"])
def test_no_word_is_ahead_of_what_the_observer_saw_and_none_is_late_by_more_than_a_look(
    name: str,
) -> None:
    """The machine was busy with much else (load 15): the host took up to two seconds to answer the monitor."""
    report = reported(name)
    assert report.false_ready == []
    assert [each for each in report.differences if (each.said, each.right) not in LATE or each.seconds > 2.5] == []
    assert report.seconds > 200


@pytest.mark.parametrize("name", ["sglang", "vllm"])
def test_the_words_come_in_their_order_each_once(name: str) -> None:
    words = [str(server.word) for _, server in seen(name)]
    changes = [word for place, word in enumerate(words) if words[place - 1 : place] != [word]]
    assert changes == ["stopped", "starting", "ready", "stopping", "stopped"]


@pytest.mark.parametrize(
    ("name", "phases"),
    [
        ("sglang", "import arguments processes distributed weights kv_cache http warm_up"),
        ("vllm", "import arguments processes distributed weights kv_cache http"),
    ],
)
def test_the_phases_are_those_of_the_log_and_never_run_backwards(name: str, phases: str) -> None:
    indices = [each.story.phase.index for _, each in seen(name) if each.story is not None and each.story.phase]
    assert indices == sorted(indices)
    spans = max((each.story.phases for _, each in seen(name) if each.story is not None), key=len)
    assert [span.name for span in spans] == phases.split()

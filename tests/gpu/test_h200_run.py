"""Eight minutes on a real H200, again without a GPU: what was said then, and what is said now, beside the observer of then."""

import asyncio
from functools import cache

import pytest
from tests.engines.reading import CAPTURES
from tests.gpu.report import Difference, Report, Sample, compare, read_asked
from tests.gpu.words import read_rows

from specdeck.services.recordings import open_replay, read_recording
from specdeck.state.snapshot import ServerState
from specdeck.transport.replay_clock import ReplayClock, ReplayLoop

RUN = CAPTURES / "h200_run"
EARLY_ANSWER_SECONDS = 6.0
"""This observer asked /v1/models, which SGLang answers before its warm-up is over; specdeck waits for /health."""
WORDS = [
    *("stopped", "starting", "ready", "stopping"),  # eagle3-v1
    *("starting", "ready", "stopping", "stopped"),  # eagle3-v2, whose end is seen for a moment
    *("starting", "crashed"),  # broken
    *("starting", "ready", "stopping", "stopped"),  # eagle3-v2 again
]


PHASES = "import arguments processes distributed weights kv_cache graphs draft_weights draft_graphs http warm_up"


@cache
def seen_now() -> tuple[tuple[float, ServerState], ...]:
    """The server at each second of the recording, by the core of today."""

    async def watch() -> list[tuple[float, ServerState]]:
        recording = read_recording(RUN / "run.rec.gz")
        clock = ReplayClock(recording.began, asyncio.get_running_loop().time)
        states: list[tuple[float, ServerState]] = []
        async with open_replay(recording, clock) as deck:
            await deck.wait_answered(10.0)
            while clock.now() < recording.ended:
                await asyncio.sleep(0.5)
                server = deck.store.state.server("llama")
                assert server is not None
                states.append((clock.now(), server))
        return states

    with asyncio.Runner(loop_factory=lambda: ReplayLoop(None)) as runner:
        return tuple(runner.run(watch()))


def said_then() -> list[Sample]:
    lines = (RUN / "said.tsv").read_text().splitlines()[1:]
    cells = [[None if cell == "-" else cell for cell in line.split("\t")] for line in lines]
    return [
        Sample(float(at or 0), str(word), float(eta) if eta else None, float(rate) if rate else None, phase, profile)
        for at, word, profile, phase, eta, rate in cells
    ]


def reported(samples: list[Sample]) -> Report:
    return compare(samples, read_rows(RUN / "observer.tsv"), read_asked(RUN / "stages.tsv"))


def is_explained(each: Difference) -> bool:
    return (each.said, each.right) == ("starting", "ready") and each.seconds <= EARLY_ANSWER_SECONDS


def test_what_was_said_then_was_never_ready_too_early_and_no_run_began_before_the_memory_was_back() -> None:
    report = reported(said_then())
    assert report.false_ready == []
    assert report.early_launches == []
    assert report.seconds > 480


def test_the_second_start_of_a_profile_told_at_its_half_how_long_it_would_take() -> None:
    ((profile, length, eta, left),) = reported(said_then()).etas
    assert profile == "eagle3-v2"
    assert abs(eta - left) / length <= 0.1


def test_speculation_was_as_fast_as_the_load_was() -> None:
    fastest = {
        name: max(each.tok_s or 0 for each in said_then() if each.profile == name)
        for name in ("eagle3-v1", "eagle3-v2")
    }
    assert fastest == {"eagle3-v1": pytest.approx(1129, abs=1), "eagle3-v2": pytest.approx(1421, abs=1)}


def test_the_core_of_today_says_the_words_of_the_four_runs_in_their_order() -> None:
    words = [str(server.word) for _, server in seen_now()]
    changes = [word for place, word in enumerate(words) if words[place - 1 : place] != [word]]
    assert changes == WORDS


def test_the_core_of_today_differs_from_the_observer_only_where_that_is_explained() -> None:
    samples = [Sample(at, str(each.word), None, None, None, None) for at, each in seen_now()]
    report = reported(samples)
    assert report.false_ready == []
    assert [each for each in report.differences if not is_explained(each) and each.seconds > 1.0] == []


def test_the_rollback_says_why_and_each_phase_comes_once() -> None:
    causes = {each.story.cause.message for _, each in seen_now() if each.story is not None and each.story.cause}
    assert causes == {"RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."}
    for run in ("0001", "0002", "0004"):
        stories = [each.story for _, each in seen_now() if each.run is not None and each.run.run == run and each.story]
        indices = [story.phase.index for story in stories if story.phase is not None and story.phase.total == 11]
        assert indices == sorted(indices)
        assert " ".join(span.name for span in stories[-1].phases) == PHASES

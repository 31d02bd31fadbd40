"""The starts of the captured lives: phases in order, bars that never fall, piecewise graphs among the graphs."""

from collections.abc import Sequence

import pytest
from tests.replays.watching import Moment, watched

PLAIN = ["import", "arguments", "processes", "distributed", "weights", "kv_cache", "graphs", "http", "warm_up"]
SPECULATIVE = [*PLAIN[:7], "draft_weights", "draft_graphs", *PLAIN[7:]]
# How far each start came, read in its log.
REACHED = {
    "baseline": PLAIN,
    "eagle3_v1": SPECULATIVE,
    "eagle3_v1_b": SPECULATIVE,
    "eagle3_v2": SPECULATIVE,
    "fail_bad_flag": PLAIN[:1],
    "fail_model_path": PLAIN[:1],
    "fail_mem_fraction": PLAIN[:6],
    "fail_port_in_use": PLAIN[:8],
    "fail_kill9_scheduler": PLAIN,
    "fail_kill9_parent": SPECULATIVE,
    "fail_sigterm_loading": PLAIN[:5],
    "cpu_kill9_parent_spawning": PLAIN[:3],
}
# Of the bars of a start with speculation, in the order of the log, with the phase that each is in.
BARS = [
    ("weights", "target weights"),
    ("graphs", "graphs"),
    ("graphs", "piecewise compile"),
    ("graphs", "piecewise graphs"),
    ("draft_weights", "draft weights"),
    ("draft_graphs", "draft graphs"),
    ("draft_graphs", "draft extend graphs"),
]


def starting(name: str) -> list[Moment]:
    return [moment for moment in watched(name) if moment.server.word == "starting"]


def once(words: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [word for place, word in enumerate(words) if place == 0 or words[place - 1] != word]


@pytest.mark.parametrize("name", REACHED)
def test_phases_come_in_their_order_as_far_as_the_start_came(name: str) -> None:
    story = watched(name)[-1].server.story
    assert story is not None
    assert [span.name for span in story.phases] == REACHED[name]


@pytest.mark.parametrize("name", REACHED)
def test_no_phase_and_no_bar_ever_runs_backwards(name: str) -> None:
    index, shown = 0, dict[str, float]()
    for moment in starting(name):
        story = moment.server.story
        if story is not None and story.phase is not None:
            assert story.phase.index >= index
            assert story.phase.index <= story.phase.total
            index = story.phase.index
        if story is not None and story.progress is not None:
            assert story.progress.percent >= shown.get(story.progress.label, 0.0)
            shown[story.progress.label] = story.progress.percent


@pytest.mark.parametrize("name", ["eagle3_v1", "eagle3_v1_b", "eagle3_v2", "fail_kill9_parent"])
def test_each_bar_of_a_start_with_speculation_moves_in_its_phase(name: str) -> None:
    stories = [moment.server.story for moment in starting(name)]
    moving = [
        (story.phase.name, story.progress.label)
        for story in stories
        if story is not None and story.phase is not None and story.progress is not None
        if story.progress.done < story.progress.total
    ]
    # The draft's one shard may be read between two looks.
    assert [bar for bar in once(moving) if bar != BARS[4]] == [bar for bar in BARS if bar != BARS[4]]


@pytest.mark.parametrize(("name", "mode"), [("baseline", None), ("eagle3_v1", "v1"), ("eagle3_v2", "v2")])
def test_the_effective_speculation_is_what_the_log_says(name: str, mode: str | None) -> None:
    story = watched(name)[-1].server.story
    assert story is not None
    assert story.speculation == mode

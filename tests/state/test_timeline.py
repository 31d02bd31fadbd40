"""A start as steps: what each phase took, what the present one lasts, what comes, and what was usual."""

from dataclasses import replace

from specdeck.state.log_story import LogStory, Phase, PhaseSpan
from specdeck.state.phases import PhaseName
from specdeck.state.snapshot import Evidence, RunIdentity, ServerState, Word
from specdeck.state.starts import PastStart
from specdeck.state.timeline import Step, timeline_of, told_seconds

ORDER: tuple[PhaseName, ...] = ("import", "weights", "graphs", "http")


def past(run: str, *seconds: float) -> PastStart:
    phases = tuple(zip(ORDER, seconds, strict=True))
    return PastStart("kimi", run, "/m", "v2", "sglang", "0.5.12", "boot-1", 100.0, phases, is_cold=False)


def server(*starts: PastStart, story: LogStory | None, word: Word = Word.STARTING) -> ServerState:
    """Its run began at 1000; its log's first stamp was written at 1010."""
    first = replace(past("0000", 1, 1, 1, 1), profile="other", started_at=1.0, is_cold=True)
    run = RunIdentity("0009", 7, 7, "boot-1", profile="v2", started_at=1000.0)
    return ServerState(
        "kimi", "lab", 30000, "sglang", profile="v2", run=run, word=word, past_starts=(*starts, first) if starts else (),
        is_seen_from_start=True, evidence=Evidence(story=story),
    )  # fmt: skip


def loading() -> LogStory:
    spans = (PhaseSpan("import", None, 0.0), PhaseSpan("weights", 0.0, 25.0), PhaseSpan("graphs", 25.0))
    return LogStory("sglang", phase=Phase("graphs", 3, 4), phases=spans, order=ORDER, zero_at=1010.0)


def test_past_phases_have_their_length_the_present_one_lasts_and_the_rest_comes() -> None:
    assert timeline_of(server(story=loading()), 1040.0) == (
        Step("import", "past", 10.0),
        Step("weights", "past", 25.0),
        Step("graphs", "now", 5.0),
        Step("http", "next"),
    )


def test_the_median_of_earlier_starts_stands_beside_each_phase() -> None:
    starts = (past("0001", 8, 20, 300, 1), past("0002", 9, 90, 310, 1), past("0003", 10, 22, 900, 2))
    steps = timeline_of(server(*starts, story=loading()), 1040.0)
    assert [step.usual for step in steps] == [9, 22, 310, 1]


def test_before_the_first_line_the_usual_phases_come() -> None:
    steps = timeline_of(server(past("0001", 8, 20, 300, 1), story=None), 1004.0)
    assert steps[0] == Step("import", "now", 4.0, 8)
    assert [step.stage for step in steps[1:]] == ["next"] * 3


def test_before_the_arguments_are_told_the_phases_of_the_last_start_come_those_of_its_draft_too() -> None:
    drafted = PastStart(
        "kimi", "0001", "/m", "v2", "sglang", "0.5.12", "boot-1", 100.0,
        (("import", 8.0), ("weights", 20.0), ("graphs", 30.0), ("draft_weights", 1.0), ("http", 1.0)), is_cold=False,
    )  # fmt: skip
    importing = LogStory("sglang", phase=Phase("import", 1, 4), phases=(PhaseSpan("import", None),), order=ORDER)
    steps = timeline_of(server(drafted, story=importing), 1004.0)
    assert [step.name for step in steps] == ["import", "weights", "graphs", "draft_weights", "http"]
    told = timeline_of(server(drafted, story=loading()), 1040.0)
    assert [step.name for step in told] == list(ORDER)  # this run's own arguments have told that it drafts nothing


def test_nothing_is_made_up_where_neither_log_nor_history_tell() -> None:
    assert timeline_of(server(story=None), 1004.0) == ()
    assert timeline_of(server(past("0001", 8, 20, 300, 1), story=None, word=Word.STOPPED), 1004.0) == ()


def test_once_ready_all_of_it_is_past_and_stays_as_it_was() -> None:
    spans = (PhaseSpan("import", None, 0.0), PhaseSpan("weights", 0.0, 25.0), PhaseSpan("graphs", 25.0, 400.0))
    story = LogStory("sglang", word="ready", phases=spans, order=ORDER, zero_at=1010.0, has_ready_line=True)
    ready = server(past("0001", 8, 20, 300, 1), story=story, word=Word.READY)
    assert [step.seconds for step in timeline_of(ready, 9_999.0)] == [10.0, 25.0, 375.0, None]
    assert {step.stage for step in timeline_of(ready, 9_999.0)} == {"past"}
    assert told_seconds(timeline_of(ready, 9_999.0)) == (410.0, 328)


def test_a_start_that_crashed_keeps_the_phase_in_which_it_ended() -> None:
    crashed = server(story=loading(), word=Word.CRASHED)
    crashed = replace(crashed, evidence=replace(crashed.evidence, log_at=1060.0))
    assert timeline_of(crashed, 5_000.0)[2] == Step("graphs", "now", 25.0)


def test_there_is_no_usual_length_where_a_phase_has_none() -> None:
    assert told_seconds((Step("import", "past", 3.0, 2.0), Step("weights", "past", 4.0))) == (7.0, None)
    assert told_seconds(()) == (0.0, None)

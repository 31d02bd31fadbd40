"""A warm-up that goes through a proxy, and a port that opens long before the server can serve."""

from pathlib import Path

from tests.engines.reading import story_of, story_so_far

CASES = Path(__file__).parents[1] / "cases"


def test_a_warm_up_through_a_proxy_is_a_warning_that_names_it_and_never_ready() -> None:
    story = story_so_far(CASES / "B45_warmup_through_proxy" / "looping.log")
    assert (story.word, story.has_ready_line) == ("starting", False)
    assert story.phase is not None
    assert story.phase.name == "warm_up"
    assert story.warnings[0] == "warm-up goes through proxy.example:3128: add 0.0.0.0 to no_proxy in the server's `env`"


def test_the_end_of_it_is_the_failed_request_and_not_the_kernel() -> None:
    story = story_of(CASES / "B45_warmup_through_proxy" / "dead.log")
    cause = story.cause
    assert cause is not None
    assert (story.word, cause.kind, cause.line) == ("crashed", "warm-up-failed", 5)
    assert cause.message == "AssertionError: res=<Response [502]>, res.text=''"
    assert cause.hint is not None
    assert "no_proxy=localhost,127.0.0.1,0.0.0.0" in cause.hint
    assert "--skip-server-warmup" in cause.hint


def test_a_port_that_answers_is_a_start_until_the_ready_line() -> None:
    log = (CASES / "B49_ready_too_early" / "server.log").read_text().splitlines(keepends=True)
    for count, (word, phase) in enumerate(
        [("starting", "arguments"), ("starting", "warm_up"), ("starting", "warm_up"), ("starting", "warm_up")], start=1
    ):
        story = story_so_far("".join(log[:count]).encode())
        assert (story.word, story.phase.name if story.phase else None) == (word, phase)
    assert story_so_far("".join(log).encode()).word == "ready"

"""The whole fleet in one line, for a status bar, a prompt and the terminal's title."""

from dataclasses import replace

import pytest

from specdeck.errors import ExitCode
from specdeck.state.line import exit_code, one_line, title
from specdeck.state.log_story import LogStory, Progress
from specdeck.state.snapshot import Evidence, FleetState, HostState, Link, ServerState, Throughput, Word


def server(name: str, word: Word, *, percent: float | None = None, tok_s: float | None = None) -> ServerState:
    bar = None if percent is None else Progress("target weights", 1, 3, percent)
    rate = None if tok_s is None else Throughput(tok_s, "counters", 10.0, 5.0)
    evidence = Evidence(story=LogStory(progress=bar))
    return ServerState(name, "lab", 30000, "sglang", word=word, throughput=rate, evidence=evidence)


def fleet(*servers: ServerState, link: Link = "up") -> FleetState:
    return FleetState(5.0, (HostState("lab", "root@lab", link=link),), servers)


GLM, KIMI = server("glm", Word.CRASHED), server("kimi", Word.STARTING, percent=34.4)
QWEN = server("qwen", Word.READY, tok_s=96.2)


def test_a_small_fleet_is_told_server_by_server_in_its_own_order() -> None:
    assert one_line(fleet(QWEN, GLM, KIMI)) == "● qwen ready 96 tok/s | ✖ glm crashed | ◐ kimi starting 34%"


def test_of_a_large_one_the_worst_are_named_and_the_others_counted() -> None:
    others = [server(f"s{number}", Word.READY) for number in range(5)]
    line = one_line(fleet(*others, KIMI, GLM))
    assert line.startswith("✖ glm crashed | ◐ kimi starting 34% | ")
    assert line.endswith(" | ● 3 ready")


def test_a_host_that_is_away_is_told_last_and_nothing_is_watched_where_there_is_nothing() -> None:
    assert one_line(fleet(QWEN, link="stale")) == "● qwen ready 96 tok/s | lab stale"
    assert one_line(FleetState(5.0)) == "nothing is watched"


def test_a_bar_is_never_whole_before_ready() -> None:
    assert one_line(fleet(server("kimi", Word.STARTING, percent=100.0))) == "◐ kimi starting 99%"


def test_a_name_that_tmux_would_take_for_a_style_is_harmless() -> None:
    assert one_line(fleet(server("#[bg=red]\x07x", Word.STOPPED))) == "○ _[bg=red]x stopped"


def test_the_title_names_the_worst_and_how_many_more_are_not_well() -> None:
    assert title(fleet(QWEN, GLM, KIMI)) == "✖ glm crashed +1 - specdeck"
    assert title(fleet(QWEN, GLM)) == "✖ glm crashed - specdeck"
    assert title(fleet(QWEN, replace(QWEN, name="b"), server("c", Word.STOPPED))) == "● 2 ready, ○ 1 stopped - specdeck"
    assert title(FleetState(5.0)) == "specdeck"


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (fleet(QWEN, server("c", Word.STOPPED)), ExitCode.FINE),
        (fleet(QWEN, KIMI), ExitCode.NOT_AS_ASKED),
        (fleet(GLM, link="down"), ExitCode.UNREACHABLE),
        (fleet(QWEN, link="connecting"), ExitCode.UNREACHABLE),
    ],
)
def test_the_exit_code_is_the_worst_that_is_seen(state: FleetState, code: ExitCode) -> None:
    assert exit_code(state) == code

"""Cases of other people's issues through the whole core: log, process, port and health together."""

import json
from pathlib import Path

import pytest

from specdeck.config.objects import Fleet, Host, Profile, Server
from specdeck.engines.reader import LogReader
from specdeck.state.events import (
    Event,
    HealthAnswered,
    HostConnected,
    HostHeard,
    LogAdvanced,
    PortSeen,
    ProcessSeen,
    RunFound,
    Ticked,
)
from specdeck.state.initial import initial_state
from specdeck.state.reduce import reduce
from specdeck.state.snapshot import HttpWitness, PortWitness, ProcessWitness, RunIdentity, ServerState, Word

CASES = Path(__file__).parents[1] / "cases"
FLEET = Fleet(
    (Host("lab", "lab", servers=(Server("kimi", "lab", "/m", 30000, profiles=("p",)),)),), {"p": Profile("p", "sglang")}
)
ALIVE, OURS = ProcessWitness("alive", 7, (7,)), PortWitness("ours", 7)


class Told:
    """One run, told fact by fact."""

    def __init__(self, *, run: str = "0001") -> None:
        self._state = initial_state(FLEET, 0.0)
        self.at = 0.0
        self.take(HostConnected("lab"), RunFound("kimi", RunIdentity(run, 7, 1, "boot", started_at=0.0)))
        self.take(ProcessSeen("kimi", ALIVE), PortSeen("kimi", PortWitness("closed")))

    def take(self, *events: Event) -> ServerState:
        for event in (HostHeard("lab"), *events, Ticked()):
            self._state = reduce(self._state, event, self.at)
        return self._state.servers[0]


@pytest.mark.parametrize("run", ["0001", ""])
@pytest.mark.parametrize(
    ("log", "headline"),
    [
        ("bad_flag.log", "unrecognized arguments: --enable_metrics"),
        ("bad_choice.log", "argument --speculative-algorithm: invalid choice: 'EAGLE4'"),
        ("no_module.log", "No module named 'sglang'"),
        ("no_model.log", "OSError: /models/exmaple-70b is not a local folder"),
    ],
)
def test_b09_a_death_before_any_logging_is_crashed_at_the_first_look_with_its_one_line(
    run: str, log: str, headline: str
) -> None:
    """A server of others (no run folder) has no exit status that anybody could read: the same verdict without it."""
    folder = CASES / "B09_dies_before_logging"
    status = json.loads((folder / "exits.json").read_text())[log] if run else None
    told, reader = Told(run=run), LogReader("sglang")
    reader.feed((folder / log).read_bytes(), 1.0)
    told.at = 1.0
    server = told.take(ProcessSeen("kimi", ProcessWitness("gone", 7, (), status)), LogAdvanced("kimi", reader.story))
    assert server.word is Word.CRASHED
    begin = f"exit {status}: " if run else "exit status unknown: "
    assert server.because[0].startswith(begin)
    assert headline in server.because[0]


def test_b10_a_silent_death_is_crashed_at_the_first_look_and_keeps_its_last_progress() -> None:
    told, reader = Told(), LogReader("sglang")
    reader.feed((CASES / "B10_silent_death" / "server.log").read_bytes(), 1.0)
    told.at = 1.0
    assert told.take(LogAdvanced("kimi", reader.story)).word is Word.STARTING
    told.at = 3.0
    server = told.take(ProcessSeen("kimi", ProcessWitness("gone", 7, (), 137)))
    assert server.word is Word.CRASHED
    assert server.because[0] == "exit 137, SIGKILL: ended without an error message at 47/163 (target weights)"
    assert server.story is not None
    assert server.story.progress is not None
    assert (server.story.progress.done, server.story.progress.total) == (47, 163)


def test_b10_a_parent_that_outlives_its_workers_is_no_server_any_more() -> None:
    told = Told()
    server = told.take(
        PortSeen("kimi", OURS),
        HealthAnswered("kimi", HttpWitness("ok", 200, 0.1)),
        ProcessSeen("kimi", ProcessWitness("alive", 7, (7,), is_engine_gone=True)),
    )
    assert server.word is Word.UNHEALTHY
    assert "its worker processes have ended" in server.because[0]


def test_b45_uvicorn_running_is_not_ready_and_the_end_is_named() -> None:
    folder = CASES / "B45_warmup_through_proxy"
    told, reader = Told(), LogReader("sglang")
    reader.feed((folder / "looping.log").read_bytes(), 1.0)
    told.at = 1.0
    up = (PortSeen("kimi", OURS), HealthAnswered("kimi", HttpWitness("unavailable", 503, 0.1)))
    server = told.take(LogAdvanced("kimi", reader.story), *up)
    assert server.word is Word.STARTING
    assert server.story is not None
    assert "warm-up goes through proxy.example:3128" in server.story.warnings[0]
    reader = LogReader("sglang")
    reader.feed((folder / "dead.log").read_bytes(), 300.0)
    told.at = 300.0
    server = told.take(LogAdvanced("kimi", reader.story), ProcessSeen("kimi", ProcessWitness("gone", 7, (), 137)))
    assert server.because[0] == "exit 137, SIGKILL: AssertionError: res=<Response [502]>, res.text=''"


def test_b49_ready_is_said_at_the_ready_line_and_each_step_before_it_is_named() -> None:
    """Refused until 5 s, 503 until 20 s, 200 from then on while the warm-up blocks requests until its line at 45 s."""
    lines = (CASES / "B49_ready_too_early" / "server.log").read_bytes().splitlines(keepends=True)
    written = {0: lines[:1], 5: lines[1:2], 6: lines[2:3], 20: lines[3:4], 45: lines[4:]}
    told, reader, said = Told(), LogReader("sglang"), {}
    for second in range(60):
        told.at = float(second)
        news: list[Event] = []
        if second in written:
            reader.feed(b"".join(written[second]), told.at)
            news.append(LogAdvanced("kimi", reader.story))
        if second == 5:
            news.append(PortSeen("kimi", OURS))
        health = HttpWitness("refused") if second < 5 else HttpWitness("unavailable", 503) if second < 20 else None
        server = told.take(*news, HealthAnswered("kimi", health or HttpWitness("ok", 200)))
        said[second] = (str(server.word), server.because[0])
    assert [str(word) for second, (word, _) in said.items() if second < 45] == ["starting"] * 45
    assert {word for second, (word, _) in said.items() if second >= 45} == {"ready"}
    assert said[10][1].startswith("log: starting, warm_up")
    assert said[30][1] == "almost ready: health 200, the log's ready line is awaited"
    told.at = 70.0
    server = told.take(HealthAnswered("kimi", HttpWitness("unavailable", 503)))
    assert (server.word, server.because[0]) == (Word.UNHEALTHY, "was ready, now health 503")


def test_b50_a_key_that_is_needed_is_up_and_never_down() -> None:
    told = Told()
    ready = LogReader("sglang")
    ready.feed(b"[2026-01-05 10:02:45] The server is fired up and ready to roll!\n", 1.0)
    told.at = 1.0
    needed = HttpWitness("key-needed", 401, 0.01, detail="set api_key_env")
    server = told.take(LogAdvanced("kimi", ready.story), PortSeen("kimi", OURS), HealthAnswered("kimi", needed))
    assert server.word is Word.READY
    assert server.because[0] == "up, but health 401, a key is needed (set api_key_env), 0 s"


@pytest.mark.parametrize(("log", "tok_s"), [("sglang.log", 640.25), ("vllm.log", 310.4)])
def test_b51_without_metrics_the_log_tells_the_rate_and_an_old_line_tells_none(log: str, tok_s: float) -> None:
    told, reader = Told(), LogReader()
    told.at = 10.0
    reader.feed(b"".join((CASES / "B51_no_metrics_endpoint" / log).read_bytes().splitlines(keepends=True)), 10.0)
    told.take(PortSeen("kimi", OURS), HealthAnswered("kimi", HttpWitness("ok", 200)))
    server = told.take(LogAdvanced("kimi", reader.story))
    assert server.throughput is not None
    assert (server.throughput.tok_s, server.throughput.source) == (tok_s, "log")
    told.at = 26.0
    assert told.take(HealthAnswered("kimi", HttpWitness("ok", 200))).throughput is None

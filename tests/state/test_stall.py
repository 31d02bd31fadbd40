"""A start has its own pace: slow is no alarm, silence beyond the pace is; our own requests are no life of the engine."""

from pathlib import Path

import pytest

from specdeck.config.objects import Fleet, Host, Profile, Server
from specdeck.engines.reader import LogReader
from specdeck.parsing.proc import ProcessStat
from specdeck.services.cpu_use import CpuUse
from specdeck.state.events import (
    Event,
    GpuProcessesSampled,
    GpusSampled,
    HealthAnswered,
    HostConnected,
    HostHeard,
    LoadSampled,
    LogAdvanced,
    PortSeen,
    ProcessSeen,
    RunFound,
    Ticked,
)
from specdeck.state.gpu_snapshot import Gpu, GpuProcess
from specdeck.state.initial import initial_state
from specdeck.state.load import LoadReading
from specdeck.state.log_story import LogStory, Phase, Progress
from specdeck.state.reduce import reduce
from specdeck.state.snapshot import FleetState, HttpWitness, PortWitness, ProcessWitness, RunIdentity, ServerState, Word

CASES = Path(__file__).parents[1] / "cases"
FLEET = Fleet(
    (Host("lab", "lab", servers=(Server("kimi", "lab", "/m", 30000, profiles=("p",)),)),), {"p": Profile("p", "sglang")}
)
RUN = RunIdentity("0042", 41233, 777, "boot-1", started_at=0.0)


def alive(*, is_busy: bool | None = None) -> ProcessSeen:
    return ProcessSeen("kimi", ProcessWitness("alive", 41233, (41233,), is_busy=is_busy))


def played(*steps: tuple[float, Event], state: FleetState | None = None) -> FleetState:
    state = initial_state(FLEET, 0) if state is None else state
    for at, event in steps:
        state = reduce(state, event, at)
    return state


def kimi_at(at: float, state: FleetState) -> ServerState:
    """The server as it is judged at a moment, its host just heard."""
    server = played((at, HostHeard("lab")), (at, Ticked()), state=state).server("kimi")
    assert server is not None
    return server


def started(story: LogStory, at: float, *, is_busy: bool | None = False) -> FleetState:
    return played(
        (0, HostConnected("lab")),
        (1, RunFound("kimi", RUN)),
        (1, alive(is_busy=is_busy)),
        (1, PortSeen("kimi", PortWitness("closed"))),
        (at, LogAdvanced("kimi", story)),
    )


def read(log: bytes, at: float, engine: str | None = None) -> LogStory:
    reader = LogReader(engine)
    reader.feed(log, at)
    return reader.story


def test_a_slow_network_disk_is_normal_until_it_is_silent_for_many_of_its_own_steps() -> None:
    story = read((CASES / "B06_slow_network_disk" / "server.log").read_bytes(), 626)
    assert story.progress is not None
    assert (story.progress.done, story.progress.total, int(story.progress.percent)) == (24, 85, 28)
    assert story.progress.rate == pytest.approx(1 / 29.91)
    assert story.progress.eta_seconds == 30 * 60 + 24
    state = started(story, 626)
    assert [kimi_at(at, state).word for at in (640, 700, 716, 790, 900)] == [Word.STARTING] * 5
    server = kimi_at(1300, state)
    assert server.word is Word.STALLED
    assert server.because[0] == (
        "reading target weights stalled at 24/85: silent for 11m14s, a step took 30 s before; does the disk answer?,"
        " CPU and GPUs idle"
    )


def test_a_fast_load_that_stops_is_noticed_much_sooner() -> None:
    story = LogStory(
        "sglang",
        phase=Phase("weights", 5, 11),
        progress=Progress("target weights", 22, 64, 34.4, rate=3.3),
        spoke_at=10,
    )
    state = started(story, 10)
    assert (kimi_at(39, state).word, kimi_at(41, state).word) == (Word.STARTING, Word.STALLED)


def test_a_compile_that_says_nothing_is_quiet_and_no_alarm_while_the_cpu_works() -> None:
    story = LogStory("sglang", phase=Phase("graphs", 7, 9), progress=Progress("graphs", 0, 12, 0.0), spoke_at=10)
    state = started(story, 10, is_busy=True)
    assert kimi_at(60, state).because[0] == "log: graphs 0/12, last line 50 s ago"
    server = kimi_at(900, state)
    assert (server.word, server.because[0]) == (Word.STARTING, "quiet for 14m50s, CPU busy")


def test_a_start_without_a_pace_is_called_stalled_after_minutes_of_idleness_only() -> None:
    story = LogStory("sglang", phase=Phase("distributed", 4, 9), spoke_at=10)
    state = started(story, 10, is_busy=False)
    assert kimi_at(300, state).word is Word.STARTING
    server = kimi_at(320, state)
    assert (server.word, server.because[0]) == (
        Word.STALLED,
        "phase distributed stalled: silent for 5m10s, CPU and GPUs idle",
    )
    unmeasured = started(story, 10, is_busy=None)
    assert kimi_at(3000, unmeasured).word is Word.STARTING


def test_a_busy_gpu_of_the_server_says_that_it_works() -> None:
    story = LogStory("sglang", phase=Phase("graphs", 7, 9), spoke_at=10)
    state = played(
        (11, GpusSampled("lab", (Gpu(0, "GPU-a", "H200", utilization_percent=97.0),))),
        (11, GpuProcessesSampled("lab", (GpuProcess(41233, "sglang::scheduler", "GPU-a", 9531),))),
        state=started(story, 10, is_busy=False),
    )
    server = kimi_at(400, state)
    assert (server.word, server.because[0]) == (Word.STARTING, "quiet for 6m30s, GPU busy")


SERVING = b"""[2026-01-05 10:00:00] The server is fired up and ready to roll!
[2026-01-05 10:00:10] Decode batch, #running-req: 3, #token: 163, token usage: 0.00, cuda graph: True, \
gen throughput (token/s): 158.34, #queue-req: 0
"""
POLLS = b"""[2026-01-05 10:00:20] INFO:     127.0.0.1:42960 - "GET /health HTTP/1.1" 200 OK
[2026-01-05 10:00:21] INFO:     127.0.0.1:42961 - "GET /metrics HTTP/1.1" 200 OK
"""


def hung(log_again: bytes) -> ServerState:
    """Three requests run, the counter stands, the log gets these lines until the end."""
    reader = LogReader("sglang")
    reader.feed(SERVING, 10)
    state = played(
        (0, HostConnected("lab")),
        (1, RunFound("kimi", RUN)),
        (1, alive()),
        (1, PortSeen("kimi", PortWitness("ours", 41233))),
        (10, LogAdvanced("kimi", reader.story)),
    )
    for at in range(20, 131, 10):
        reader.feed(log_again, float(at))
        state = played(
            (at, HealthAnswered("kimi", HttpWitness("ok", 200, 0.1))),
            (at, LogAdvanced("kimi", reader.story)),
            (at, LoadSampled("kimi", LoadReading(10_400, "decode", running=3, queued=20))),
            state=state,
        )
    return kimi_at(130, state)


def test_access_lines_of_our_own_polls_do_not_keep_a_hung_server_fresh() -> None:
    server = hung(POLLS)
    assert (server.word, server.because[0]) == (Word.STALLED, "3 running, 20 waiting, 0 tok/s for 1m40s")


def test_a_prefill_line_says_that_the_engine_works() -> None:
    prefill = (
        b"[2026-01-05 10:01:00] Prefill batch, #new-seq: 1, #new-token: 8192, #cached-token: 0, token usage: 0.10, "
        b"#running-req: 3, #queue-req: 20, \n"
    )
    assert hung(prefill).word is Word.READY


@pytest.mark.parametrize(
    "line",
    [
        '[2026-01-05 10:00:20] INFO:     127.0.0.1:42960 - "GET /health HTTP/1.1" 200 OK',
        'INFO:     127.0.0.1:42960 - "GET /metrics HTTP/1.1" 200 OK',
        "srv  log_server_r: done request: GET /health 127.0.0.1 200",
        "[2026-01-05 10:00:20] Health check failed. Server couldn't get a response from detokenizer for last 20 seconds.",
        "",
    ],
)
def test_lines_that_a_watcher_causes_are_no_words_of_the_engine(line: str) -> None:
    reader = LogReader("sglang")
    reader.feed(SERVING, 10.0)
    reader.feed(line.encode() + b"\n", 50.0)
    assert reader.story.spoke_at == 10.0


def test_a_request_of_a_user_is_a_word_of_the_engine() -> None:
    reader = LogReader("sglang")
    reader.feed(SERVING, 10.0)
    reader.feed(b'[2026-01-05 10:00:20] INFO:     127.0.0.1:42960 - "POST /generate HTTP/1.1" 200 OK\n', 50.0)
    assert reader.story.spoke_at == 50.0


def stat(pid: int, ticks: int) -> ProcessStat:
    return ProcessStat(pid, "x", "S", 1, 1, 1, 7, ticks)


def busy_after(*samples: tuple[float, tuple[ProcessStat, ...]]) -> bool | None:
    use = CpuUse()
    for at, stats in samples:
        use.take(stats, at)
    return use.is_busy


def test_a_family_is_busy_by_the_ticks_of_all_its_processes() -> None:
    idle = (stat(1, 100), stat(2, 100))
    compiler = (*idle, stat(3, 900))  # 9 s of CPU in 10 s
    nearly_idle = (stat(1, 110), stat(2, 100))  # 0.1 s in 10 s
    assert busy_after((0.0, idle)) is None
    assert busy_after((0.0, idle), (9.0, compiler)) is None
    assert busy_after((0.0, idle), (10.0, compiler)) is True
    assert busy_after((0.0, idle), (10.0, compiler), (20.0, idle), (30.0, nearly_idle)) is False
    assert busy_after((0.0, idle), (10.0, compiler), (20.0, ())) is None


def test_a_stopped_scheduler_is_unhealthy_when_its_health_answers_and_ready_again_when_it_goes_on() -> None:
    """As recorded on an H200: stopped at 91 s, /health took 20.0 s and said 503, 2 s after SIGCONT it said 200 again."""
    reader = LogReader("sglang")
    reader.feed(SERVING, 60)
    state = played(
        (0, HostConnected("lab")),
        (1, RunFound("kimi", RUN)),
        (1, alive()),
        (1, PortSeen("kimi", PortWitness("ours", 41233))),
        (60, LogAdvanced("kimi", reader.story)),
        (61, HealthAnswered("kimi", HttpWitness("ok", 200, 0.1))),
    )
    assert kimi_at(62, state).word is Word.READY
    state = played((111.6, HealthAnswered("kimi", HttpWitness("unavailable", 503, 20.007))), state=state)
    server = kimi_at(111.6, state)
    assert (server.word, server.since, server.because[0]) == (Word.UNHEALTHY, 111.6, "was ready, now health 503, 20 s")
    state = played((114, HealthAnswered("kimi", HttpWitness("ok", 200, 0.1))), state=state)
    assert kimi_at(114, state).word is Word.READY

"""What holds of the state after any facts in any order: a word with its reasons, and no claim without its witness."""

import json

from tests.fuzz.spelling import Choices, can_be_shown

from specdeck.cli.state_json import fleet_json
from specdeck.config.objects import Fleet, Group, Host, Profile, Server
from specdeck.parsing.gpu_check import GpuCheck
from specdeck.state import events
from specdeck.state.alert_book import Silence
from specdeck.state.gpu_snapshot import CheckUp, Gpu, GpuProcess
from specdeck.state.initial import initial_state
from specdeck.state.load import LoadReading
from specdeck.state.log_story import BatchReport, Cause, LogStory, Phase, Progress
from specdeck.state.reduce import reduce
from specdeck.state.serving import CounterKey
from specdeck.state.snapshot import (
    Act,
    Disk,
    FleetState,
    HttpWitness,
    PortLock,
    PortWitness,
    ProcessWitness,
    RunIdentity,
    ServerState,
    Watcher,
    Word,
)

HOSTS = ("lab", "lab2", "nowhere")
SERVERS = ("kimi", "kimi.1", "found", "nobody")
FLEET = Fleet(
    (
        Host("lab", "root@lab", servers=(Server("kimi", "lab", "/m", 30000, group=Group("kimi", 0, ("lab", "lab2"), "h")),)),
        Host("lab2", "root@lab2", servers=(Server("kimi.1", "lab2", "/m", 30000, group=Group("kimi", 1, ("lab", "lab2"), "h")),)),
    ),
    {"p": Profile("p", "sglang")},
)  # fmt: skip
SMALLER = Fleet((Host("lab", "root@elsewhere", servers=(Server("kimi", "lab", "/m", 30000),)),), {})
"""The fleet file, written anew: one host less, the other moved, and no group."""
STORIES = (
    LogStory(),
    LogStory(engine="sglang", phase=Phase("weights", 5, 11), progress=Progress("target weights", 2, 64, 3.1, rate=3.3)),
    LogStory(engine="sglang", word="ready", has_ready_line=True),
    LogStory(engine="vllm", word="ready", batch=BatchReport(50.0, 2, 1, 0.5, 1.6), batch_at=1.0, has_ready_line=True),
    LogStory(engine="sglang", word="stopping", has_ready_line=True),
    LogStory(word="stopped"),
    LogStory(word="crashed", cause=Cause("nccl", "NCCL timeout\x1b[31m", line=12, rank="TP5")),
)
PROCESSES = (
    ProcessWitness(),
    ProcessWitness("none"),
    ProcessWitness("alive", 7, (7, 8), is_busy=False),
    ProcessWitness("alive", 7, (7,), is_engine_gone=True),
    ProcessWitness("zombie", 7, (8,), None, is_family_seen=False),
    ProcessWitness("gone", 7, (), 0),
    ProcessWitness("gone", 7, (8,), -9, names=("x\x07",)),
)
PORTS = (
    PortWitness(),
    PortWitness("closed"),
    PortWitness("ours", 7),
    PortWitness("stranger", 9, "node\r"),
    PortWitness("open"),
)
ANSWERS = (
    *(HttpWitness(state) for state in ("unknown", "refused", "timeout", "error", "tls")),
    HttpWitness("ok", 200, 0.1),
    HttpWitness("unavailable", 503, 20.0, detail="\x1b[2J"),
    HttpWitness("key-needed", 401),
)
RUNS = (
    None,
    *(RunIdentity(run, pid, 1, "boot", "p", started_at=5.0) for run, pid in (("0001", 7), ("0002", 9), ("", 7))),
)
ACTS = (
    None,
    *(Act(kind, step, "x\n", 1.0) for kind in ("stop", "launch", "pivot") for step in ("term", "kill", "blocked")),
    Act("stop", "done", "", 1.0, is_over=True),
)
LOADS = (
    events.LoadSampled("kimi"),
    events.LoadSampled("kimi", LoadReading(10.0, "a", running=2, queued=20, kv_usage=0.5)),
    events.LoadSampled("kimi", LoadReading(900.0, "a", running=0)),
    events.LoadSampled("kimi", LoadReading(page={CounterKey("drafts", ""): 4.0, CounterKey("accepted", ""): 2.0})),
    events.LoadSampled(
        "kimi", LoadReading(engine_version="0.5.12", speculation="v2", draft_steps=0), note="metrics are off\x1b"
    ),
)
GPUS = (
    (),
    (Gpu(0, "GPU-a", "H200", 97.0, 100, 143771, unreadable={"power_w": "[N/A]"}),),
    (Gpu(0, "GPU-a", "H200"), Gpu(1, "GPU-b", "H200", throttle=("hw_slowdown",))),
)
APPS = (
    (),
    (GpuProcess(8, "sglang::scheduler", "GPU-a", 9531),),
    (GpuProcess(99, "x\x1b", "GPU-z", is_left_behind=True),),
)


def _fact(choices: Choices) -> events.Event:
    """Any event about anybody."""
    kind, host, server = choices.number() % 25, choices.one_of(HOSTS), choices.one_of(SERVERS)
    match kind:
        case 0:
            return events.HostConnected(host)
        case 1:
            return events.HostHeard(host)
        case 2:
            return events.HostLost(host, "timed out\x1b", choices.one_of((None, 5.0)))
        case 3:
            return events.ServerDiscovered(host, server, 30001)
        case 4:
            return events.GpusSampled(host, choices.one_of(GPUS))
        case 5:
            return events.GpuProcessesSampled(host, choices.one_of(APPS))
        case 6:
            return events.GpusUnavailable(host, "no nvidia-smi")
        case 7:
            return events.HostMemorySampled(host, choices.one_of((None, 128_000)), None)
        case 8:
            return events.RunFound(server, choices.one_of(RUNS), stop_asked=choices.one_of((False, True)))
        case 9 | 10:
            return events.ProcessSeen(server, choices.one_of(PROCESSES))
        case 11:
            return events.PortSeen(server, choices.one_of(PORTS))
        case 12 | 13:
            return events.HealthAnswered(server, choices.one_of(ANSWERS))
        case 14:
            return events.LogAdvanced(server, choices.one_of(STORIES))
        case 15:
            return events.LogUnreadable(server, "no log file\x07")
        case 16:
            return choices.one_of(LOADS)
        case 17:
            return events.ActAdvanced(server, choices.one_of(ACTS), choices.one_of((None, "768 GiB held\n")))
        case 18:
            lock = PortLock("held", "pivot", "ann", 3.0)
            return events.LockSeen(server, choices.one_of((None, lock)))
        case 19:
            return events.WatchersSeen(host, choices.one_of(((), (Watcher("ann", 2.0, is_read_only=True),))))
        case 20:
            return events.FleetRead(choices.one_of((FLEET, SMALLER)))
        case 21:
            return events.AlertsSilenced(choices.one_of((Silence(), Silence(until=50.0))))
        case 22:
            return events.GpusChecked(
                host, CheckUp(1.0, choices.one_of(((), (GpuCheck(0, "GPU-a", ecc_uncorrected=2),))))
            )
        case 23:
            return events.DisksSampled(host, choices.one_of(((), (Disk("/var/log\x1b", 100, 1),))))
        case _:
            return events.Ticked()


def any_facts(raw: bytes) -> None:
    """A life of a fleet, with its clock now and then set back."""
    choices = Choices(raw[:400])
    state, at = initial_state(FLEET, 0.0), 0.0
    while choices.are_left:
        at = max(0.0, at + choices.one_of((0.0, 0.3, 1.0, 2.0, 11.0, 61.0, 400.0, -5.0)))
        state = reduce(state, _fact(choices), at)
        for server in state.everyone:
            assert broken(server, state) is None, (broken(server, state), server.word, server.because)
    json.dumps(fleet_json(state, at), allow_nan=False)


def broken(server: ServerState, state: FleetState) -> str | None:
    """The first truth that does not hold."""
    evidence, word = server.evidence, server.word
    host = state.host(server.host)
    assert host is not None
    alone = word if not evidence.ranks else None
    serves = alone in (Word.READY, Word.STALLED) and evidence.rank == 0
    is_starting_stall = alone is Word.STALLED and evidence.start_stall is not None
    is_halted = alone is Word.STALLED and bool(evidence.process.halted)
    truths = {
        "every sentence can be shown": all(can_be_shown(each) for each in server.because),
        "a word has its reasons": bool(server.because) or word is Word.UNKNOWN,
        "a host that is away makes its servers unreachable": (host.link in ("stale", "down"))
        <= (word is Word.UNREACHABLE),
        "none is unreachable else": alone is not Word.UNREACHABLE or host.link in ("stale", "down"),
        "none is ready without an answer": alone is not Word.READY
        or evidence.rank > 0
        or evidence.http.state in ("ok", "key-needed", "tls"),
        "none serves on a port of others": not serves
        or evidence.port.state in ("ours", "open")
        or is_starting_stall
        or is_halted,
        "none serves that is gone": not serves or evidence.process.state not in ("gone", "zombie"),
        "a stop that was asked is no crash": not (evidence.stop_asked and alone is Word.CRASHED),
        "no rate is negative": server.throughput is None or server.throughput.tok_s >= 0,
        "history goes forwards": list(server.throughput_history) == sorted(server.throughput_history),
        "rest has no load": word not in (Word.STOPPED, Word.CRASHED)
        or server.requests_running is None
        or bool(evidence.ranks),
    }
    return next((truth for truth, holds in truths.items() if not holds), None)

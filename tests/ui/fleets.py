"""Fleet states made by hand from realistic values: what the dashboard's tests and pictures show."""

import math
from collections.abc import Sequence
from dataclasses import replace

from specdeck.state.gpu_snapshot import Gpu, GpuProcess
from specdeck.state.log_story import BatchReport, Cause, LogStory, Phase, PhaseSpan, Progress
from specdeck.state.phases import PhaseName
from specdeck.state.snapshot import (
    Act,
    Evidence,
    FleetState,
    Happening,
    HostState,
    HttpWitness,
    PortWitness,
    ProcessWitness,
    RunIdentity,
    ServerState,
    Throughput,
    Word,
)
from specdeck.state.starts import PastStart

NOW = 1_796_220_131.0
"""14:02:11 UTC on a day in 2026."""
PROFILES = ("eagle3-v1", "eagle3-v2", "baseline")
BOOT = "5b0c2f0e-0d3a-4c53-9a3e-52a0a3c55d11"


def gpu(
    index: int,
    *,
    name: str,
    load: float,
    used: int,
    total: int,
    watts: float,
    celsius: float,
    server: str | None = None,
) -> Gpu:
    """One GPU with a history that ends at `load`."""
    history = tuple(max(0.0, min(100.0, load + 14 * math.sin((step + index) / 2.3))) for step in range(-39, 1))
    uuid = f"GPU-{index:08d}"
    processes = (
        (GpuProcess(41_300 + index, f"sglang::scheduler_TP{index}", uuid, used - 400, server),) if server else ()
    )
    return Gpu(
        index=index,
        uuid=uuid,
        name=name,
        utilization_percent=load,
        memory_used_mib=used,
        memory_total_mib=total,
        temperature_c=celsius,
        power_w=watts,
        power_limit_w=600.0,
        utilization_history=history,
        processes=processes,
    )


def blackwell() -> HostState:
    """Eight GPUs that load weights."""
    gpus = tuple(
        gpu(
            i,
            name="RTX PRO 6000",
            load=11.0 + i % 3,
            used=34_800 + 40 * i,
            total=97_887,
            watts=97.0 + i,
            celsius=41.0 + i % 2,
            server="kimi",
        )
        for i in range(8)
    )
    return HostState("blackwell", "root@blackwell", "up", last_seen=NOW - 1, gpus=gpus, gpus_at=NOW - 1)


def h200(name: str, server: str | None, *, load: float) -> HostState:
    """One H200."""
    one = gpu(0, name="H200", load=load, used=121_300, total=143_771, watts=412.0, celsius=58.0, server=server)
    return HostState(name, f"root@{name}", "up", last_seen=NOW - 1, gpus=(one,), gpus_at=NOW - 1)


def run(number: str, pid: int, profile: str) -> RunIdentity:
    """A run that began 42 s ago."""
    return RunIdentity(
        number, pid, 8_812_345, BOOT, profile, f"/root/.local/state/specdeck/x/{number}/log", NOW - 42, "ana"
    )


ORDER: tuple[PhaseName, ...] = (
    "import", "arguments", "processes", "distributed", "weights", "kv_cache", "graphs", "draft_weights", "draft_graphs",
    "http", "warm_up",
)  # fmt: skip


def past_starts() -> tuple[PastStart, ...]:
    """Three starts of kimi with eagle3-v2, newest first: 8m25, 8m18, 8m30."""
    lengths = (
        (9, 2, 14, 3, 25, 4, 302, 9, 121, 1, 15),
        (8, 2, 13, 3, 24, 4, 300, 8, 120, 1, 15),
        (10, 2, 15, 3, 27, 4, 304, 9, 120, 1, 15),
    )
    return tuple(
        PastStart(
            "kimi", f"00{41 - index}", "/data/models/kimi-k2", "eagle3-v2", "sglang", "0.5.12", BOOT,
            NOW - 86_400 * (index + 1), tuple(zip(ORDER, (float(each) for each in seconds), strict=True)), is_cold=False,
        )
        for index, seconds in enumerate(lengths)
    )  # fmt: skip


def starting_story() -> LogStory:
    """Five phases in, the target's shards load."""
    spans = (
        PhaseSpan("import", 0.0, 9.0),
        PhaseSpan("arguments", 9.0, 11.0),
        PhaseSpan("processes", 11.0, 25.0),
        PhaseSpan("distributed", 25.0, 28.2),
        PhaseSpan("weights", 28.2, None),
    )
    return LogStory(
        engine="sglang",
        engine_version="0.5.12",
        speculation="v2",
        phase=Phase("weights", 5, 11),
        phases=spans,
        order=ORDER,
        progress=Progress("target weights", 22, 64, 34.4, 3.3, 12.0),
        lines=212,
        zero_at=NOW - 42,
    )


def ready_story(version: str = "0.5.12") -> LogStory:
    """All phases told."""
    lengths = {
        "import": 9,
        "arguments": 2,
        "processes": 14,
        "distributed": 3,
        "weights": 25,
        "kv_cache": 4,
        "graphs": 302,
        "draft_weights": 9,
        "draft_graphs": 121,
        "http": 1,
        "warm_up": 15,
    }
    spans, at = [], 0.0
    for name, seconds in lengths.items():
        spans.append(PhaseSpan(name, at, at + seconds))  # type: ignore[arg-type]
        at += seconds
    return LogStory(
        engine="sglang", word="ready", engine_version=version, speculation="v2", phases=tuple(spans), order=ORDER,
        batch=BatchReport(96.1, 1, 0, 0.11, 2.41), batch_at=NOW - 2, lines=4_812, has_ready_line=True,
    )  # fmt: skip


def kimi() -> ServerState:
    """Starts, with a bar."""
    evidence = Evidence(
        "up",
        ProcessWitness("alive", 41_233, tuple(range(41_233, 41_243))),
        PortWitness("closed"),
        HttpWitness("refused", at=NOW - 3),
        starting_story(),
        log_at=NOW - 0.3,
    )
    return ServerState(
        "kimi", "blackwell", 30_000, "sglang", PROFILES, "eagle3-v2", "0.5.12", run("0042", 41_233, "eagle3-v2"),
        Word.STARTING, ("the log says: loading weights, phase 5 of 11",
         "process 41233 lives; port 30000 is not listening yet, normal in this phase"),
        NOW - 42, evidence, gpu_memory_mib=279_000, past_starts=past_starts(), is_seen_from_start=True,
    )  # fmt: skip


def history(level: float, *, seconds: int = 300, gap: tuple[int, int] | None = None) -> tuple[tuple[float, float], ...]:
    """A point each two seconds; none inside the gap (seconds ago)."""
    points = []
    for ago in range(seconds, 0, -2):
        if gap is None or not gap[1] <= ago <= gap[0]:
            points.append((NOW - ago, level * (0.82 + 0.18 * math.sin(ago / 17.0) + 0.05 * math.sin(ago / 3.1))))
    return tuple(points)


def qwen(name: str = "qwen", host: str = "h200-a", *, level: float = 773.0, profile: str = "baseline") -> ServerState:
    """Serves."""
    evidence = Evidence(
        "up",
        ProcessWitness("alive", 2_201, (2_201, 2_240, 2_241)),
        PortWitness("ours", 2_201),
        HttpWitness("ok", 200, 0.004, NOW - 6),
        ready_story(),
        log_at=NOW - 1.2,
    )
    return ServerState(
        name, host, 30_000, "sglang", PROFILES, profile, "0.5.12", run("0017", 2_201, profile), Word.READY,
        ("health 200 in 4 ms by the run that was launched (pid 2201)", "the log says it is ready"), NOW - 11_560, evidence,
        Throughput(level, "counters", 10.0, NOW - 1), history(level, gap=(170, 120)), 31, 4, 0.62,
        2.41 if profile.startswith("eagle") else None, 121_000,
    )  # fmt: skip


def glm() -> ServerState:
    """Crashed, with a cause far above the tail."""
    cause = Cause(
        "nccl", "NCCL timeout after 600 s in ALLREDUCE (7 ranks follow)", 34, "TP5",
        "One rank hangs: look at GPU 5 (Xid in dmesg), then start again; NCCL_DEBUG=INFO names the peer.",
    )  # fmt: skip
    story = replace(ready_story(), word="crashed", cause=cause)
    evidence = Evidence(
        "up",
        ProcessWitness("gone", 991, exit_status=137),
        PortWitness("closed"),
        HttpWitness("refused", at=NOW - 4),
        story,
        NOW - 121,
    )
    return ServerState(
        "glm", "h200-b", 30_001, "sglang", PROFILES, "eagle3-v2", "0.5.12", run("0008", 991, "eagle3-v2"), Word.CRASHED,
        ("the process is gone: exit status 137 (SIGKILL), nobody asked for a stop",
         "first cause in the log: NCCL timeout"), NOW - 122, evidence,
    )  # fmt: skip


def llama() -> ServerState:
    """Its host does not answer."""
    return ServerState(
        "llama", "old-box", 8_000, "vllm", ("baseline",), "baseline", None, None, Word.UNREACHABLE,
        ("timed out (keepalive)",), NOW - 245, Evidence("down"),
    )  # fmt: skip


def happenings() -> tuple[Happening, ...]:
    """Oldest first."""
    return (
        Happening(NOW - 300, "old-box", "timed out (keepalive)", "warning"),
        Happening(NOW - 131, "glm", "crashed: NCCL timeout on TP5 (exit 137, SIGKILL)", "error"),
        Happening(NOW - 61, "kimi", "pivot eagle3-v1 → eagle3-v2 by ana: stopped in 6.3 s, 768 GiB back in 0.9 s"),
        Happening(NOW - 42, "kimi", "started run 0042 (pid 41233)"),
    )


def fleet() -> FleetState:
    """Five servers in five states, on four hosts."""
    old_box = HostState("old-box", "old-box", "down", "timed out (keepalive)", NOW + 12, NOW - 245)
    return FleetState(
        NOW,
        (blackwell(), h200("h200-a", "qwen", load=87.0), h200("h200-b", None, load=0.0), old_box),
        (kimi(), qwen(), qwen("qwen-spec", level=96.1, profile="eagle3-v1"), glm(), llama()),
        happenings(),
    )


def only(server: ServerState, *hosts: HostState) -> FleetState:
    """A fleet of one server."""
    return FleetState(NOW, hosts or (blackwell(),), (server,), happenings()[-2:])


def acting(server: ServerState, *, step: str = "waiting") -> ServerState:
    """A pivot is under way."""
    act = Act("pivot", step, "left=13", NOW - 12, NOW + 48, "eagle3-v1", "ana")
    return replace(server, word=Word.STOPPING, act=act, since=NOW - 12)


def with_server(state: FleetState, server: ServerState) -> FleetState:
    """The same fleet with this server instead of the one of its name."""
    return replace(state, servers=tuple(server if s.name == server.name else s for s in state.servers))


def in_turn(values: Sequence[float]) -> tuple[float, ...]:
    """A history of exactly these values."""
    return tuple(values)

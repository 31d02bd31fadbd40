"""The same fleet with kimi in each of its states: what snapshots, pictures and the terminals of the tests show."""

from collections.abc import Mapping
from dataclasses import replace

from tests.ui import fleets
from tests.ui.fleets import NOW

from specdeck.state.log_story import Cause
from specdeck.state.serving import Quantiles, Serving
from specdeck.state.snapshot import (
    Act,
    Evidence,
    FleetState,
    HttpWitness,
    PortWitness,
    ProcessWitness,
    ServerState,
    Throughput,
    Word,
)

SERVING = Serving(60.0, Quantiles(0.31, 1.2), Quantiles(0.024, 0.031), None, 0.25, 2.41, (0.82, 0.61, 0.44))


def busy() -> ServerState:
    """Serves many."""
    idle = ready()
    return replace(
        idle,
        throughput=Throughput(1_213.0, "counters", 10.0, NOW - 1),
        throughput_history=fleets.history(1_213.0, gap=(170, 120)),
        requests_running=31,
        requests_queued=4,
        kv_usage=0.62,
        accept_length=2.41,
        serving=SERVING,
    )


def ready() -> ServerState:
    """Serves nobody now."""
    evidence = Evidence(
        "up",
        ProcessWitness("alive", 41_233, tuple(range(41_233, 41_243))),
        PortWitness("ours", 41_233),
        HttpWitness("ok", 200, 0.004, NOW - 6),
        fleets.ready_story(),
        log_at=NOW - 1.2,
        was_ready=True,
    )
    return replace(
        fleets.kimi(), word=Word.READY, since=NOW - 2_460, evidence=evidence, gpu_memory_mib=612_000,
        because=("health 200 in 4 ms by the run that was launched (pid 41233)", "the log says it is ready"),
        throughput=Throughput(0.0, "counters", 10.0, NOW - 1), throughput_history=fleets.history(0.0),
        requests_running=0, requests_queued=0, kv_usage=0.0,
    )  # fmt: skip


def stalled() -> ServerState:
    """Says 200 and moves nothing."""
    sentence = "3 running, 20 waiting, 0 tok/s for 1m50s"
    server = busy()
    return replace(
        server, word=Word.STALLED, since=NOW - 110, because=(sentence, "health 200 in 4 ms"), requests_running=3,
        requests_queued=20, throughput=Throughput(0.0, "counters", 10.0, NOW - 1), accept_length=None, serving=None,
        evidence=replace(server.evidence, stall=sentence),
    )  # fmt: skip


def unhealthy() -> ServerState:
    """Was ready, now says 503."""
    server = busy()
    http = HttpWitness("unavailable", 503, 0.012, NOW - 3, "Service Unavailable")
    return replace(
        server, word=Word.UNHEALTHY, since=NOW - 33, because=("was ready, now health 503 (unavailable)",),
        evidence=replace(server.evidence, http=http),
    )  # fmt: skip


def crashed() -> ServerState:
    """Out of memory while it served."""
    hint = "Lower --mem-fraction-static (now 0.92) or --max-running-requests; the KV cache took 61 of 94 GiB."
    message = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 94.97 GiB of which 1.21 GiB is free."
    story = replace(fleets.ready_story(), word="crashed", cause=Cause("out-of-memory", message, 4_801, "TP3", hint))
    evidence = Evidence(
        "up",
        ProcessWitness("gone", 41_233, exit_status=137),
        PortWitness("closed"),
        HttpWitness("refused", at=NOW - 4),
        story,
        NOW - 121,
    )
    return replace(
        fleets.kimi(), word=Word.CRASHED, since=NOW - 122, evidence=evidence, gpu_memory_mib=None,
        because=("exit status 137 (SIGKILL): out of memory", "the log's first cause is in line 4801"),
    )  # fmt: skip


def blocked() -> ServerState:
    """A worker that no signal ends."""
    left = "pid 41236 (sglang::scheduler_TP2) does not end: state D, in the driver; it holds 94.2 GiB of GPU 2"
    evidence = Evidence(
        "up",
        ProcessWitness("gone", 41_233, (41_236,), exit_status=137, names=("sglang::scheduler_TP2",)),
        PortWitness("closed"),
        HttpWitness("refused", at=NOW - 4),
        fleets.ready_story(),
        NOW - 300,
        blocked=left,
    )
    return replace(
        fleets.kimi(), word=Word.BLOCKED, since=NOW - 75, evidence=evidence, gpu_memory_mib=96_460, because=(left,)
    )


def stopping() -> ServerState:
    """A pivot waits for requests to end."""
    return replace(
        busy(), word=Word.STOPPING, since=NOW - 12,
        act=Act("pivot", "waiting", "left=13", NOW - 12, NOW + 48, "eagle3-v1", "ana"),
        because=("a stop was asked, it has not ended yet",),
    )  # fmt: skip


def stopped() -> ServerState:
    """As asked."""
    evidence = Evidence("up", ProcessWitness("gone", 41_233, exit_status=137), PortWitness("closed"), stop_asked=True)
    return replace(
        fleets.kimi(), word=Word.STOPPED, since=NOW - 300, evidence=evidence, gpu_memory_mib=None,
        because=("stopped as asked (exit status 137, SIGKILL)",),
    )  # fmt: skip


def unreachable() -> ServerState:
    """Its host does not answer."""
    return replace(
        busy(), word=Word.UNREACHABLE, since=NOW - 245, last_word=Word.READY, last_since=NOW - 2_460,
        because=("timed out (keepalive)",), evidence=replace(busy().evidence, link="down"),
    )  # fmt: skip


def _fleet(server: ServerState) -> FleetState:
    return fleets.with_server(fleets.fleet(), server)


def _lost() -> FleetState:
    state = _fleet(unreachable())
    host = replace(state.hosts[0], link="down", error="timed out (keepalive)", retry_at=NOW + 12, last_seen=NOW - 245)
    return replace(state, hosts=(host, *state.hosts[1:]))


STATES: Mapping[str, FleetState] = {
    "starting": fleets.fleet(),
    "ready": _fleet(ready()),
    "busy": _fleet(busy()),
    "stalled": _fleet(stalled()),
    "unhealthy": _fleet(unhealthy()),
    "crashed": _fleet(crashed()),
    "blocked": _fleet(blocked()),
    "stopping": _fleet(stopping()),
    "stopped": _fleet(stopped()),
    "unreachable": _lost(),
}

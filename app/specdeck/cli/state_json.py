"""The whole state as one JSON object (design section 5): unknown is null, never 0."""

from collections.abc import Mapping

from specdeck.cli.story_json import cause_json, phase_json, progress_json
from specdeck.parsing.mig import MigInstance
from specdeck.state.eta import eta_of
from specdeck.state.gpu_snapshot import Gpu, GpuProcess
from specdeck.state.gpu_troubles import troubles_of
from specdeck.state.serving import Serving
from specdeck.state.snapshot import Act, Evidence, FleetState, HostState, PortLock, RankWitness, ServerState, Word
from specdeck.state.warnings import effective_mode, live_draft_steps, warnings_of

Json = dict[str, object]

_LINK: Mapping[str, str] = {"connecting": "down", "up": "up", "stale": "stale", "down": "down"}

_ENDED = (Word.STOPPED, Word.CRASHED)


def fleet_json(state: FleetState, now: float) -> Json:
    """Everything; the schema number is added where it is printed."""
    return {
        "at": round(now, 3),
        "hosts": [host_json(host, now) for host in state.hosts],
        "servers": [server_json(server, state.host(server.host), now) for server in state.servers],
    }


def host_json(host: HostState, now: float) -> Json:
    """One host with its GPUs."""
    return {
        "name": host.name,
        "ssh": host.address,
        "route": host.route or None,
        "state": _LINK[host.link],
        "age_seconds": _age(host.last_seen, now),
        "error": host.waits_for or host.error or ("no answer yet" if host.link == "connecting" else None),
        "gpu_error": host.gpu_error,
        "gpu_error_seconds": _age(host.gpu_error_at, now),
        "gpus_age_seconds": _age(host.gpus_at, now),
        "watchers": [
            {"who": each.who, "since_seconds": _age(each.since, now), "read_only": each.is_read_only}
            for each in host.watchers
        ],
        "gpus": [gpu_json(gpu, now) for gpu in host.gpus],
    }


def gpu_json(gpu: Gpu, now: float) -> Json:
    """One GPU; `index` null: lost before it was ever seen."""
    check = gpu.check
    return {
        "index": gpu.index if gpu.index >= 0 else None,
        "uuid": gpu.uuid,
        "name": gpu.name,
        "utilization_percent": gpu.utilization_percent,
        "memory_used_mib": gpu.memory_used_mib,
        "memory_total_mib": gpu.memory_total_mib,
        "temperature_c": gpu.temperature_c,
        "power_w": gpu.power_w,
        "power_limit_w": gpu.power_limit_w,
        "clock_mhz": gpu.clock_mhz,
        "clock_max_mhz": check.clock_max_mhz if check is not None else None,
        "throttle": list(gpu.throttle),
        "lost": gpu.lost or None,
        "ecc_uncorrected": check.ecc_uncorrected if check is not None else None,
        "pcie": check.link.words if check is not None and check.link is not None else None,
        "nvlinks_up": gpu.links.up if gpu.links is not None else None,
        "xids": [{"number": xid.number, "words": xid.words, "age_seconds": _age(xid.at, now)} for xid in gpu.xids],
        "memory_unified": gpu.is_memory_unified,
        "warnings": [trouble.words for trouble in troubles_of(gpu, now)],
        "unreadable": dict(gpu.unreadable),
        "instances": [_instance_json(each) for each in gpu.instances],
        "processes": [_process_json(process, now) for process in gpu.processes],
    }


def _instance_json(instance: MigInstance) -> Json:
    return {
        "index": instance.index,
        "name": instance.name or None,
        "uuid": instance.uuid or None,
        "memory_used_mib": instance.memory_used_mib,
        "memory_total_mib": instance.memory_total_mib,
        "pids": list(instance.pids),
    }


def server_json(server: ServerState, host: HostState | None, now: float) -> Json:
    """One server; of one that spans several hosts the head, with the word of the whole and the further ranks as `nodes`."""
    story = server.story
    rate = server.throughput
    return {
        "name": server.name,
        "host": server.host,
        "port": server.port,
        "engine": server.engine or (story.engine if story else None) or None,
        "engine_version": server.engine_version or (story.engine_version if story else None),
        "speculation": effective_mode(server),
        "profile": server.profile,
        "profile_difference": server.profile_but or None,
        "run": (server.run.run or None) if server.run else None,
        "pid": server.run.pid if server.run else None,
        "command": server.run.command if server.run else None,
        "log": server.run.log if server.run else None,
        "state": str(server.word),
        "because": list(server.because),
        "last_state": str(server.last_word) if server.last_word else None,
        "since_seconds": _age(server.since, now),
        "run_seconds": _age(server.run.started_at, now) if server.run and server.word not in _ENDED else None,
        "evidence": evidence_json(server.evidence, host, now),
        "phase": phase_json(story.phase) if story and server.word == Word.STARTING else None,
        "progress": progress_json(story.progress) if story and server.word == Word.STARTING else None,
        "eta_ready_seconds": round(eta.seconds, 1) if (eta := eta_of(server, now)) else None,
        "cause": cause_json(story.cause) if story else None,
        "throughput_tok_s": round(rate.tok_s, 2) if rate else None,
        "throughput_source": rate.source if rate else None,
        "throughput_window_seconds": rate.window_seconds if rate else None,
        "requests": _requests_json(server),
        "kv_usage": server.kv_usage,
        "accept_length": server.accept_length,
        "latency": latency_json(server.serving),
        "prefix_hit_rate": _rounded(server.serving.prefix_hit_rate) if server.serving else None,
        "draft_steps": live_draft_steps(server),
        "accept_by_position": [round(share, 4) for share in server.serving.accept_by_position]
        if server.serving
        else [],
        "gpu_memory_mib": server.gpu_memory_mib,
        "act": act_json(server.act, now),
        "lock": lock_json(server.lock, now),
        "warnings": _warnings(server),
        "nodes": [_rank_json(each) for each in server.evidence.ranks],
    }


def _rank_json(rank: RankWitness) -> Json:
    return {
        "rank": rank.rank,
        "host": rank.host,
        "state": str(rank.word),
        "because": rank.sentence or None,
        "gpu_memory_mib": rank.gpu_memory_mib,
    }


def act_json(act: Act | None, now: float) -> Json | None:
    """The newest act, also one that is over: who asked for what, and how far it came."""
    if act is None:
        return None
    return {
        "kind": act.kind,
        "profile": act.profile,
        "who": act.who,
        "step": act.step,
        "detail": act.detail,
        "age_seconds": _age(act.began, now),
        "over": act.is_over,
        "failed": act.is_failed,
    }


def lock_json(lock: PortLock | None, now: float) -> Json | None:
    """Who acts on the port now: `held`, or `gone` where the holder lives no more."""
    if lock is None:
        return None
    return {"state": lock.state, "kind": lock.kind, "who": lock.who, "age_seconds": _age(lock.since, now)}


def evidence_json(evidence: Evidence, host: HostState | None, now: float) -> Json:
    """The five witnesses."""
    http = evidence.http
    return {
        "process": evidence.process.state,
        "exit_status": evidence.process.exit_status,
        "log_age_seconds": _age(evidence.log_at, now),
        "log_error": evidence.log_error,
        "port": evidence.port.state,
        "port_pid": evidence.port.pid,
        "http": http.state,
        "http_status": http.status,
        "http_detail": http.detail or None,
        "http_age_seconds": _age(http.at, now),
        "ssh": _LINK[host.link] if host else None,
    }


def latency_json(serving: Serving | None) -> Json | None:
    """Quantiles of the window, in seconds."""
    if serving is None:
        return None
    kinds = {"ttft": serving.ttft, "tpot": serving.tpot, "itl": serving.itl}
    quantiles: Json = {
        name: {"p50_seconds": _rounded(found.p50), "p95_seconds": _rounded(found.p95)} if found else None
        for name, found in kinds.items()
    }
    return {**quantiles, "window_seconds": round(serving.window_seconds, 1)}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 5)


def _process_json(process: GpuProcess, now: float) -> Json:
    return {
        "pid": process.pid,
        "name": process.name,
        "memory_mib": process.memory_mib,
        "server": process.server,
        "user": process.user,
        "age_seconds": _age(process.since, now),
        "orphan": process.is_orphan,
    }


def _requests_json(server: ServerState) -> Json | None:
    if server.requests_running is None and server.requests_queued is None:
        return None
    return {"running": server.requests_running, "queued": server.requests_queued}


def _warnings(server: ServerState) -> list[str]:
    return list(warnings_of(server))


def _age(moment: float | None, now: float) -> float | None:
    return None if moment is None else round(max(0.0, now - moment), 1)

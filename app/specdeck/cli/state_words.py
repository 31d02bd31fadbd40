"""The whole state as a few aligned lines for people, and as one line for a prompt or a status bar."""

from specdeck.cli.output import plain
from specdeck.state.acts import step_words
from specdeck.state.brief import in_brief
from specdeck.state.durations import span
from specdeck.state.eta import eta_of, eta_words
from specdeck.state.gpu_snapshot import Gpu
from specdeck.state.gpu_warnings import named_troubles, stranger_words
from specdeck.state.snapshot import SHAPES, FleetState, HostState, ServerState, Word
from specdeck.state.warnings import row_warning
from specdeck.state.witnesses import shown_word

MOST_STRANGERS = 5
"""Of one host; a desktop or a cluster job may have hundreds."""


def host_row(host: HostState) -> list[str]:
    """Name, link, GPUs, memory, use."""
    if host.link != "up":
        return [host.name, host.link, host.waits_for or host.error or "", "", ""]
    if not host.gpus:
        return [host.name, host.link, host.gpu_error or "no GPU rows yet", "", ""]
    living = tuple(gpu for gpu in host.gpus if not gpu.lost)
    lost = len(host.gpus) - len(living)
    name = next((gpu.name for gpu in host.gpus if gpu.name), "GPU")
    what = f"{len(living)} x {name}{f', {lost} lost' if lost else ''}{f'; {host.gpu_error}' if host.gpu_error else ''}"
    return [host.name, host.link, what, _memory(living), _use(living)]


def server_row(server: ServerState, now: float) -> list[str]:
    """Name, host, word, since, profile, what matters now."""
    return [
        f"{SHAPES[server.word]} {server.name}",
        server.host,
        shown_word(server),
        since(server, now),
        server.profile_words or "-",
        f"{server.throughput.tok_s:.0f} tok/s" if server.throughput else "-",
        detail(server, now),
    ]


def since(server: ServerState, now: float) -> str:
    """How long the word holds; `run 3h12m` where it held before anybody looked."""
    if server.since is not None:
        return duration(now - server.since)
    started_at = server.run.started_at if server.run is not None else None
    if started_at is None or server.word in (Word.STOPPED, Word.CRASHED):
        return "-"
    return f"run {duration(now - started_at)}"


def detail(server: ServerState, now: float) -> str:
    """The one thing to know: who acts now, or which act broke off; how far, why, or what decided the word."""
    if told := act_words(server):
        return told
    story = server.story
    if server.word == Word.STARTING and story is not None and story.phase is not None:
        phase = story.phase
        bar = story.progress
        percent = f" {bar.label} {bar.done}/{bar.total}" if bar else ""
        eta = eta_of(server, now)
        ready = f"; {eta_words(eta)}" if eta is not None else ""
        quiet = f", {server.evidence.quiet}" if server.evidence.quiet else ""
        return f"phase {phase.index} of {phase.total} {phase.name}{percent}{quiet}{ready}"
    if server.word == Word.CRASHED and story is not None and story.cause is not None:
        return in_brief(story.cause.message)
    warning = row_warning(server) if server.word == Word.READY else None
    return warning or (server.because[0] if server.because else "")


def act_words(server: ServerState) -> str:
    """`pivot to v2 by ann: waiting for 13 processes to end`; empty where it is over, or where the log tells its start better."""
    act = server.act
    if server.lock is not None and server.lock.state == "strange":
        return f"the lock of port {server.port} in /tmp is none of specdeck's: nobody can act before it is removed"
    if act is None or (act.is_over and not act.is_failed) or act.step == "watching":
        return ""
    if act.is_failed and server.word == Word.READY:
        return ""
    what = f"{act.kind} to {act.profile}" if act.profile not in (None, "", "-") else str(act.kind)
    said = f" {act.detail}" if act.is_failed else f": {step_words(act)}"
    return f"{what} by {act.who}{said}" if act.who else f"{what}{said}"


def duration(seconds: float) -> str:
    """`42s`, `3m10s`, `2h05m`, `3d4h`."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes_left = divmod(minutes, 60)
    if whole < 60:
        return f"{whole}s"
    if hours == 0:
        return f"{minutes}m{rest:02}s"
    if hours < 48:
        return f"{hours}h{minutes_left:02}m"
    return f"{hours // 24}d{hours % 24}h"


def _memory(gpus: tuple[Gpu, ...]) -> str:
    """Of the GPUs that tell it, and of how many that is where one does not."""
    sizes = [(gpu.memory_used_mib, gpu.memory_total_mib) for gpu in gpus]
    known = [(used, total) for used, total in sizes if used is not None and total is not None]
    part = f" on {len(known)} of {len(gpus)}" if len(known) < len(gpus) else ""
    used, total = sum(used for used, _ in known), sum(total for _, total in known)
    return f"{used / 1024:.0f} of {total / 1024:.0f} GiB{part}" if known else "-"


def _use(gpus: tuple[Gpu, ...]) -> str:
    used = [gpu.utilization_percent for gpu in gpus if gpu.utilization_percent is not None]
    return f"{sum(used) / len(used):.0f} %" if used else "-"


def gpu_lines(state: FleetState, now: float) -> list[str]:
    """What is wrong with GPUs of hosts that answer, and who holds memory on them for no server."""
    lines: list[str] = []
    for host in (host for host in state.hosts if host.link == "up"):
        lines += [plain(f"{host.name}: {trouble.words}") for trouble in named_troubles(host.gpus, now)]
        strangers = stranger_words(host.gpus)
        lines += [plain(f"{host.name}: {words}") for words in strangers[:MOST_STRANGERS]]
        if more := len(strangers[MOST_STRANGERS:]):
            lines.append(f"{host.name}: {more} more hold GPU memory for no server (`specdeck status --json` names all)")
    return lines


def orphan_lines(state: FleetState, now: float) -> list[str]:
    """Workers that hold GPU memory and belong to no server, with what ends them."""
    lines = []
    for host in state.hosts:
        for process in dict.fromkeys(process for process in host.processes if process.is_orphan):
            held = f"{process.memory_mib:,} MiB" if process.memory_mib is not None else "GPU memory"
            age = f", {span(now - process.since)} old" if process.since is not None else ""
            whose = f" of user {process.user}" if process.user else ""
            words = f"pid {process.pid} {process.name}{whose}{age} holds {held} and belongs to no server"
            lines.append(plain(f"{host.name}: {words}: `specdeck end {host.name} {process.pid}`"))
    return lines

"""The top of the server view: who it is, its word, and the one thing that matters most in that state."""

from collections.abc import Sequence

from specdeck.state.durations import span
from specdeck.state.eta import Eta, earlier_starts, eta_of, share_of
from specdeck.state.snapshot import SHAPES, HostState, ServerState, Word
from specdeck.state.timeline import Step, timeline_of
from specdeck.state.warnings import warnings_of
from specdeck.state.witnesses import shown_word
from specdeck.ui.drawing.meters import bar, over_time
from specdeck.ui.drawing.phases import phase_strip, phase_table, ready_line, start_bar, waterfall
from specdeck.ui.drawing.server_table import MOST_BEFORE_READY, gpu_memory, link_words
from specdeck.ui.drawing.serving import serving_row
from specdeck.ui.drawing.spans import Row, Span, ends, fit, fit_row, right, wrapped
from specdeck.ui.drawing.state_words import LABELS, act_line, broken_act, explanation, run_age, running_act
from specdeck.ui.drawing.words import UNKNOWN, age, clock, count, lasted, percent, rate
from specdeck.ui.roles import WORD_ROLES
from specdeck.ui.view import View, heard_ago

WIDE = 100
BAR_LABEL = 15
BAR_END, BAR_END_WIDE = 26, 45
"""Cells for the words behind a bar."""
HISTORY_SECONDS = 300.0


def identity(server: ServerState, view: View, width: int) -> Row:
    """`kimi @ blackwell  ◐ STARTING 5/11 weights  eagle3-v2 (SGLang 0.5.12)  pid 41233  run 0042  14:02:11`."""
    role = f"{WORD_ROLES[server.word]}"
    strong = f"{role}-strong" if role != "dim" else "strong"
    place = "@" if width < WIDE else " @ "
    left: Row = (
        (f" {server.name}", "title"),
        (f"{place}{server.host}  ", "dim"),
        (f"{SHAPES[server.word]} {big_word(server, view.now)}", strong),
    )
    engine = f" ({_engine(server)})" if width >= WIDE else ""
    tail: Row = (
        (f"   {server.profile_words or UNKNOWN}", "strong"),
        (engine, "dim"),
        (f"   {_run(server, is_short=width < WIDE)}", "dim"),
    )
    end: Row = ((f" {clock(view.now)} ", "dim"),)
    if view.paused_at is not None:
        end = ((f" PAUSED {age(view.now - view.paused_at)} ", "warning-strong"), *end)
    if view.replay:
        end = ((f" {view.replay} ", "accent"), *end)
    elif view.is_read_only and width >= WIDE:
        end = ((" read-only ", "accent"), *end)
    return ends((*left, *tail), end, width)


def big_word(server: ServerState, now: float) -> str:
    """`STARTING  5/11 weights`, `READY 3h12`, `READY, run 3h12`, `CRASHED, 2m ago`."""
    word = shown_word(server).upper()
    since = age(now - server.since) if server.since is not None else ""
    phase = server.story.phase if server.story is not None else None
    if server.word is Word.STARTING and phase is not None:
        return f"{word}  {phase.index}/{phase.total} {LABELS[phase.name]}"
    if server.word is Word.CRASHED and since:
        return f"{word}, {since} ago"
    if server.word is Word.UNKNOWN:
        return "CONNECTING"
    return f"{word} {since}" if since else f"{word}{run_age(server, now)}"


def _engine(server: ServerState) -> str:
    """Before anything is known of it, its word from the files: the first frame of a single server waits for no grammar."""
    if server.word is Word.UNKNOWN:
        return server.engine
    from specdeck.engines.registry import ENGINES

    known = ENGINES.get(server.engine)
    engine = known.title if known is not None else server.engine
    return f"{engine} {server.engine_version}" if server.engine_version else engine


def _run(server: ServerState, *, is_short: bool) -> str:
    if server.run is None:
        return f"port {server.port}"
    if is_short:
        return f"run {server.run.run}" if server.run.run else f"pid {server.run.pid}"
    run = f"  run {server.run.run}" if server.run.run else "  started by others"
    return f"pid {server.run.pid}{run}"


def hero(server: ServerState, view: View, width: int, *, is_roomy: bool = False) -> list[Row]:
    """The rows under the identity; `is_roomy`: there is height for the phases of a start that is over."""
    act = running_act(server)
    rows: list[Row] = []
    if act is not None:
        first, *more = wrapped(act_line(act, view.now), width - 4, most=2)
        rows.append(((" ▶ ", "starting"), (first, "starting-strong")))
        rows += [((f"   {line}", "starting-strong"),) for line in more]
    elif (broken := broken_act(server)) is not None:
        rows += _sentence(act_line(broken, view.now), "error", width)
    if server.word is Word.STARTING:
        rows += [*_starting(server, view, width), *_gpus_explain(server)]
    elif server.word is Word.READY:
        rows += _speed(server, view, width)
    elif server.word in (Word.UNHEALTHY, Word.STALLED):
        rows += [*_sentence(explanation(server), WORD_ROLES[server.word], width), *_speed(server, view, width)]
    elif server.word is Word.CRASHED:
        rows += [*crash(server, width), *_gpus_explain(server), *_broken_start(server, view, width)]
    elif server.word is Word.UNREACHABLE:
        host = view.fleet.host(server.host)
        rows += _sentence(link_words(host, view.now) or explanation(server), "warning", width)
        rows += _last_known(server, host, view.now)
    elif server.word is Word.UNKNOWN and (waits := link_words(view.fleet.host(server.host), view.now)):
        rows += _sentence(waits, "warning", width)
    elif server.word is Word.BLOCKED:
        rows += _sentence(explanation(server), "error", width)
    elif server.word is Word.STOPPED and act is None:
        rows += _sentence(explanation(server) or "not running", "dim", width)
    if is_roomy and server.word in (Word.READY, Word.UNHEALTHY, Word.STALLED):
        rows += phase_table(timeline_of(server, view.now), width)
    return [fit_row(row, width) for row in rows]


def _gpus_explain(server: ServerState) -> list[Row]:
    """`✖ GPU 1A:00.0 lost, reboot needed`: the worst that its GPUs have to say."""
    return [
        ((f" {'✖' if trouble.is_error else '▲'} {trouble.words}", "error" if trouble.is_error else "warning"),)
        for trouble in server.gpu_troubles[:1]
    ]


def _broken_start(server: ServerState, view: View, width: int) -> list[Row]:
    """The phases of a start that never became ready, and where it ended."""
    story = server.story
    if story is None or story.has_ready_line:
        return []
    steps = timeline_of(server, view.now)
    return phase_table(steps, width, is_broken=True) or ([phase_strip(steps, width, is_broken=True)] if steps else [])


def _last_known(server: ServerState, host: HostState | None, now: float) -> list[Row]:
    """` when last heard of, 4m ago: ready, 1,213 tok/s, 31 running`: old news, dimmed."""
    if server.last_word in (None, Word.UNKNOWN):
        return []
    told = [server.last_word.value if server.last_word is not None else ""]
    if server.throughput is not None:
        told.append(f"{rate(server.throughput.tok_s)} tok/s")
    if server.requests_running is not None:
        told.append(f"{server.requests_running} running")
    return [((f" when last heard of, {age(heard_ago(host, now))} ago: {', '.join(told)}", "dim"),)]


def _sentence(text: str, role: str, width: int) -> list[Row]:
    return [((" " + line, role),) for line in wrapped(text, width - 2)]


def _starting(server: ServerState, view: View, width: int) -> list[Row]:
    """When it is ready, the whole start as a bar, its phases beside their usual lengths, the bar of the present one."""
    steps = timeline_of(server, view.now)
    if not steps and server.story is None:
        return [((" no log line yet", "dim"),)]
    eta = eta_of(server, view.now)
    rows: list[Row] = [_ready_words(server, eta, view.now, width)]
    if (share := share_of(server, eta, view.now)) is not None:
        rows.append(_whole_bar(steps, min(share, MOST_BEFORE_READY), width))
    rows += phase_table(steps, width) or [phase_strip(steps, width)]
    if server.story is not None and server.story.progress is not None:
        rows.append(progress_row(server, width))
    if server.evidence.quiet:
        rows.append(((f" {server.evidence.quiet}", "warning"),))
    return rows


def _ready_words(server: ServerState, eta: Eta | None, now: float, width: int) -> Row:
    """`ready in about 7m50s, at 14:10:01   42 s so far   last three starts 8m30s 8m18s 8m25s`."""
    elapsed = _elapsed(server, now)
    so_far: Span = (f"   {lasted(elapsed)} so far" if elapsed is not None else "", "")
    if eta is None:
        why = "   no earlier start of its kind is known" if width >= WIDE else "   first of its kind"
        why += ": the next one tells when it is ready" if width >= WIDE else ": the next one tells when"
        return ((" starting", "starting-strong"), so_far, (why, "dim"))
    earlier = f"   {earlier_starts(eta)}" if width >= WIDE else ""
    return (
        (f" ready in about {span(eta.seconds)}", "starting-strong"),
        (f", at {clock(eta.ready_at)}", "strong"),
        so_far,
        (earlier, "dim"),
    )


def _whole_bar(steps: Sequence[Step], share: float, width: int) -> Row:
    is_wide = width >= WIDE
    label = f" {'the whole start':<{BAR_LABEL}} " if is_wide else " "
    end = f" {share * 100:>8.0f}%" if is_wide else f" {share * 100:>3.0f}%"
    size = width - len(label) - (BAR_END_WIDE if is_wide else BAR_END) - 1
    return ((label, "dim"), *start_bar(steps, share, max(size, 5)), (end, ""))


def _elapsed(server: ServerState, now: float) -> float | None:
    started = server.run.started_at if server.run is not None else None
    began = started if started is not None else server.since
    return None if began is None else max(0.0, now - began)


def progress_row(server: ServerState, width: int) -> Row:
    """`target shards ██████░░░ 22/64  3.3/s  12 s left of this bar`."""
    progress = server.story.progress if server.story is not None else None
    if progress is None:
        return ()
    is_wide = width >= WIDE
    label: Row = ((f" {fit(progress.label, BAR_LABEL)} ", "dim"),) if is_wide else ((" ", ""),)
    per_second = f"{right(f'{progress.rate:.1f}/s', 8)}" if progress.rate is not None else " " * 8
    left = "" if progress.eta_seconds is None else lasted(progress.eta_seconds)
    tail = (f"  {left} left of this bar" if is_wide else f" {left}") if left else ""
    end = f" {right(f'{progress.done}/{progress.total}', 9)}{per_second}{tail}"
    size = width - sum(len(text) for text, _ in label) - (BAR_END_WIDE if is_wide else BAR_END) - 1
    return (*label, *bar(progress.percent / 100, max(size, 5)), (end, ""))


def start_in_rows(server: ServerState, view: View, width: int) -> list[Row]:
    """Each phase of its start as a bar where it was, under a blank row; empty where nothing was told."""
    steps = timeline_of(server, view.now)
    is_broken = server.word is not Word.STARTING
    rows = waterfall(steps, width - 1, is_broken=is_broken)
    return [fit_row(row, width) for row in ((), *rows)] if rows else []


def _speed(server: ServerState, view: View, width: int) -> list[Row]:
    speed = server.throughput
    source = f" ({speed.window_seconds:.0f} s, {speed.source})" if speed is not None else ""
    is_wide = width >= WIDE
    strong = "ready-strong" if server.word is Word.READY else "strong"
    first: Row = (
        (f" {right(rate(speed.tok_s if speed else None), 7)} tok/s", strong),
        (f"{source}   ", "dim"),
        *_pair("running" if is_wide else "run", count(server.requests_running)),
        *_pair("queued" if is_wide else "que", count(server.requests_queued)),
        *_pair("KV", percent(None if server.kv_usage is None else server.kv_usage * 100)),
        *_pair("accept", UNKNOWN if server.accept_length is None else f"{server.accept_length:.2f}"),
    )
    host = view.fleet.host(server.host)
    rows: list[Row] = [(*first, *_pair("GPU mem", gpu_memory(server, host))) if is_wide else first]
    if (latencies := serving_row(server.serving, width)) is not None:
        rows.append(latencies)
    if not is_wide and server.throughput_history:
        rows.append(_history(server, view.now, width))
    rows += [((f" ▲ {words}", "warning"),) for words in warnings_of(server)[:2]]
    if server.story is not None and (line := ready_line(server.story, timeline_of(server, view.now), width - 1)):
        rows.append(((f" {line}", "dim"),))
    return rows


def _history(server: ServerState, now: float, width: int) -> Row:
    """A sparkline instead of the plot, where there is no room for one."""
    drawn = over_time(server.throughput_history, now, width=width - 8, seconds=HISTORY_SECONDS)
    return ((" 5m ", "dim"), (drawn, "spark"))


def _pair(name: str, value: str) -> Row:
    return ((f"{name} ", "dim"), (f"{value:<5}", ""), (" ", ""))


def crash(server: ServerState, width: int) -> list[Row]:
    """Why it died: the first cause, where in the log, what to do, and the exit status."""
    cause = server.story.cause if server.story is not None else None
    status = server.evidence.process.exit_status
    is_wide = width >= WIDE
    ended = "" if status is None else _ended(status, is_wide=is_wide)
    if cause is None:
        return _sentence(explanation(server) or ended or "it ended without a word", "error", width)
    where = ", ".join(
        part
        for part in (cause.rank or "", f"{'log ' if is_wide else ''}line {cause.line}" if cause.line else "", ended)
        if part
    )
    rows: list[Row] = [((" " + line, "error-strong"),) for line in wrapped(cause.message, width - 2)]
    rows.append(((f" {cause.kind}", "error"), (f"  {where}", "dim"), ("   d ", "key"), ("shows the place", "dim")))
    if cause.hint:
        lines = wrapped(cause.hint, width - 4, most=2)
        rows += [((f" {'→' if index == 0 else ' '} {line}", "accent"),) for index, line in enumerate(lines)]
    return rows


def _ended(status: int, *, is_wide: bool) -> str:
    """`exit status 137 (signal 9)`, or `exit 137` where there is little room."""
    if not is_wide:
        return f"exit {status}"
    return f"exit status {status} (signal {status - 128})" if status > 128 else f"exit status {status}"

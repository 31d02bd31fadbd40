"""What decided a server's word, witness by witness."""

from specdeck.state.snapshot import HostState, ServerState
from specdeck.state.warnings import warnings_of
from specdeck.ui.drawing.spans import Row, dimmed, fit_row, wrapped
from specdeck.ui.drawing.words import UNKNOWN, age, lasted
from specdeck.ui.roles import WORD_ROLES
from specdeck.ui.view import View, heard_ago, is_old_news

LABEL = 9
MOST_COMMAND_LINES = 20
LINKS = {"connecting": "connecting", "up": "up", "stale": "stale", "down": "down"}


def evidence_rows(server: ServerState, view: View, width: int) -> list[Row]:
    """First why the word is what it is, then each witness."""
    host = view.fleet.host(server.host)
    rows = because(server, width)
    witnesses = [
        _line("process", _process(server)),
        _line("log", _log(server, view.now)),
        _line("port", _port(server)),
        _line("http", _http(server, view.now)),
        _line("ssh", _ssh(host, view.now)),
    ]
    witnesses += [
        _line(f"rank {each.rank}", f"{each.host}: {each.word}{f', {each.sentence}' if each.sentence else ''}")
        for each in server.evidence.ranks
    ]
    if server.run is not None and not server.run.run and server.run.started_by:
        witnesses.append(_line("owner", f"{server.run.started_by}: it starts and stops this server"))
    if server.story is not None and server.story.speculation:
        witnesses.append(_line("mode", f"engine says: speculation {server.story.speculation}"))
    notes = [_line("warning", text, "warning") for text in warnings_of(server)[:3]]
    old = is_old_news(host)
    return [fit_row(dimmed(row) if old else row, width) for row in (*rows, *witnesses, *notes)]


def command_rows(server: ServerState, width: int) -> list[Row]:
    """What runs, whole, and where it writes: no narrower place has room for it."""
    if server.run is None:
        return []
    told = {"log file": server.run.log or UNKNOWN, "command": (server.run.command or UNKNOWN).replace("\\\n", " ")}
    return [
        ((f" {name if index == 0 else '':<{LABEL}}", "dim"), (line, ""))
        for name, text in told.items()
        for index, line in enumerate(wrapped(" ".join(text.split()), width - LABEL - 1, most=MOST_COMMAND_LINES))
    ]


def because(server: ServerState, width: int) -> list[Row]:
    """The verdict's reasons, most important first."""
    role = WORD_ROLES[server.word]
    rows: list[Row] = []
    for reason in server.because[:3]:
        lines = wrapped(reason, width - 3, most=2)
        rows += [((f" {'∙' if index == 0 else ' '} ", role), (line, "")) for index, line in enumerate(lines)]
    return rows


def short_evidence(server: ServerState, view: View, width: int) -> Row:
    """All witnesses in one line, for small screens."""
    evidence = server.evidence
    process = evidence.process
    told = {
        "proc": process.state if process.exit_status is None else f"exit {process.exit_status}",
        "log": UNKNOWN if evidence.log_at is None else age(view.now - evidence.log_at),
        "port": evidence.port.state,
        "http": str(evidence.http.status or evidence.http.state),
        "ssh": evidence.link,
    }
    spans = [(" ", "")]
    for name, word in told.items():
        spans += [(f"{name} ", "dim"), (f"{word}   ", "")]
    row = fit_row(tuple(spans), width)
    return dimmed(row) if is_old_news(view.fleet.host(server.host)) else row


def _line(name: str, text: str, role: str = "") -> Row:
    return ((f" {name:<{LABEL}}", "warning" if role else "dim"), (text, role))


def _process(server: ServerState) -> str:
    process = server.evidence.process
    if process.state == "alive":
        others = len([pid for pid in process.family if pid != process.pid])
        return f"alive ({process.pid} + {others} in its family)" if others else f"alive ({process.pid})"
    if process.state == "gone" and process.exit_status is not None:
        return f"gone, exit status {process.exit_status}"
    return {"none": "no run", "zombie": f"zombie ({process.pid})", "gone": "gone"}.get(process.state, "not known yet")


def _log(server: ServerState, now: float) -> str:
    evidence = server.evidence
    if evidence.log_error:
        return evidence.log_error
    if evidence.log_at is None:
        return "nothing read yet"
    lines = f", {evidence.story.lines:,} lines" if evidence.story is not None else ""
    return f"last line {age(now - evidence.log_at)} ago{lines}"


def _port(server: ServerState) -> str:
    port = server.evidence.port
    words = {"closed": "not listening", "ours": "listening, ours", "open": "listening, owner not readable"}
    if port.state == "stranger":
        return f"{server.port} held by {port.owner or 'somebody else'} ({port.pid or 'pid not known'})"
    return f"{server.port} {words.get(port.state, 'not known yet')}"


def _http(server: ServerState, now: float) -> str:
    http = server.evidence.http
    if http.state == "unknown":
        return "not asked yet"
    status = f" {http.status}" if http.status is not None else ""
    took = f" in {lasted(http.seconds)}" if http.seconds is not None else ""
    when = f", {age(now - http.at)} ago" if http.at is not None else ""
    detail = f": {http.detail}" if http.detail else ""
    return f"{http.state}{status}{took}{when}{detail}"


def _ssh(host: HostState | None, now: float) -> str:
    if host is None:
        return "-"
    heard = heard_ago(host, now)
    when = f", last heard {age(heard)} ago" if heard is not None else ""
    if host.route:  # it may be longer than its line
        return f"{LINKS[host.link]}{when}: {host.route}"
    return f"{host.address} {LINKS[host.link]}{when}"

"""One short sentence for what each witness says: the evidence that the screen shows beside a server's word."""

from specdeck.parsing.plain import plain
from specdeck.state.durations import span
from specdeck.state.log_story import LogStory
from specdeck.state.snapshot import Evidence, HttpWitness, ServerState, Word

_SIGNALS = {
    1: "SIGHUP",
    2: "SIGINT",
    3: "SIGQUIT",
    4: "SIGILL: built for another CPU",
    6: "SIGABRT",
    7: "SIGBUS",
    8: "SIGFPE",
    9: "SIGKILL",
    11: "SIGSEGV",
    15: "SIGTERM",
}
_HTTP_STATES = {
    "refused": "connection refused",
    "timeout": "no answer",
    "key-needed": "a key is needed",
    "tls": "cannot be asked",
    "error": "cannot be asked",
}


def needs_key(server: ServerState) -> bool:
    """It answers, but only that it wants a key: it is up, and nobody without the key can tell more."""
    return server.word is Word.READY and server.evidence.http.state == "key-needed"


def shown_word(server: ServerState) -> str:
    """The word as people read it: `up, key needed` for a server of which only its key could say that it is ready."""
    return "up, key needed" if needs_key(server) else server.word.value


def exit_words(status: int | None) -> str:
    """`exit 1`, `exit 137, SIGKILL`, `exit status unknown`; both ways to write a signal are read."""
    if status is None:
        return "exit status unknown"
    number = -status if status < 0 else status - 128
    signal = _SIGNALS.get(number)
    return f"exit {status}, {signal}" if signal else f"exit {status}"


def process_sentence(evidence: Evidence) -> str | None:
    """`process 41233 alive, 9 in its family`."""
    process = evidence.process
    name = f"process {process.pid}" if process.pid else "process"
    match process.state:
        case "alive":
            family = len(process.family)
            return f"{name} alive, {family} in its family" if family > 1 else f"{name} alive"
        case "gone" | "zombie":
            return f"{name} gone ({exit_words(process.exit_status)}){_left_words(evidence)}"
        case "none":
            return "no run of specdeck"
        case _:
            return None


def _left_words(evidence: Evidence) -> str:
    """What of its family outlives it, with the GPU memory that this holds."""
    process = evidence.process
    if not process.family or not process.is_family_seen or len(process.names) != len(process.family):
        return ""
    named = ", ".join(f"pid {pid} {plain(name)}" for pid, name in zip(process.family, process.names, strict=True))
    held = f" and hold {evidence.left_mib:,} MiB of GPU memory" if evidence.left_mib else ""
    return f", but {named} still live{held}: a stop ends them"


def port_sentence(evidence: Evidence, *, is_starting: bool = False) -> str | None:
    """`port 30000 not listening yet (normal in this phase)`."""
    port = evidence.port
    name = f"port {evidence.listen_port}" if evidence.listen_port else "port"
    owner = " ".join(
        filter(None, (f"pid {port.pid}" if port.pid else "", f"({plain(port.owner)})" if port.owner else ""))
    )
    match port.state:
        case "closed":
            return f"{name} not listening yet (normal in this phase)" if is_starting else f"{name} not listening"
        case "ours":
            return f"{name} listening, its own"
        case "stranger":
            return f"{name} held by {owner or 'another process'}"
        case "open":
            return f"{name} listening, owner not readable"
        case _:
            return None


def http_sentence(evidence: Evidence) -> str | None:
    """`health 503, 0.3 s`."""
    http = evidence.http
    if http.state == "unknown":
        return None
    words = _http_words(http)
    took = f", {span(http.seconds)}" if http.seconds is not None and http.state != "refused" else ""
    return f"health {words}{took}"


def log_sentence(evidence: Evidence, at: float) -> str | None:
    """`log: weights 22/64, last line 0.3 s ago`."""
    if evidence.log_error:
        return f"log: {plain(evidence.log_error)}"
    if evidence.story is None:
        return None
    age = f", last line {span(at - evidence.log_at)} ago" if evidence.log_at is not None else ""
    return f"log: {_story_words(evidence.story)}{age}"


def link_sentence(evidence: Evidence, at: float) -> str | None:
    """`no data from the host for 12 s: connection timed out`."""
    if evidence.link in ("connecting", "up"):
        return "connecting to the host" if evidence.link == "connecting" else None
    words = "no connection to the host" if evidence.link == "down" else "no data from the host"
    age = f" for {span(at - evidence.heard_at)}" if evidence.heard_at is not None else ""
    why = f": {plain(evidence.link_error)}" if evidence.link_error and evidence.link == "down" else ""
    return f"{words}{age}{why}"


def _http_words(http: HttpWitness) -> str:
    status = str(http.status) if http.status is not None else ""
    words = _HTTP_STATES.get(http.state, "")
    detail = f" ({plain(http.detail)[:120]})" if http.detail else ""
    return (", ".join(filter(None, (status, words))) or http.state) + detail


def _story_words(story: LogStory) -> str:
    if story.cause is not None:
        return plain(story.cause.message)
    if story.word == "starting":
        bar = story.progress
        if bar is not None and bar.done < bar.total:
            return f"{bar.label} {bar.done}/{bar.total}"
        return f"starting, {story.phase.name} {story.phase.index}/{story.phase.total}" if story.phase else "starting"
    return "ready line seen" if story.word == "ready" else story.word

"""The whole fleet in one line: for tmux's status bar, for a prompt, and for the terminal's title."""

from collections import Counter

from specdeck.errors import ExitCode
from specdeck.parsing.plain import plain
from specdeck.state.order import place_of
from specdeck.state.snapshot import SHAPES, FleetState, ServerState, Word

MOST = 4
"""So many servers are named, the worst first; the others are counted."""
WELL = (Word.READY, Word.STOPPED)


def exit_code(state: FleetState) -> ExitCode:
    """The worst that is seen: 0 all servers are ready or stopped, 1 one is not, 3 a host cannot be reached."""
    if any(host.link in ("down", "connecting") for host in state.hosts):
        return ExitCode.UNREACHABLE
    return ExitCode.FINE if all(server.word in WELL for server in state.servers) else ExitCode.NOT_AS_ASKED


def one_line(state: FleetState) -> str:
    """`✖ glm crashed | ◐ kimi starting 34% | ● qwen ready 96 tok/s`: all servers of a small fleet, the worst of a large one."""
    ordered = sorted(state.servers, key=place_of) if len(state.servers) > MOST else list(state.servers)
    rest = Counter(server.word for server in ordered[MOST:])
    parts = [
        *map(_short, ordered[:MOST]),
        *(f"{SHAPES[word]} {count} {word}" for word, count in rest.items()),
        *(f"{host.name} {host.link}" for host in state.hosts if host.link in ("down", "stale")),
    ]
    return _harmless(" | ".join(parts)) or "nothing is watched"


def title(state: FleetState) -> str:
    """`✖ glm crashed +1 - specdeck`: the worst server, and how many more are not well; `● 5 ready - specdeck`."""
    if not state.servers:
        return "specdeck"
    worst = min(state.servers, key=place_of)
    if worst.word in WELL:
        words = Counter(server.word for server in state.servers)
        return f"{', '.join(f'{SHAPES[word]} {words[word]} {word}' for word in WELL if words[word])} - specdeck"
    others = sum(server.word not in WELL for server in state.servers) - 1
    return _harmless(f"{_named(worst)}{f' +{others}' if others else ''} - specdeck")


def _short(server: ServerState) -> str:
    rate = f" {server.throughput.tok_s:.0f} tok/s" if server.throughput else ""
    return f"{_named(server)}{rate}"


def _named(server: ServerState) -> str:
    bar = server.story.progress if server.story and server.word == Word.STARTING else None
    percent = f" {min(bar.percent, 99.0):.0f}%" if bar else ""
    return f"{SHAPES[server.word]} {server.name} {server.word}{percent}"


def _harmless(text: str) -> str:
    """tmux takes `#[` in a status line for a style."""
    return plain(text).replace("#", "_")

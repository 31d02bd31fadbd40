"""What is worth knowing of a server that works: another speculation than asked, its GPUs, the engine's own warnings, no metrics."""

from specdeck.state.snapshot import ServerState


def warnings_of(server: ServerState) -> tuple[str, ...]:
    """All of them, the most telling first."""
    mode = mode_warning(server)
    told = server.story.warnings if server.story is not None else ()
    return tuple(filter(None, (mode, *gpu_warnings(server), log_warning(server), *told, server.metrics_note)))


def row_warning(server: ServerState) -> str | None:
    """The one for the server's row: the mode, else what its GPUs explain, else the newest of the engine's own."""
    told = server.story.warnings if server.story is not None else ()
    return next(filter(None, (mode_warning(server), *gpu_warnings(server), log_warning(server), *told[-1:])), None)


def gpu_warnings(server: ServerState) -> tuple[str, ...]:
    """Throttling, errors and strangers on its GPUs, the worst first."""
    return tuple(trouble.words for trouble in server.gpu_troubles)


def log_warning(server: ServerState) -> str | None:
    """`its log is 12 MB behind: ...`: what it tells is not of now."""
    behind = log_lag(server)
    return f"its log is {behind}: it grows faster than the line to its host carries" if behind else None


def log_lag(server: ServerState) -> str | None:
    """`12 MB behind`."""
    behind = server.evidence.log_behind_bytes
    return f"{behind / 1e6:.0f} MB behind" if behind else None


def mode_warning(server: ServerState) -> str | None:
    """`eagle3-v2 asks for v2, the engine runs v1`; nothing where either is not told."""
    asked = server.asked_modes.get(server.profile or "")
    effective = effective_mode(server)
    if server.profile_but or asked is None or effective is None or effective.partition(" ")[0] == asked:
        return None
    words = "no speculation" if asked == "none" else asked
    return f"{server.profile} asks for {words}, the engine runs {effective}"


def live_draft_steps(server: ServerState) -> int | None:
    """How many steps a speculating server drafts now; None: it does not speculate, or does not tell."""
    if effective_mode(server) is None:
        return None
    told = server.story.draft_steps if server.story is not None else None
    return server.draft_steps if server.draft_steps is not None else told


def effective_mode(server: ServerState) -> str | None:
    """By the server's own endpoint, else by its log."""
    return server.speculation or (server.story.speculation if server.story is not None else None)

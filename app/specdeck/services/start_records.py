"""A past start as the one line of JSON that stands in its run's folder, and back; what a line does not hold makes it no start."""

import json
from collections.abc import Mapping

from specdeck.parsing.plain import plain
from specdeck.state.starts import PastStart

SCHEMA = 1
LONGEST_PHASE_SECONDS = 86_400.0


def start_line(start: PastStart) -> str:
    """One line, in plain ASCII."""
    return json.dumps(
        {
            "schema": SCHEMA,
            "engine": start.engine,
            "engine_version": start.engine_version,
            "profile": start.profile,
            "model": start.model,
            "boot": start.boot_id,
            "started": round(start.started_at, 1),
            "cold": start.is_cold,
            "phases": [[name, round(seconds, 2)] for name, seconds in start.phases],
            "seconds": round(start.seconds, 2),
        }
    )


def read_start(server: str, run: str, line: str) -> PastStart | None:
    """The start; None where the line makes no sense."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or told.get("schema") != SCHEMA:
        return None
    phases, started = _phases(told.get("phases")), told.get("started")
    if not phases or not isinstance(started, int | float):
        return None
    cold = told.get("cold")
    return PastStart(
        server=plain(server),
        run=plain(run),
        model=_word(told, "model") or "",
        profile=_word(told, "profile"),
        engine=_word(told, "engine") or "",
        engine_version=_word(told, "engine_version"),
        boot_id=_word(told, "boot") or "",
        started_at=float(started),
        phases=phases,
        is_cold=cold if isinstance(cold, bool) else None,
    )


def _word(told: Mapping[str, object], key: str) -> str | None:
    value = told.get(key)
    return plain(value) if isinstance(value, str) else None


def _phases(value: object) -> tuple[tuple[str, float], ...]:
    rows = value if isinstance(value, list) else []
    pairs = (row for row in rows if isinstance(row, list) and len(row) == 2)
    return tuple(
        (plain(name), float(seconds))
        for name, seconds in pairs
        if isinstance(name, str) and isinstance(seconds, int | float) and 0 <= seconds < LONGEST_PHASE_SECONDS
    )

"""The JSON shapes of a story's parts, the same in `inspect` and in `status`: unknown is null, never 0."""

from specdeck.state.log_story import Cause, LogStory, Phase, Progress

Json = dict[str, object]


def phase_json(phase: Phase | None) -> Json | None:
    """`name`, `index` from 1, `total` of this run."""
    return None if phase is None else {"name": phase.name, "index": phase.index, "total": phase.total}


def progress_json(progress: Progress | None) -> Json | None:
    """The bar that moves."""
    if progress is None:
        return None
    return {
        "label": progress.label,
        "done": progress.done,
        "total": progress.total,
        "percent": round(progress.percent, 2),
        "rate": None if progress.rate is None else round(progress.rate, 3),
        "eta_seconds": progress.eta_seconds,
        "detail": progress.detail or None,
    }


def cause_json(cause: Cause | None) -> Json | None:
    """The first cause."""
    if cause is None:
        return None
    return {
        "kind": cause.kind,
        "message": cause.message,
        "line": cause.line,
        "rank": cause.rank,
        "hint": cause.hint,
        "other_ranks": cause.other_ranks,
    }


def story_json(story: LogStory) -> Json:
    """What a log alone says."""
    batch = story.batch
    rate = None if batch is None or batch.follows_idle else batch.tok_s
    return {
        "kind": "server-log",
        "basis": "log",
        "engine": story.engine,
        "engine_version": story.engine_version,
        "state": story.word,
        "speculation": story.speculation,
        "phase": phase_json(story.phase),
        "phases": [{"name": span.name, "began": span.began, "ended": span.ended} for span in story.phases],
        "progress": progress_json(story.progress),
        "loading_total": story.loading_total,
        "cause": cause_json(story.cause),
        "throughput_tok_s": rate,
        "accept_length": None if batch is None else batch.accept_length,
        "requests": None if batch is None else {"running": batch.running, "queued": batch.queued},
        "kv_usage": None if batch is None else batch.kv_usage,
        "warnings": list(story.warnings),
        "lines": story.lines,
    }

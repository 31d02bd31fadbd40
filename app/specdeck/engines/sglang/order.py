"""In which order SGLang runs the phases of a start: with a draft model it depends on the release."""

from specdeck.state.phases import PhaseName

PLAIN: tuple[PhaseName, ...] = (
    "import",
    "arguments",
    "processes",
    "distributed",
    "weights",
    "kv_cache",
    "graphs",
    "http",
    "warm_up",
)
DRAFT_LAST: tuple[PhaseName, ...] = (*PLAIN[:7], "draft_weights", "draft_graphs", *PLAIN[7:])
"""With speculation, up to 0.5.13: the draft is loaded once the target's graphs are captured."""
DRAFT_EARLY: tuple[PhaseName, ...] = (*PLAIN[:5], "draft_weights", *PLAIN[5:7], "draft_graphs", *PLAIN[7:])
"""From 0.5.14: the draft's weights come right after the target's."""

"""The fixed names of a start's phases (design section 7), in the order of an engine version that runs all of them."""

from typing import Literal

PhaseName = Literal[
    "import",
    "arguments",
    "processes",
    "distributed",
    "weights",
    "kv_cache",
    "graphs",
    "draft_weights",
    "draft_graphs",
    "http",
    "warm_up",
]

"""What SGLang's bars are called here: target and draft told apart, each graph set by its own name."""

import re
from functools import lru_cache
from typing import Literal

from specdeck.parsing.bars import Bar
from specdeck.state.phases import PhaseName

_WEIGHTS = re.compile(
    r"(?:^|\s)Loading .*(?:shards|loader|Streamer|InstantTensor)|^Multi-thread loading", re.IGNORECASE
)
_CAPTURE = re.compile(r"^(?:Captur|Compil)ing ")
_DOWNLOAD = re.compile(r"^(?:Fetching \d+ files|Downloading)|\.safetensors$|\.bin$")


BarRole = Literal["weights", "capture", "download", "other"]


def role_of(bar: Bar) -> BarRole:
    """What a bar counts, by its own words."""
    return "download" if bar.kind == "bytes" else _role_of_words(bar.label)


@lru_cache(maxsize=256)
def _role_of_words(label: str) -> BarRole:
    """A label is drawn again hundreds of times."""
    if _CAPTURE.match(label):
        return "capture"
    if _DOWNLOAD.search(label):
        return "download"
    return "weights" if _WEIGHTS.search(label) else "other"


def capture_label(bar: Bar, announced: str, phase: PhaseName | None) -> str:
    """The name of a graph bar: by what the log announced last, else by its own words and the phase."""
    words = bar.label.lower()
    if "num tokens" in words:
        return "piecewise compile" if words.startswith("compil") else "piecewise graphs"
    if "piecewise" in words:
        return "piecewise graphs"
    return announced or ("draft graphs" if phase in ("draft_weights", "draft_graphs") else "graphs")


def announced_label(what: str) -> str:
    """`draft extend cuda graph` -> `draft extend graphs`."""
    kind = re.sub(r"\s*\b(?:cuda|cpu|npu|xpu) graph\b.*", "", what.lower()).strip()
    return {"": "graphs", "target decode": "graphs", "target verify": "graphs", "draft decode": "draft graphs"}.get(
        kind, f"{kind} graphs"
    )

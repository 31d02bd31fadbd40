"""How a start of SGLang proceeds: which line and which bar begins which phase, target and draft told apart."""

import re

from specdeck.engines.notebook import Notebook
from specdeck.engines.sglang.bar_names import announced_label, capture_label, role_of
from specdeck.engines.sglang.order import DRAFT_EARLY, DRAFT_LAST
from specdeck.engines.sglang.records import StampClock
from specdeck.engines.sglang.speculation import drafts, mode_of_arguments
from specdeck.parsing.bars import Bar
from specdeck.state.phases import PhaseName

START_WORDS = ("Init", "Load", "KV", "Using", "Memory", "Mamba", "Capture")
"""The first words of the messages that `read` takes."""

_CAPTURE = re.compile(r"Capture (?P<what>[\w ]*?(?:cuda|CUDA|cpu|CPU|NPU|XPU|npu|xpu) graph) (?P<event>begin|end)\b")
_POOL = re.compile(r"KV Cache |Using KV cache |Memory pool |Mamba Cache ")


class StartReader:
    """One start; a run that is appended to the log gets a new one."""

    def __init__(self, book: Notebook, clock: StampClock) -> None:
        self._book = book
        self._clock = clock
        self._loads_of_rank: dict[str, int] = {}
        self._announced = ""
        """The graph set whose capture the log announced last."""

    def read(self, message: str, rank: str) -> None:
        """A message that begins with one of the start words."""
        if message.startswith(("Init torch distributed begin", "Init parallel begin")):
            self._distributed(rank)
        elif message.startswith("Load weight begin"):
            self._load(rank)
        elif _POOL.match(message):
            self._enter("kv_cache")
        else:
            self._capture(message)

    def arguments(self, message: str, declared: str | None) -> None:
        """The dump of the server's arguments: what the engine runs with, defaults included."""
        self._enter("processes")
        self._book.speculation = mode_of_arguments(message, declared)
        if drafts(message):
            self._book.order = DRAFT_LAST

    def show(self, bar: Bar) -> None:
        """A bar was redrawn."""
        book = self._book
        role = role_of(bar)
        if role == "capture" or (not bar.label and (self._announced or self._begins_capture(bar))):
            self._enter("draft_graphs" if self._announced.startswith("draft") else self._graph_phase())
            book.show(bar, capture_label(bar, self._announced, book.phase))
        elif role == "download":
            self._show_download(bar)
        elif role == "weights" or (not bar.label and book.phase in ("weights", "draft_weights")):
            self._show_weights(bar)
        else:
            book.show(bar, bar.label or "progress")

    def _begins_capture(self, bar: Bar) -> bool:
        """A capture's first redraw has no words yet; a bar of weights always has some."""
        label = "draft weights" if self._book.phase == "draft_weights" else "target weights"
        return bar.done == 0 and self._book.has_finished(label)

    def _show_download(self, bar: Bar) -> None:
        """All files together where that is told, else the file that is furthest."""
        if bar.kind == "count":
            self._book.show(bar, "downloading files")
        elif self._book.progress is None or self._book.progress.label != "downloading files":
            self._book.show(bar, "downloading")

    def _show_weights(self, bar: Bar) -> None:
        book = self._book
        is_second = not self._loads_of_rank and bar.done < bar.total and book.has_finished("target weights")
        if is_second and book.phase != "draft_weights":
            self._begin_draft()
        self._enter("weights")
        if book.phase == "draft_weights":
            book.show(bar, "draft weights")
            return
        book.loading_total = bar.total
        book.show(bar, "target weights")

    def _graph_phase(self) -> PhaseName:
        return "draft_graphs" if self._book.phase in ("draft_weights", "draft_graphs") else "graphs"

    def _enter(self, phase: PhaseName) -> None:
        self._book.enter(phase, self._clock.seconds(None))

    def _distributed(self, rank: str) -> None:
        if self._loads_of_rank.get(rank):
            self._begin_draft()
        else:
            self._enter("distributed")

    def _load(self, rank: str) -> None:
        """A rank that loads a second time loads the draft."""
        self._loads_of_rank[rank] = self._loads_of_rank.get(rank, 0) + 1
        if self._loads_of_rank[rank] > 1:
            self._begin_draft()
        else:
            self._enter("weights")

    def _begin_draft(self) -> None:
        self._book.order = DRAFT_LAST if self._book.has_reached("kv_cache") else DRAFT_EARLY
        self._enter("draft_weights")

    def _capture(self, message: str) -> None:
        match = _CAPTURE.match(message)
        if match is None or match["event"] == "end":
            return
        self._announced = announced_label(match["what"])
        self._enter("draft_graphs" if self._announced.startswith("draft") else "graphs")

"""What the engine writes to its stderr: records with SGLang's prefix, and tqdm's bars, byte for byte."""

import os
import time

_EIGHTHS = " ▏▎▍▌▋▊▉"
_WIDTH = 10


def raw(text: str) -> None:
    """Bytes as they are."""
    data = text.encode()
    while data:
        data = data[os.write(2, data) :]


class Log:
    """Records of one server; `rank` is a tag such as ` TP0`, none for the main process."""

    def __init__(self, ranks: int = 1) -> None:
        self._ranks = ranks

    def main(self, text: str) -> None:
        """A record of the main process."""
        raw(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}] {text}\n")

    def rank(self, text: str, rank: int = 0) -> None:
        """A record of one scheduler."""
        tag = f" TP{rank}" if self._ranks > 1 else ""
        raw(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}{tag}] {text}\n")

    def every_rank(self, text: str) -> None:
        """The same record of each scheduler."""
        for rank in range(self._ranks):
            self.rank(text, rank)

    def web(self, text: str) -> None:
        """A record of uvicorn at level INFO."""
        self.main(f"INFO:     {text}")


class Bar:
    """One tqdm bar in a file: each refresh overwrites with a carriage return, one newline at its close."""

    def __init__(self, total: int, *, shards: str | None = None) -> None:
        self._total, self._shards = total, shards
        self._began = time.monotonic()
        self.done = 0
        if shards is None:
            raw("\r" + self._graph_text(""))

    def show(self, words: str = "") -> None:
        """Draw it as it stands."""
        raw("\r" + (self._shard_text() if self._shards else self._graph_text(words)))

    def close(self) -> None:
        """No more refreshes."""
        raw("\n")

    def _shard_text(self) -> str:
        percent = 100 * self.done / self._total
        return f"{self._shards}: {percent:3.0f}% Completed | {self.done}/{self._total} [{self._meter()}]"

    def _graph_text(self, words: str) -> str:
        share = self.done / self._total
        head = f"{words}: " if words else ""
        return f"{head}{100 * share:3.0f}%|{_blocks(share)}| {self.done}/{self._total} [{self._meter()}]"

    def _meter(self) -> str:
        """`00:01<00:00, 31.60it/s`."""
        elapsed = time.monotonic() - self._began
        if not self.done:
            return f"{_clock(elapsed)}<?, ?it/s"
        rate = self.done / max(elapsed, 1e-9)
        speed = f"{rate:5.2f}it/s" if rate >= 1 else f"{1 / rate:5.2f}s/it"
        return f"{_clock(elapsed)}<{_clock((self._total - self.done) / rate)}, {speed}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"


def _blocks(share: float) -> str:
    full, eighth = divmod(int(share * _WIDTH * 8), 8)
    bar = "█" * full + (_EIGHTHS[eighth] if full < _WIDTH else "")
    return f"{bar:<{_WIDTH}}"

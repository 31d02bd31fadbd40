"""Lives of a real SGLang on an H200, as they were captured beside its log: every quarter of a second and every health poll."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.engines.reading import CAPTURES

FOLDER = CAPTURES / "sglang_h200"
TITLES = {"sglang::scheduler": "sglang::schedul", "sglang::detokenizer": "sglang::detoken"}
"""As the kernel keeps them: 15 characters."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was there at one moment."""

    at: float
    """Seconds since the spawn."""
    log_bytes: int
    memory_mib: int | None
    listens: bool
    processes: Mapping[int, str]
    """State letters by pid: all of the run's session."""


@dataclass(frozen=True, slots=True)
class Poll:
    """One request to /health."""

    asked_at: float
    seconds: float
    code: str
    """`200`, `503`, `refused`, `000`."""

    @property
    def at(self) -> float:
        """When its answer was there."""
        return self.asked_at + self.seconds


@dataclass(frozen=True, slots=True)
class Request:
    """One request of the load: the client's own record."""

    load: str
    began: float
    first_token: float
    ended: float
    tokens: int


@dataclass(frozen=True)
class Life:
    """One run in one folder of the captures."""

    name: str
    log_name: str = "server.log"
    stop_asked_at: float | None = None
    """When the first signal of a stop was sent, by the marks."""
    port_owner: int | None = None
    """Another process that listens on the port; None: the run itself, once it does."""

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @cached_property
    def log(self) -> bytes:
        return (self.folder / self.log_name).read_bytes()

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        return tuple(_row(words) for words in self._table("timeline"))

    @cached_property
    def polls(self) -> tuple[Poll, ...]:
        return tuple(Poll(float(begin), float(took), code) for begin, took, code in self._table("health"))

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        return tuple(
            Request(load, float(began), float(first), float(ended), int(tokens))
            for load, began, first, ended, tokens, _ in self._table("requests")
        )

    @cached_property
    def marks(self) -> Mapping[str, float]:
        """What the driver did when."""
        found = json.loads((self.folder / "marks.json").read_text())
        return {mark["mark"]: mark["t"] for mark in found["marks"]}

    @cached_property
    def exit_status(self) -> int:
        """As the wrapper writes it: 128 + signal."""
        code = int(json.loads((self.folder / "marks.json").read_text())["rc"])
        return code if code >= 0 else 128 - code

    @property
    def pid(self) -> int:
        """Of the parent: the first process that was seen."""
        return next(iter(self.rows[0].processes))

    @cached_property
    def names(self) -> Mapping[int, str]:
        """What the processes call themselves, by one listing of `ps`; all others are Python."""
        listing = self.folder / "ps.txt"
        lines = listing.read_text().splitlines()[1:] if listing.exists() else []
        rows = [line.split() for line in lines]
        return {int(words[0]): title for words in rows if (title := TITLES.get(words[-1]))}

    @cached_property
    def born(self) -> Mapping[int, float]:
        """When each process was first seen."""
        return {pid: row.at for row in reversed(self.rows) for pid in row.processes}

    @property
    def ended_at(self) -> float:
        """The first row without its parent."""
        return next(row.at for row in self.rows if row.processes.get(self.pid, "Z") == "Z")

    def _table(self, name: str) -> list[list[str]]:
        path = self.folder / f"{name}.tsv.gz"
        if not path.exists():
            return []
        return [line.split("\t") for line in gzip.decompress(path.read_bytes()).decode().splitlines()[1:]]


def _row(words: list[str]) -> Row:
    at, _, log_bytes, _, memory, listens, processes = (*words, *[""] * (7 - len(words)))
    states = {int(word[:-1]): word[-1] for word in processes.split(",") if word}
    return Row(float(at), int(log_bytes), int(memory) if memory.isdecimal() else None, listens == "1", states)


LIVES: Mapping[str, Life] = {
    life.name: life
    for life in (
        Life("baseline", stop_asked_at=148.61),
        Life("eagle3_v1", stop_asked_at=107.917),
        Life("eagle3_v1_b", stop_asked_at=119.355),
        Life("eagle3_v2", stop_asked_at=110.476),
        Life("fail_bad_flag"),
        Life("fail_model_path"),
        Life("fail_mem_fraction"),
        Life("fail_port_in_use", log_name="B_second.log", port_owner=2241),
        Life("fail_kill9_scheduler", log_name="A_first.log"),
        Life("fail_kill9_parent"),
        Life("fail_sigterm_loading", stop_asked_at=19.669),
        Life("cpu_kill9_parent_spawning"),
    )
}

"""A recording: what the transports of a fleet gave, line by line as JSON, with times and without secrets."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Literal, get_args

from specdeck.parsing.secrets import without_secrets
from specdeck.quick_dataclass import dataclass

FORMAT = 1
_FLUSH_SECONDS = 2.0
"""A recorder that is killed loses no more than this."""
EntryKind = Literal["run", "chunk", "http"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a host gave."""

    at: float
    """Unix seconds by specdeck's clock."""
    host: str
    kind: EntryKind
    name: str
    """Of the script, or the port and path that were asked: `30000/health`."""
    args: tuple[str, ...] = ()
    status: int | None = None
    """Of the script, or of the answer."""
    offset: int | None = None
    """In the file, for bytes of a log."""
    error: str = ""
    content: bytes = b""
    seconds: float | None = None
    """Until the answer of a server was there."""


class TapeWriter:
    """Appends to one file; a page that is the same as the last of its name is not written twice.

    Where it cannot be written any more (a full disk) it breaks off, which is told once: whoever watches goes on.
    """

    def __init__(self, path: Path, head: dict[str, object], told: Callable[[str], object] = lambda words: None) -> None:
        self._path = path
        self._told = told
        self._is_broken_off = False
        self._file: IO[str] = gzip.open(path, "wt") if path.suffix == ".gz" else path.open("w")  # noqa: SIM115 - closed by close()
        self._last: dict[tuple[str, str], bytes] = {}
        self._flushed_at = 0.0
        self._write({"specdeck_recording": FORMAT, **head})

    def add(self, entry: Entry) -> None:
        """Write it down, as long as that is possible."""
        if self._is_broken_off:
            return
        try:
            self._add(entry)
        except OSError as error:
            self._break_off(error)

    def _break_off(self, error: OSError) -> None:
        self._is_broken_off = True
        with suppress(OSError):
            self._file.close()
        self._told(f"the recording broke off: {self._path}: {error.strerror or error}")

    def _add(self, entry: Entry) -> None:
        key = (entry.host, entry.name)
        is_same = entry.kind == "http" and bool(entry.content) and self._last.get(key) == entry.content
        self._last[key] = entry.content if entry.kind == "http" else b""
        told: dict[str, object] = {"at": round(entry.at, 3), "host": entry.host, "kind": entry.kind, "name": entry.name}
        told |= {"args": list(entry.args)} if entry.args else {}
        told |= {key: value for key, value in (("status", entry.status), ("offset", entry.offset)) if value is not None}
        told |= {"error": entry.error} if entry.error else {}
        told |= {"seconds": round(entry.seconds, 4)} if entry.seconds is not None else {}
        told |= {"same": True} if is_same else {"content": _text(entry.content)} if entry.content else {}
        self._write(told)
        if abs(entry.at - self._flushed_at) > _FLUSH_SECONDS:
            self._flushed_at = entry.at
            self._file.flush()

    def close(self) -> None:
        """Complete the file."""
        try:
            self._file.close()
        except OSError as error:
            if not self._is_broken_off:
                self._break_off(error)

    def _write(self, told: dict[str, object]) -> None:
        self._file.write(json.dumps(told, separators=(",", ":")) + "\n")


def read_tape(path: Path) -> tuple[dict[str, object], tuple[Entry, ...]]:
    """The head and all entries, oldest first; a line that is cut off is left out. Raises ValueError: it is no recording."""
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
            head = json.loads(next(file, ""))
            entries = tuple(_entries(_whole(file)))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError("it is no recording of this version of specdeck") from error
    except (EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"it cannot be read: {error}") from error
    if not isinstance(head, dict) or head.get("specdeck_recording") != FORMAT:
        raise ValueError("it is no recording of this version of specdeck")
    return head, tuple(sorted(entries, key=lambda entry: entry.at))


def _whole(lines: Iterator[str]) -> Iterator[str]:
    """Up to where a recorder that was killed stopped writing."""
    try:
        yield from lines
    except (EOFError, zlib.error):
        return


def _entries(lines: Iterator[str]) -> Iterator[Entry]:
    last: dict[tuple[str, str], bytes] = {}
    for line in lines:
        try:
            told = json.loads(line)
            entry = _entry(told, last)
        except (ValueError, KeyError, TypeError):
            continue
        last[entry.host, entry.name] = entry.content
        yield entry


def _entry(told: dict[str, object], last: dict[tuple[str, str], bytes]) -> Entry:
    host, name, kind = str(told["host"]), str(told["name"]), told["kind"]
    if kind not in get_args(EntryKind):
        raise ValueError(kind)
    args, status, offset = told.get("args", []), told.get("status"), told.get("offset")
    seconds = told.get("seconds")
    content = last.get((host, name), b"") if told.get("same") else _bytes(str(told.get("content", "")))
    return Entry(
        at=float(str(told["at"])),
        host=host,
        kind=kind,  # type: ignore[arg-type]
        name=name,
        args=tuple(str(arg) for arg in args) if isinstance(args, list) else (),
        status=status if isinstance(status, int) else None,
        offset=offset if isinstance(offset, int) else None,
        error=str(told.get("error", "")),
        content=content,
        seconds=float(seconds) if isinstance(seconds, float | int) else None,
    )


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def masked(content: bytes, secrets: Sequence[str] = ()) -> bytes:
    """Without keys and tokens, and as long as before: places in a log keep their number."""
    return b"".join(_masked_line(line, secrets) for line in content.splitlines(keepends=True))


def _masked_line(line: bytes, secrets: Sequence[str]) -> bytes:
    clean = without_secrets(_text(line))
    for secret in secrets:
        clean = clean.replace(secret, "*" * len(_bytes(secret)))
    new = _bytes(clean)
    missing = len(line) - len(new)
    if missing > 0:
        return new.replace(b"***", b"***" + b"*" * missing, 1)
    return new.replace(b"***", b"*" * max(0, 3 + missing), 1) if missing < 0 else new

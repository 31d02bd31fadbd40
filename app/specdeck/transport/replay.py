"""A host out of a recording: gives the monitors what was given then, at its time."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

import httpx

from specdeck.errors import NotRecorded
from specdeck.transport.asking import TOOK_SECONDS
from specdeck.transport.base import Channel, Outcome
from specdeck.transport.recording import name_of, page_name
from specdeck.transport.replay_clock import ReplayClock
from specdeck.transport.replayed import ReplayedLog, ReplayedMonitor, newest
from specdeck.transport.script import Script
from specdeck.transport.tape import Entry

_LOOK_SECONDS = 0.1
_SOON_SECONDS = 5.0
"""A page is asked for a little sooner than it was then: the first is taken for that moment."""
_LOGS = ("log_size", "log_read", "log_follow")


class ReplayTransport:
    """Implements `base.Transport`; nothing leaves this process."""

    def __init__(self, entries: Sequence[Entry], address: str, clock: ReplayClock) -> None:
        self.address = address
        self.route = ""
        self._clock = clock
        self._runs = _by_name(entry for entry in entries if entry.kind == "run")
        self._pages = _by_name(entry for entry in entries if entry.kind == "http")
        self._logs = {path: ReplayedLog(pieces) for path, pieces in _by_path(entries).items()}
        self._monitor = ReplayedMonitor(_lines(entries))

    async def connect(self) -> None:
        """There is nothing to connect to."""

    async def wait_lost(self) -> str:
        """A recording is never lost."""
        await asyncio.Event().wait()
        return ""

    async def run(self, script: Script, *, limit_seconds: float = 30.0) -> Outcome:
        """What this script said last, by the recording. Raises NotRecorded where it was not run."""
        name = name_of(script)
        if name in _LOGS and script.args[0] in self._logs:
            return self._of_log(name, script.args)
        alike = _most_alike(self._runs.get(name, []), script.args)
        found = newest(alike, self._clock.now()) or next(iter(alike), None)
        if found is None:
            raise NotRecorded(f"{self.address}: `{name}` is not in this recording")
        return Outcome(found.content, b"", found.status)

    @asynccontextmanager
    async def open(self, script: Script) -> AsyncIterator[Channel]:
        """The monitor, or a log that grows."""
        if name_of(script) == "log_follow":
            yield _LogChannel(self._logs.get(script.args[0], ReplayedLog(())), int(script.args[1]), self._clock)
        else:
            yield _MonitorChannel(self._monitor, self._clock)

    def http(self, *, verify: bool | str = True) -> httpx.AsyncBaseTransport:
        """Answers with the newest page that was given by then."""
        return httpx.MockTransport(self._answer)

    async def why_no_forwarding(self, port: int) -> str | None:
        """Nothing is forwarded."""
        return None

    async def close(self) -> None:
        """There is nothing to close."""

    def _of_log(self, name: str, args: tuple[str, ...]) -> Outcome:
        log, now = self._logs[args[0]], self._clock.now()
        content = log.at(now)
        if name == "log_read":
            begin = int(args[1])
            return Outcome(content[begin : begin + int(args[2])], b"", 0)
        looks = [entry for entry in self._runs.get("log_size", []) if entry.args == args]
        look = newest(looks, now)
        if look is not None and not look.content.startswith(b"@size") and not content:
            return Outcome(look.content, b"", look.status)  # it was not there yet, or not readable
        return Outcome(f"@size {len(content)} {int(log.written_at or now)} {int(now)}\n".encode(), b"", 0)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        pages = self._pages.get(page_name(request), [])
        page = newest(pages, self._clock.now()) or newest(pages[:1], self._clock.now() + _SOON_SECONDS)
        if page is None or page.error == "ConnectError":
            raise httpx.ConnectError("refused", request=request)
        if page.error or page.status is None:
            raise httpx.ReadTimeout(page.error, request=request)
        took = {} if page.seconds is None else {TOOK_SECONDS: page.seconds}
        return httpx.Response(page.status, content=page.content, extensions=took)


class _LogChannel:
    exit_status: int | None = None

    def __init__(self, log: ReplayedLog, offset: int, clock: ReplayClock) -> None:
        self._log = log
        self._offset = offset
        self._clock = clock

    async def write(self, data: bytes) -> None:
        """Nobody reads it."""

    async def chunks(self) -> AsyncIterator[bytes]:
        """What is there, and what is appended."""
        while True:
            content = self._log.at(self._clock.now())
            if len(content) < self._offset:
                return
            if content[self._offset :]:
                yield content[self._offset :]
                self._offset = len(content)
            await asyncio.sleep(_LOOK_SECONDS)


class _MonitorChannel:
    exit_status: int | None = None

    def __init__(self, monitor: ReplayedMonitor, clock: ReplayClock) -> None:
        self._monitor = monitor
        self._clock = clock
        self._asked: list[str] = []
        self._answers: asyncio.Queue[str] = asyncio.Queue()

    async def write(self, data: bytes) -> None:
        """Questions; the beat asks for the answers."""
        for question in data.decode("utf-8", "surrogateescape").splitlines():
            if question.startswith("beat "):
                now = self._clock.now()
                said = self._monitor.answer(self._asked, now) if self._asked else self._monitor.greeting(now)
                self._answers.put_nowait("".join(f"{line}\n" for line in (*said, f"@{question}")))
                self._asked = []
            else:
                self._asked.append(question)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Answers, and the rows of nvidia-smi at their time."""
        rows = iter(self._monitor.rows)
        row = next(rows, None)
        while True:
            while row is not None and row[0] <= self._clock.now():
                yield f"{row[1]}\n".encode("utf-8", "surrogateescape")
                row = next(rows, None)
            try:
                async with asyncio.timeout(_LOOK_SECONDS):
                    answer = await self._answers.get()
            except TimeoutError:
                continue
            yield answer.encode("utf-8", "surrogateescape")


def _most_alike(runs: Sequence[Entry], args: tuple[str, ...]) -> list[Entry]:
    """Those with the most arguments as these: what is asked may differ a little from what was."""
    scores = [sum(one == other for one, other in zip(entry.args, args, strict=False)) for entry in runs]
    return [entry for entry, score in zip(runs, scores, strict=True) if score == max(scores)]


def _by_name(entries: Iterator[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.name, []).append(entry)
    return found


def _by_path(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.name in _LOGS and entry.args:
            found.setdefault(entry.args[0], []).append(entry)
    return found


def _lines(entries: Sequence[Entry]) -> Iterator[tuple[float, str]]:
    for entry in entries:
        if entry.kind in ("chunk", "run") and entry.name == "monitor":  # a host with one session ran it each time
            for line in entry.content.decode("utf-8", "surrogateescape").split("\n"):
                yield entry.at, line

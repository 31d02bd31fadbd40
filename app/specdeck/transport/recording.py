"""Writes down what a transport gives, as it gives it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from time import monotonic

import httpx

from specdeck.transport.base import Channel, Outcome, Transport
from specdeck.transport.script import Script, script_text
from specdeck.transport.tape import Entry, TapeWriter, masked

OTHER = "other"
NO_ANSWER_SECONDS = 1.0
"""Who is sent away after such a wait asked a server that did not answer; after a shorter one it may be specdeck that ends."""


@cache
def _names() -> dict[str, str]:
    folder = files("specdeck.services") / "scripts"
    stems = [each.name.removesuffix(".sh") for each in folder.iterdir() if each.name.endswith(".sh")]
    return {script_text(stem): stem for stem in stems}


def name_of(script: Script) -> str:
    """The script's file; `other` for what was put together."""
    return _names().get(script.text, OTHER)


def page_name(request: httpx.Request) -> str:
    """`30000/health`: what a host has once, whichever of its addresses was asked."""
    return f"{request.url.port or (443 if request.url.scheme == 'https' else 80)}{request.url.path}"


class RecordingTransport:
    """Implements `base.Transport` over another one."""

    def __init__(
        self, inner: Transport, host: str, tape: TapeWriter, clock: Callable[[], float], secrets: Sequence[str] = ()
    ) -> None:
        self._inner = inner
        self._host = host
        self._tape = tape
        self._clock = clock
        self._secrets = tuple(secrets)
        """Keys of the user's environment: they are in no pattern."""

    @property
    def address(self) -> str:
        """As the other one says."""
        return self._inner.address

    @property
    def route(self) -> str:
        """As the other one says."""
        return self._inner.route

    async def connect(self) -> None:
        """Connect the other one."""
        await self._inner.connect()

    async def wait_lost(self) -> str:
        """As the other one."""
        return await self._inner.wait_lost()

    async def run(self, script: Script, *, limit_seconds: float = 30.0) -> Outcome:
        """Run it; what was put together (acts, keys) is not written down."""
        outcome = await self._inner.run(script, limit_seconds=limit_seconds)
        name = name_of(script)
        if name != OTHER:
            self._add("run", name, outcome.stdout, args=script.args, status=outcome.exit_status)
        return outcome

    @asynccontextmanager
    async def open(self, script: Script) -> AsyncIterator[Channel]:
        """Start it, and write down its lines."""
        async with self._inner.open(script) as channel:
            yield _RecordingChannel(channel, script, self)

    def http(self, *, verify: bool | str = True) -> httpx.AsyncBaseTransport:
        """The other's, with its answers written down; what was sent is not."""
        return _RecordingHttp(self._inner.http(verify=verify), self)

    async def why_no_forwarding(self, port: int) -> str | None:
        """As the other one says."""
        return await self._inner.why_no_forwarding(port)

    async def close(self) -> None:
        """Close the other one."""
        await self._inner.close()

    def take_lines(self, script: Script, content: bytes, offset: int | None) -> None:
        """Complete lines of a channel."""
        self._add("chunk", name_of(script), content, args=script.args, offset=offset)

    def take_answer(
        self, request: httpx.Request, status: int | None, body: bytes, *, seconds: float, error: str = ""
    ) -> None:
        """An answer of a server and how long it took, or why there was none."""
        self._add("http", page_name(request), body, status=status, error=error, seconds=seconds)

    def _add(
        self,
        kind: str,
        name: str,
        content: bytes,
        *,
        args: tuple[str, ...] = (),
        status: int | None = None,
        offset: int | None = None,
        error: str = "",
        seconds: float | None = None,
    ) -> None:
        clean = masked(content, self._secrets)
        entry = Entry(self._clock(), self._host, kind, name, args, status, offset, error, clean, seconds)  # type: ignore[arg-type]
        self._tape.add(entry)


class _RecordingChannel:
    """Lines are written down once they are complete: a secret may not be cut in two."""

    def __init__(self, inner: Channel, script: Script, owner: RecordingTransport) -> None:
        self._inner = inner
        self._script = script
        self._owner = owner
        self._rest = b""
        is_log = name_of(script) == "log_follow"
        self._offset = int(script.args[1]) if is_log else None

    async def write(self, data: bytes) -> None:
        """Pass it on."""
        await self._inner.write(data)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Pass them on, and write them down."""
        try:
            async for chunk in self._inner.chunks():
                self._keep(chunk)
                yield chunk
        finally:
            self._write(len(self._rest))

    @property
    def exit_status(self) -> int | None:
        """Of the other one."""
        return self._inner.exit_status

    def _keep(self, chunk: bytes) -> None:
        self._rest += chunk
        self._write(max(self._rest.rfind(b"\n"), self._rest.rfind(b"\r")) + 1)

    def _write(self, size: int) -> None:
        content, self._rest = self._rest[:size], self._rest[size:]
        if content:
            self._owner.take_lines(self._script, content, self._offset)
            self._offset = None if self._offset is None else self._offset + size


class _RecordingHttp(httpx.AsyncBaseTransport):
    def __init__(self, inner: httpx.AsyncBaseTransport, owner: RecordingTransport) -> None:
        self._inner = inner
        self._owner = owner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        began = monotonic()
        try:
            response = await self._inner.handle_async_request(request)
            body = await response.aread()
        except httpx.HTTPError as error:
            self._owner.take_answer(request, None, b"", seconds=monotonic() - began, error=type(error).__name__)
            raise
        except asyncio.CancelledError:  # the limit of whoever asked
            if (seconds := monotonic() - began) >= NO_ANSWER_SECONDS:
                self._owner.take_answer(request, None, b"", seconds=seconds, error=httpx.ReadTimeout.__name__)
            raise
        self._owner.take_answer(request, response.status_code, body, seconds=monotonic() - began)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()

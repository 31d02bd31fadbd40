"""HTTP/1.1 as uvicorn speaks it, as far as an inference server needs: keep-alive, bodies, streamed answers, access lines."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from specdeck.demo.engine.log import Log
from specdeck.quick_dataclass import dataclass

_REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed",
    503: "Service Unavailable",
}  # fmt: skip
_JSON = "application/json"
_LARGEST_BODY = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Asked:
    """A request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> dict[str, object]:
        """Its body; empty if it is no JSON object."""
        try:
            value = json.loads(self.body or b"{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, whole or streamed."""

    status: int = 200
    body: bytes = b""
    kind: str = ""
    stream: AsyncIterator[bytes] | None = None


def answer_json(value: object, status: int = 200) -> Answer:
    """A JSON answer."""
    return Answer(status, json.dumps(value, separators=(",", ":")).encode(), _JSON)


Application = Callable[[Asked], Awaitable[Answer]]
Counted = Callable[[str, str, int], None]


class Web:
    """One HTTP server."""

    def __init__(self, application: Application, log: Log, counted: Counted) -> None:
        self._application, self._log, self._counted = application, log, counted
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.StreamWriter] = set()

    async def listen(self, host: str, port: int) -> None:
        """Bind; OSError if somebody else has the port."""
        self._server = await asyncio.start_server(self._serve, host, port)

    def close(self) -> None:
        """Listen no more, and let go of everybody."""
        if self._server:
            self._server.close()
        for client in self._clients:
            client.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._clients.add(writer)
        try:
            while (asked := await _read(reader)) is not None and await self._answer(asked, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # the client went away or speaks no HTTP
        finally:
            self._clients.discard(writer)
            writer.close()

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection goes on."""
        answer = await self._application(asked)
        goes_on = asked.headers.get("connection", "").lower() != "close"
        writer.write(_head(answer, goes_on))
        self._tell(asked, answer.status, writer)
        if answer.stream is None:
            writer.write(answer.body)
        else:
            async for chunk in answer.stream:
                writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return goes_on

    def _tell(self, asked: Asked, status: int, writer: asyncio.StreamWriter) -> None:
        host, port = writer.get_extra_info("peername")[:2]
        reason = _REASONS.get(status, "")
        self._log.web(f'{host}:{port} - "{asked.method} {asked.path} HTTP/1.1" {status} {reason}')
        self._counted(asked.path.partition("?")[0], asked.method, status)


def _head(answer: Answer, goes_on: bool) -> bytes:
    lines = [f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'OK')}"]
    lines += [time.strftime("date: %a, %d %b %Y %H:%M:%S GMT", time.gmtime()), "server: uvicorn"]
    if answer.kind:
        lines.append(f"content-type: {answer.kind}")
    lines.append("transfer-encoding: chunked" if answer.stream is not None else f"content-length: {len(answer.body)}")
    if not goes_on:
        lines.append("connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    """The next request of a connection; None at its end."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *rest = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in rest if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    length = min(int(headers.get("content-length", "0")), _LARGEST_BODY)
    return Asked(method, path, headers, await reader.readexactly(length))

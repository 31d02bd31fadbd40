"""An HTTP server on loopback that answers as a scenario says (the same words as in tests/cases), and counts what it was asked."""

import asyncio
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

_TLS_BEGINS = b"\x16"
"""What a client of TLS sends first; a plain server calls it a bad request."""


@dataclass(frozen=True)
class Answer:
    """Of one route."""

    status: int = 200
    body: str = ""
    need_auth: str = ""
    """The Authorization header without which it answers 401."""
    hangs: bool = False


@dataclass
class Scripted:
    """Routes may be exchanged while it runs."""

    routes: dict[str, Answer]
    port: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    """How often, by path."""
    in_flight: Counter[str] = field(default_factory=Counter)
    most_in_flight: Counter[str] = field(default_factory=Counter)
    keys: list[str] = field(default_factory=list)
    """Authorization headers, in their order."""
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, kept alive."""
        self._writers.append(writer)
        try:
            while (first := await reader.readexactly(1)) != _TLS_BEGINS:
                request = first + await reader.readuntil(b"\r\n\r\n")
                await self._answer(request.decode(), reader, writer)
            writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = request.split(" ")[1]
        headers = dict(line.split(": ", 1) for line in request.split("\r\n")[1:] if ": " in line)
        key = {name.lower(): value for name, value in headers.items()}.get("authorization", "")
        self.asked[path] += 1
        self.keys += [key] if key else []
        self.in_flight[path] += 1
        self.most_in_flight[path] = max(self.most_in_flight[path], self.in_flight[path])
        answer = self.routes.get(path, Answer(404, '{"detail":"Not Found"}'))
        if answer.hangs:
            await reader.read()  # until the client gives up
        if answer.need_auth and key != answer.need_auth:
            answer = Answer(401, '{"error":"Unauthorized"}')
        body = answer.body.encode()
        writer.write(b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n%s" % (answer.status, len(body), body))
        await writer.drain()
        self.in_flight[path] -= 1

    def end(self) -> None:
        """Close all connections."""
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def scripted(
    routes: Mapping[str, Answer], address: str = "127.0.0.1", *, certificate: Path | None = None
) -> AsyncIterator[Scripted]:
    """A server while the context is open."""
    web = Scripted(dict(routes))
    context = None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
    server = await asyncio.start_server(web.serve, address, 0, ssl=context)
    web.port = server.sockets[0].getsockname()[1]
    try:
        yield web
    finally:
        web.end()
        server.close()
        await server.wait_closed()

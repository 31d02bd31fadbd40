"""One direct-tcpip channel as what httpcore reads and writes, with or without TLS."""

import asyncio
import ssl

import anyio
import asyncssh
import httpcore
from anyio.abc import ByteStream
from anyio.streams.tls import TLSAttribute, TLSStream

from specdeck.errors import ConnectionLost
from specdeck.transport.login import Link
from specdeck.transport.words import said


class SshByteStream(ByteStream):
    """A direct-tcpip channel as an anyio stream, so that anyio's TLS runs over it."""

    def __init__(
        self, link: Link, place: str, reader: asyncssh.SSHReader[bytes], writer: asyncssh.SSHWriter[bytes]
    ) -> None:
        self._link = link
        self._place = place
        self._reader = reader
        self._writer = writer

    @property
    def has_news(self) -> bool:
        """The other side closed, or sent what nobody asked for: such a connection is not used again."""
        return self._link.guardian.lost.is_set() or self._reader.at_eof()

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """The next bytes. Raises anyio.EndOfStream, ConnectionLost."""
        try:
            data = await self._reader.read(max_bytes)
        except (asyncssh.Error, OSError) as err:
            raise self._lost(err) from err
        if data:
            return data
        if self._link.guardian.lost.is_set():
            raise self._lost(None)
        raise anyio.EndOfStream

    async def send(self, item: bytes) -> None:
        """Send all of it. Raises anyio.BrokenResourceError, ConnectionLost."""
        try:
            self._writer.write(item)
            await self._writer.drain()
        except (asyncssh.Error, OSError) as err:
            if self._link.guardian.lost.is_set():
                raise self._lost(err) from err
            raise anyio.BrokenResourceError from err

    async def send_eof(self) -> None:
        """Nothing more will be sent."""
        self._writer.write_eof()

    async def aclose(self) -> None:
        """Close the channel."""
        self._writer.channel.abort()

    def _lost(self, err: Exception | None) -> ConnectionLost:
        return ConnectionLost(f"{self._place}: the SSH connection broke: {said(err or self._link.guardian.reason)}")


class TunnelStream(httpcore.AsyncNetworkStream):
    """What httpcore reads and writes; with or without TLS."""

    def __init__(self, raw: SshByteStream, tls: TLSStream | None = None) -> None:
        self._raw = raw
        self._tls = tls
        self._stream: ByteStream = tls or raw

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore's
        """The next bytes; empty at the end."""
        try:
            async with asyncio.timeout(timeout):
                return await self._stream.receive(max_bytes)
        except anyio.EndOfStream:
            return b""
        except TimeoutError as err:
            raise httpcore.ReadTimeout(str(err)) from err
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, ssl.SSLError) as err:
            raise httpcore.ReadError(str(err)) from err

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - httpcore's
        """Send all of it; httpcore also sends the body that a request does not have, twice."""
        if not buffer:
            return
        try:
            async with asyncio.timeout(timeout):
                await self._stream.send(buffer)
        except TimeoutError as err:
            raise httpcore.WriteTimeout(str(err)) from err
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, ssl.SSLError) as err:
            raise httpcore.WriteError(str(err)) from err

    async def aclose(self) -> None:
        """Close the channel; TLS's goodbye is not waited for."""
        await self._raw.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore's
    ) -> httpcore.AsyncNetworkStream:
        """The same connection with TLS over it."""
        try:
            async with asyncio.timeout(timeout):
                tls = await TLSStream.wrap(
                    self._raw, ssl_context=ssl_context, hostname=server_hostname, standard_compatible=False
                )
        except TimeoutError as err:
            await self.aclose()
            raise httpcore.ConnectTimeout(str(err)) from err
        except (anyio.BrokenResourceError, anyio.EndOfStream, ssl.SSLError) as err:
            await self.aclose()
            raise httpcore.ConnectError(str(err)) from err
        return TunnelStream(self._raw, tls)

    def get_extra_info(self, info: str) -> object:
        """What httpcore asks: whether an idle connection is still good, and the TLS object."""
        if info == "is_readable":
            return self._raw.has_news
        if info == "ssl_object" and self._tls is not None:
            return self._tls.extra(TLSAttribute.ssl_object)  # noqa: S610 - not Django's
        return None

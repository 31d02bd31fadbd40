"""HTTP whose connections start on the host: an httpcore backend over direct-tcpip channels of the SSH connection."""

import asyncio
import ssl
from collections.abc import Callable, Iterable

import anyio
import asyncssh
import httpcore
import httpx
from anyio.abc import ByteStream
from anyio.streams.tls import TLSAttribute, TLSStream

from specdeck.errors import ChannelRefused, ConnectionLost
from specdeck.transport.login import Link
from specdeck.transport.opening import opened
from specdeck.transport.words import said

_KEEPALIVE_SECONDS = 60.0
_MOST_CONNECTIONS = 100
_PROHIBITED = asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED


def tunnelled(
    link: Callable[[], Link], place: Callable[[], str], *, verify: bool | str = True
) -> httpx.AsyncBaseTransport:
    """An httpx transport over the connection that `link` gives; asked anew for each connection."""
    return Tunnelled(TunnelBackend(link, place), tls_context(verify))


def tls_context(verify: bool | str) -> ssl.SSLContext | None:
    """None: the usual authorities, loaded only when an https address is asked; a path: that authority only."""
    if isinstance(verify, str):
        return ssl.create_default_context(cafile=verify)
    if verify:
        return None
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Tunnelled(httpx.AsyncHTTPTransport):
    """httpx's own transport (requests, responses, errors) over our connections."""

    def __init__(self, backend: "TunnelBackend", context: ssl.SSLContext | None) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=_MOST_CONNECTIONS,
            keepalive_expiry=_KEEPALIVE_SECONDS,
            network_backend=backend,
        )


class TunnelBackend(httpcore.AsyncNetworkBackend):
    """Opens direct-tcpip channels: `127.0.0.1` is the host's own."""

    def __init__(self, link: Callable[[], Link], place: Callable[[], str]) -> None:
        self._link = link
        self._place = place

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection from the host to `host:port`. Raises httpcore.ConnectError, ConnectionLost, ChannelRefused."""
        link = self._link()
        try:
            async with asyncio.timeout(timeout):
                connecting = link.connection.open_connection(host, port, encoding=None)
                reader, writer = await opened(connecting, lambda pair: pair[1].channel.abort())
        except TimeoutError as err:
            raise httpcore.ConnectTimeout(f"{host}:{port} on {self._place()} did not answer") from err
        except asyncssh.ChannelOpenError as err:
            raise self._error(link, host, port, err) from err
        return TunnelStream(SshByteStream(link, self._place(), reader, writer))

    async def sleep(self, seconds: float) -> None:
        """For httpcore's retries."""
        await asyncio.sleep(seconds)

    def _error(self, link: Link, host: str, port: int, err: asyncssh.ChannelOpenError) -> Exception:
        if link.guardian.lost.is_set():
            return ConnectionLost(f"{self._place()}: the SSH connection broke: {link.guardian.reason}")
        if err.code == _PROHIBITED:
            return ChannelRefused(f"{self._place()}: the host forbids TCP forwarding (AllowTcpForwarding, PermitOpen)")
        return httpcore.ConnectError(f"{host}:{port} on {self._place()}: {said(err.reason)}")


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
        """Send all of it."""
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

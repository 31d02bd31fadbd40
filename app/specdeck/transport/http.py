"""HTTP whose connections start on the host: an httpcore backend over direct-tcpip channels of the SSH connection."""

import asyncio
import os
import ssl
from collections.abc import Callable, Iterable

import asyncssh
import httpcore
import httpx

from specdeck.errors import ConnectionLost, ForwardingForbidden
from specdeck.transport.login import Link
from specdeck.transport.opening import opened
from specdeck.transport.tunnel import SshByteStream, TunnelStream
from specdeck.transport.words import said

_KEEPALIVE_SECONDS = 60.0
_MOST_CONNECTIONS = 100
_PROBE_SECONDS = 10.0
_PROHIBITED = asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED


def tunnelled(
    link: Callable[[], Link], place: Callable[[], str], *, verify: bool | str = True
) -> httpx.AsyncBaseTransport:
    """An httpx transport over the connection that `link` gives; asked anew for each connection."""
    return Tunnelled(TunnelBackend(link, place), tls_context(verify))


async def why_forbidden(link: Callable[[], Link], place: str, port: int) -> str | None:
    """Why no connection to the host's own port may be made; None: it may, whether somebody listens or not."""
    try:
        stream = await TunnelBackend(link, lambda: place).connect_tcp("127.0.0.1", port, timeout=_PROBE_SECONDS)
    except (httpcore.ConnectError, httpcore.ConnectTimeout):
        return None
    except ForwardingForbidden as err:
        return str(err)
    await stream.aclose()
    return None


def tls_context(verify: bool | str) -> ssl.SSLContext | None:
    """None: the usual authorities, loaded only when an https address is asked; a path: that authority only.

    An authority that the user named vouches for its servers whatever they are called: what is asked is the host's own
    loopback, at the far end of a connection that SSH has proved, and no certificate names that. Raises OSError.
    """
    if isinstance(verify, str):
        context = ssl.create_default_context(cafile=os.path.expanduser(verify))
        context.check_hostname = False
        return context
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
        """A connection from the host to `host:port`. Raises httpcore.ConnectError, ConnectionLost, ForwardingForbidden."""
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
            return ForwardingForbidden(
                f"{self._place()}: the host forbids TCP forwarding (AllowTcpForwarding, PermitOpen)"
            )
        return httpcore.ConnectError(f"{host}:{port} on {self._place()}: {said(err.reason)}")

"""Connect and log in to one host; every way to fail is a sentence that names what and where."""

import asyncio
import shlex
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import asyncssh

from specdeck.errors import HostUnreachable, LoginRefused, TransportError
from specdeck.transport.host_keys import KnownHosts, Standing
from specdeck.transport.keys import Keys, keys_of
from specdeck.transport.resolve import Route
from specdeck.transport.words import said

CONNECT_SECONDS = 10.0
LOGIN_SECONDS = 15.0
KEEPALIVE_SECONDS = 12.0
KEEPALIVE_MISSES = 3
"""asyncssh gives up at one more than these: a connection that went silent is lost after 48 s."""
_CLOSE_SECONDS = 5.0
_ALL_KEY_KINDS = (
    "+ssh-ed25519,sk-ssh-ed25519@openssh.com,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,"
    "sk-ecdsa-sha2-nistp256@openssh.com,rsa-sha2-512,rsa-sha2-256"
)
"""Beside the kinds of the known keys, which come first: a host that has none of them is then "changed", not "no match"."""


class Guardian(asyncssh.SSHClient):
    """Watches one connection: its host key while it opens, and its end."""

    def __init__(self, known: KnownHosts) -> None:
        self.known = known
        self.lost = asyncio.Event()
        self.reason = "closed"

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Called for a key that is not known: only a new one, and only where the user's configuration says so."""
        self.known.refused = key
        if self.known.route.accepts_new_keys and self.known.standing() is Standing.NEW:
            self.known.accept(key)
            return True
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self.reason = said(exc) if exc else self.reason
        self.lost.set()


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A connection that is logged in."""

    connection: asyncssh.SSHClientConnection
    guardian: Guardian
    leave_hop: Callable[[], Awaitable[None]] | None = None
    """Gives back the jump host's connection that this one goes through."""

    async def close(self) -> None:
        """Close it, then leave its jump host."""
        self.connection.abort()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.connection.wait_closed()
        if self.leave_hop is not None:
            await self.leave_hop()


async def log_in(route: Route, via: Link | None) -> tuple[asyncssh.SSHClientConnection, Guardian]:
    """Connect to one host, over a jump host's connection or directly.

    Raises HostUnreachable, LoginRefused, HostKeyUnknown, HostKeyChanged.
    """
    known = KnownHosts(route)
    guardian = Guardian(known)
    async with keys_of(route) as keys:
        try:
            async with asyncio.timeout(CONNECT_SECONDS + LOGIN_SECONDS + 5):
                connection = await _open(route, via.connection if via else None, guardian, keys)
        except asyncssh.HostKeyNotVerifiable as err:
            raise known.error(err) from err
        except (asyncssh.Error, OSError, TimeoutError, ValueError) as err:
            raise _error(route, keys, err, via=via) from err
    return connection, guardian


async def _open(
    route: Route, tunnel: asyncssh.SSHClientConnection | None, guardian: Guardian, keys: Keys
) -> asyncssh.SSHClientConnection:
    return await asyncssh.connect(
        route.host,
        route.port,
        tunnel=tunnel or (),
        config=None,
        proxy_command=_proxy_command(route) if route.proxy_command and tunnel is None else (),
        username=route.user,
        client_keys=keys.pairs or None,
        agent_path=None,
        password_auth=False,
        kbdint_auth=False,
        host_based_auth=False,
        gss_auth=False,
        gss_kex=False,
        known_hosts=guardian.known.match,
        host_key_alias=route.host_key_alias,
        server_host_key_algs=_ALL_KEY_KINDS,
        client_factory=lambda: guardian,
        connect_timeout=CONNECT_SECONDS,
        login_timeout=LOGIN_SECONDS,
        keepalive_interval=KEEPALIVE_SECONDS,
        keepalive_count_max=KEEPALIVE_MISSES,
    )


def _proxy_command(route: Route) -> list[str]:
    """The user's ProxyCommand, run by a shell as OpenSSH does."""
    command = route.proxy_command or ""
    for token, value in (("%h", route.host), ("%p", str(route.port)), ("%r", route.user), ("%n", route.name)):
        command = command.replace(token, shlex.quote(value))
    return ["/bin/sh", "-c", f"exec {command.replace('%%', '%')}"]


def _error(route: Route, keys: Keys, err: Exception, *, via: Link | None) -> TransportError:
    """What went wrong, in the user's words."""
    place = route.place
    if isinstance(err, asyncssh.PermissionDenied):
        return LoginRefused(_login_sentence(route, keys, err))
    if isinstance(err, asyncssh.ChannelOpenError):
        through = via.guardian.known.route.name if via else "the jump host"
        return HostUnreachable(f"{through} could not reach {place}: {said(err.reason)}")
    if isinstance(err, socket.gaierror):
        return HostUnreachable(f"{place}: no such host ({err.strerror})")
    if isinstance(err, ConnectionRefusedError):
        return HostUnreachable(f"{place} refused the connection; is sshd running on that port?")
    if isinstance(err, TimeoutError):
        return HostUnreachable(f"{place}: timed out after {CONNECT_SECONDS:g} s; is the host up, is the VPN on?")
    if isinstance(err, asyncssh.KeyExchangeFailed):
        return HostUnreachable(f"{place} and specdeck have no algorithm in common: {said(err.reason)}")
    if isinstance(err, OSError):
        return HostUnreachable(f"{place} cannot be reached: {err.strerror or err}")
    return HostUnreachable(f"{place} ended the connection: {said(err)}")


def _login_sentence(route: Route, keys: Keys, err: asyncssh.PermissionDenied) -> str:
    notes = f" ({'; '.join(keys.notes)})" if keys.notes else ""
    if keys.locked:
        files = " ".join(shlex.quote(str(path)) for path in keys.locked)
        return (
            f"{route.place} refused {route.user}: the key {files} is locked and not in the agent; run: ssh-add {files}"
        )
    if not keys.pairs:
        return f"{route.place}: no key to log in with as {route.user}: no agent, no identity file{notes}"
    count = f"{len(keys.pairs)} key{'s' if len(keys.pairs) > 1 else ''}"
    return (
        f"{route.place} refused the login of {route.user} with {count}{notes}: {said(err.reason)}; "
        "specdeck logs in with keys only"
    )

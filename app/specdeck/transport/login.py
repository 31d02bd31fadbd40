"""Connect and log in over a route, hop by hop; every way to fail is a sentence that names what and where."""

import asyncio
import os
import shlex
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh

from specdeck.errors import HostUnreachable, LoginRefused, TransportError
from specdeck.transport.host_keys import KnownHosts, Standing
from specdeck.transport.resolve import Route

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


@dataclass(slots=True)
class Keys:
    """What we can prove who we are with."""

    pairs: list[asyncssh.SSHKeyPair] = field(default_factory=list)
    locked: list[Path] = field(default_factory=list)
    """Files with a passphrase whose key the agent does not hold."""
    notes: list[str] = field(default_factory=list)


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
        self.reason = str(exc) if exc else self.reason
        self.lost.set()


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A connection that is logged in, with the connections to its jump hosts."""

    connection: asyncssh.SSHClientConnection
    guardian: Guardian
    hops: tuple["Link", ...] = ()

    async def close(self) -> None:
        """Close it and its hops, the last one first."""
        connections = [self.connection, *(hop.connection for hop in reversed(self.hops))]
        for connection in connections:
            connection.abort()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                for connection in connections:
                    await connection.wait_closed()


async def log_in(route: Route, known: KnownHosts) -> Link:
    """Connect through all jump hosts. Raises HostUnreachable, LoginRefused, HostKeyUnknown, HostKeyChanged."""
    hops: list[Link] = []
    async with AsyncExitStack() as opened:
        for hop in route.jumps:
            hops.append(await _connect_hop(hop, hops, route))
            opened.push_async_callback(hops[-1].close)
        link = await _connect(known, hops)
        opened.pop_all()
    return Link(link.connection, link.guardian, tuple(hops))


async def _connect_hop(hop: Route, before: list[Link], route: Route) -> Link:
    try:
        return await _connect(KnownHosts(hop), before)
    except TransportError as err:
        raise type(err)(f"on the way to {route.name}: {err}") from err


async def _connect(known: KnownHosts, hops: list[Link]) -> Link:
    route, guardian = known.route, Guardian(known)
    async with _keys(route) as keys:
        try:
            async with asyncio.timeout(CONNECT_SECONDS + LOGIN_SECONDS + 5):
                connection = await _open(route, hops[-1].connection if hops else None, guardian, keys)
        except asyncssh.HostKeyNotVerifiable as err:
            raise known.error(err) from err
        except (asyncssh.Error, OSError, TimeoutError, ValueError) as err:
            raise _error(route, keys, err, via=hops[-1] if hops else None) from err
    return Link(connection, guardian)


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


@asynccontextmanager
async def _keys(route: Route) -> AsyncIterator[Keys]:
    """The keys of the files and of the agent; missing and locked files are skipped."""
    keys = Keys()
    for path in route.identity_files:
        _load(path, route.certificate_files, keys)
    socket_path = os.environ.get("SSH_AUTH_SOCK", "") if route.agent is None else route.agent
    agent = await _agent(socket_path, keys) if socket_path else None
    try:
        if agent is not None:
            await _add_agent_keys(agent, route, keys)
        yield keys
    finally:
        if agent is not None:
            agent.close()


def _load(path: Path, certificates: tuple[Path, ...], keys: Keys) -> None:
    certs = [str(cert) for cert in certificates if cert.is_file()]
    try:
        keys.pairs += asyncssh.load_keypairs(str(path), certlist=certs)
    except (asyncssh.KeyEncryptionError, asyncssh.KeyImportError) as err:
        if isinstance(err, asyncssh.KeyEncryptionError) or "passphrase" in str(err).lower():
            keys.locked.append(path)
        elif not path.with_name(f"{path.name}.pub").exists() and path.suffix != ".pub":
            keys.notes.append(f"{path}: {err}")
    except FileNotFoundError:
        return
    except OSError as err:
        keys.notes.append(f"{path}: {err.strerror}")


async def _agent(path: str, keys: Keys) -> asyncssh.SSHAgentClient | None:
    try:
        async with asyncio.timeout(5):
            return await asyncssh.connect_agent(path)
    except (OSError, TimeoutError) as err:
        keys.notes.append(f"no agent at {path}: {err}")
        return None


async def _add_agent_keys(agent: asyncssh.SSHAgentClient, route: Route, keys: Keys) -> None:
    """The agent's keys that the configuration names come first; the others last, unless IdentitiesOnly."""
    try:
        async with asyncio.timeout(5):
            held = list(await agent.get_keys())
    except (ValueError, OSError, TimeoutError) as err:
        keys.notes.append(f"the agent does not answer: {err}")
        return
    named = {public: path for path in route.identity_files if (public := _public(path)) is not None}
    first = [pair for pair in held if pair.public_data in named]
    rest = [] if route.identities_only else [pair for pair in held if pair.public_data not in named]
    keys.locked = [path for path in keys.locked if path not in {named[pair.public_data] for pair in first}]
    keys.pairs = [*first, *keys.pairs, *rest]


def _public(path: Path) -> bytes | None:
    """The public half of an identity file, from `PATH.pub` or from the file itself."""
    for name in (path.with_name(f"{path.name}.pub"), path):
        try:
            return asyncssh.read_public_key(str(name)).public_data
        except (OSError, asyncssh.KeyImportError, ValueError):
            continue
    return None


def _error(route: Route, keys: Keys, err: Exception, *, via: Link | None) -> TransportError:
    """What went wrong, in the user's words."""
    place = route.place
    if isinstance(err, asyncssh.PermissionDenied):
        return LoginRefused(_login_sentence(route, keys, err))
    if isinstance(err, asyncssh.ChannelOpenError):
        through = via.guardian.known.route.name if via else "the jump host"
        return HostUnreachable(f"{through} could not reach {place}: {err.reason}")
    if isinstance(err, socket.gaierror):
        return HostUnreachable(f"{place}: no such host ({err.strerror})")
    if isinstance(err, ConnectionRefusedError):
        return HostUnreachable(f"{place} refused the connection; is sshd running on that port?")
    if isinstance(err, TimeoutError):
        return HostUnreachable(f"{place}: timed out after {CONNECT_SECONDS:g} s; is the host up, is the VPN on?")
    if isinstance(err, asyncssh.KeyExchangeFailed):
        return HostUnreachable(f"{place} and specdeck have no algorithm in common: {err.reason}")
    if isinstance(err, OSError):
        return HostUnreachable(f"{place} cannot be reached: {err.strerror or err}")
    return HostUnreachable(f"{place} ended the connection: {err}")


def _login_sentence(route: Route, keys: Keys, err: asyncssh.PermissionDenied) -> str:
    if keys.locked:
        files = ", ".join(str(path) for path in keys.locked)
        return (
            f"{route.place} refused {route.user}: the key {files} is locked and not in the agent; run: ssh-add {files}"
        )
    if not keys.pairs:
        notes = f" ({'; '.join(keys.notes)})" if keys.notes else ""
        return f"{route.place}: no key to log in with as {route.user}: no agent, no identity file{notes}"
    notes = f" ({'; '.join(keys.notes)})" if keys.notes else ""
    return f"{route.place} refused the login of {route.user} with {len(keys.pairs)} key(s){notes}: {err.reason}"

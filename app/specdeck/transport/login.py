"""Connect and log in to one host; every way to fail is a sentence that names what and where."""

import asyncio
import shlex
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import asyncssh

from specdeck.errors import HostUnreachable, LoginRefused, TransportError
from specdeck.transport.guardian import Guardian
from specdeck.transport.host_keys import KnownHosts, NewHostKey
from specdeck.transport.keys import Keys, keys_of
from specdeck.transport.login_questions import LoginQuestions
from specdeck.transport.questions import Patience, Questions
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


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A connection that is logged in."""

    connection: asyncssh.SSHClientConnection
    guardian: Guardian
    leave_hop: Callable[[], Awaitable[None]] | None = None
    """Gives back the jump host's connection that this one goes through."""

    async def close(self) -> None:
        """Close it, then leave its jump host."""
        self.guardian.is_dropped = True
        self.connection.abort()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.connection.wait_closed()
        if self.leave_hop is not None:
            await self.leave_hop()


async def log_in(
    route: Route, via: Link | None, questions: Questions | None = None
) -> tuple[asyncssh.SSHClientConnection, Guardian]:
    """Connect to one host, over a jump host's connection or directly; ask what only the user knows, each once.

    Raises HostUnreachable, LoginRefused, HostKeyUnknown, HostKeyChanged.
    """
    async with keys_of(route) as keys:
        if questions is not None:
            keys.take_opened(questions.memory.opened)
        asked = LoginQuestions(route, questions, Patience(CONNECT_SECONDS + LOGIN_SECONDS + 5))
        asked.holds_back = asked.can_ask and bool(keys.locked)
        try:
            return await _attempt(route, via, keys, asked)
        except NewHostKey as err:
            await asked.accept_key(err)
        except LoginRefused:
            if not await _may_try_more(keys, asked):
                raise
        return await _after_an_answer(route, via, keys, asked)


async def _after_an_answer(
    route: Route, via: Link | None, keys: Keys, asked: LoginQuestions
) -> tuple[asyncssh.SSHClientConnection, Guardian]:
    """Again with what the user said; an accepted host key may be followed by the question for a passphrase."""
    try:
        return await _attempt(route, via, keys, asked)
    except LoginRefused:
        if not await _may_try_more(keys, asked):
            raise
    return await _attempt(route, via, keys, asked)


async def _may_try_more(keys: Keys, asked: LoginQuestions) -> bool:
    """A locked key was opened, or was not and the host has questions that waited for it."""
    if not asked.holds_back:
        return False
    asked.holds_back = False
    return await asked.unlock(keys) or bool(asked.wanted)


async def _attempt(
    route: Route, via: Link | None, keys: Keys, asked: LoginQuestions
) -> tuple[asyncssh.SSHClientConnection, Guardian]:
    """One login."""
    known = KnownHosts(route)
    guardian = Guardian(known, asked)
    try:
        async with asked.patience.limit():
            connection = await _open(route, via.connection if via else None, guardian, keys, asked)
    except asyncssh.HostKeyNotVerifiable as err:
        raise known.error(err) from err
    except (asyncssh.Error, OSError, TimeoutError, ValueError) as err:
        raise _error(route, keys, err, via=via, asked=asked) from err
    asked.accepted()
    return connection, guardian


async def _open(
    route: Route, tunnel: asyncssh.SSHClientConnection | None, guardian: Guardian, keys: Keys, asked: LoginQuestions
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
        password_auth=True,
        kbdint_auth=True,
        host_based_auth=False,
        gss_auth=False,
        gss_kex=False,
        known_hosts=guardian.known.match,
        host_key_alias=route.host_key_alias,
        server_host_key_algs=_ALL_KEY_KINDS,
        client_factory=lambda: guardian,
        connect_timeout=CONNECT_SECONDS,
        login_timeout=0 if asked.can_ask else LOGIN_SECONDS,  # a user who thinks is waited for by `patience`
        keepalive_interval=KEEPALIVE_SECONDS,
        keepalive_count_max=KEEPALIVE_MISSES,
    )


def _proxy_command(route: Route) -> list[str]:
    """The user's ProxyCommand, run by a shell as OpenSSH does."""
    command = route.proxy_command or ""
    for token, value in (("%h", route.host), ("%p", str(route.port)), ("%r", route.user), ("%n", route.name)):
        command = command.replace(token, shlex.quote(value))
    return ["/bin/sh", "-c", f"exec {command.replace('%%', '%')}"]


def _error(route: Route, keys: Keys, err: Exception, *, via: Link | None, asked: LoginQuestions) -> TransportError:
    """What went wrong, in the user's words."""
    place = route.place
    if isinstance(err, asyncssh.PermissionDenied):
        return LoginRefused(_login_sentence(route, keys, err, asked))
    if asked.is_unanswered:
        return LoginRefused(f"{place} asked {said(route.user)} for more than a key, and no answer came in time")
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


def _login_sentence(route: Route, keys: Keys, err: asyncssh.PermissionDenied, asked: LoginQuestions) -> str:
    notes = f" ({'; '.join(keys.notes)})" if keys.notes else ""
    if asked.has_answered:
        return f"{route.place} refused {route.user}: the answer was not accepted{notes}; it is not sent again by itself"
    if keys.locked:
        files = " ".join(shlex.quote(str(path)) for path in keys.locked)
        return (
            f"{route.place} refused {route.user}: the key {files} is locked and not in the agent; run: ssh-add {files}"
        )
    if not keys.pairs:
        return (
            f"{route.place}: no key to log in with as {route.user}: no agent, no identity file{notes}{_wanted(asked)}"
        )
    count = f"{len(keys.pairs)} key{'s' if len(keys.pairs) > 1 else ''}"
    return f"{route.place} refused the login of {route.user} with {count}{notes}: {said(err.reason)}{_wanted(asked)}"


def _wanted(asked: LoginQuestions) -> str:
    """What the host would have taken beside keys."""
    if not asked.wanted:
        return ""
    why = "the question was not answered" if asked.can_ask else "nobody can be asked here: run specdeck in a terminal"
    return f"; it takes {' or '.join(asked.wanted)}, and {why}"

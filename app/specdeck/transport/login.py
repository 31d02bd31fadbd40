"""Connect and log in to one host; every way to fail is a sentence that names what and where."""

import asyncio
import random
import socket
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import asyncssh

from specdeck.errors import HostUnreachable, LoginRefused
from specdeck.quick_dataclass import dataclass
from specdeck.transport.dial import dial
from specdeck.transport.guardian import Guardian
from specdeck.transport.host_keys import KnownHosts, NewHostKey
from specdeck.transport.keys import Keys, keys_of
from specdeck.transport.login_questions import LoginQuestions
from specdeck.transport.login_words import UNSAID, why_failed
from specdeck.transport.proxy import ProxyFailed, open_proxy
from specdeck.transport.questions import Patience, Questions
from specdeck.transport.resolve import Route
from specdeck.transport.turns import Turn

CONNECT_SECONDS = 10.0
"""Until the host takes the connection, unless the user's ConnectTimeout says otherwise."""
MOST_CONNECT_SECONDS = 30.0
GREETING_SECONDS = 10.0
"""From then on until it says that it speaks SSH; a frozen host takes connections and says nothing."""
LOGIN_SECONDS = 25.0
"""From the connection on until we are logged in, without the time that the user thinks: some hosts ask a directory that is slow."""
KEEPALIVE_SECONDS = 12.0
KEEPALIVE_MISSES = 3
"""asyncssh gives up at one more than these: a connection that went silent is lost after 48 s."""
_CLOSE_SECONDS = 5.0
TRIES_AT_A_CROWDED_DOOR = 4
CROWDED_SECONDS = 0.5
"""The first pause, at most; then twice as long."""
_jitter = random.random
warnings.filterwarnings(
    "ignore", "Diffie-Hellman over finite fields"
)  # the user's configuration asks for it, if anybody


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
        if self.guardian.proxy is not None:
            await self.guardian.proxy.close()
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
        asked = LoginQuestions(route, questions, Patience(_connect_seconds(route)))
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
    if route.beyond.way and via is None:
        raise HostUnreachable(f"{route.place}: {route.beyond.way}")
    return await _attempt_with(KnownHosts(route), via, keys, asked)


async def _attempt_with(
    known: KnownHosts, via: Link | None, keys: Keys, asked: LoginQuestions
) -> tuple[asyncssh.SSHClientConnection, Guardian]:
    route = known.route
    try:
        connection, guardian = await _in_turn(known, via, keys, asked)
    except asyncssh.HostKeyNotVerifiable as err:
        if not known.is_of_an_unknown_authority(err):
            raise known.error(err) from err
        return await _attempt_with(KnownHosts(route, takes_certificates=False), via, keys, asked)
    except (asyncssh.Error, OSError, TimeoutError, ValueError, ProxyFailed) as err:
        through = via.guardian.known.route.name if via else None
        raise why_failed(route, keys, err, asked, through=through) from err
    asked.accepted()
    return connection, guardian


async def _in_turn(
    known: KnownHosts, via: Link | None, keys: Keys, asked: LoginQuestions
) -> tuple[asyncssh.SSHClientConnection, Guardian]:
    """Few at a time at one door; sent away from a crowded one before anything was said, it comes again after a while."""
    for number in range(TRIES_AT_A_CROWDED_DOOR):
        guardian = Guardian(known, asked, greeting_seconds=GREETING_SECONDS, login_seconds=LOGIN_SECONDS)
        try:
            async with Turn(known.route) as turn, asked.patience.limit(), _left_on_failure(guardian):
                asked.before_asking = turn.leave
                return await _open(known.route, via.connection if via else None, guardian, keys), guardian
        except TimeoutError as err:
            raise TimeoutError(guardian.why_timed_out(_connect_seconds(known.route))) from err
        except (asyncssh.ConnectionLost, ConnectionResetError, ProxyFailed) as err:
            if guardian.is_agreeing:
                raise asyncssh.KeyExchangeFailed(UNSAID) from err
            if guardian.was_greeted or number + 1 == TRIES_AT_A_CROWDED_DOOR:
                raise
        await asyncio.sleep((0.5 + 0.5 * _jitter()) * CROWDED_SECONDS * 2**number)
    raise AssertionError("unreachable")


@asynccontextmanager
async def _left_on_failure(guardian: Guardian) -> AsyncIterator[None]:
    """A ProxyCommand that brought no login is ended; where the host was not heard, its words are the reason."""
    try:
        yield
    except BaseException as err:
        proxy = guardian.proxy
        if proxy is None:
            raise
        is_over = isinstance(err, asyncssh.ConnectionLost | ConnectionError)
        failure = await proxy.failure() if is_over and not guardian.was_greeted else None
        await proxy.close()
        if failure is not None:
            raise failure from err
        raise


async def _open(
    route: Route, tunnel: asyncssh.SSHClientConnection | None, guardian: Guardian, keys: Keys
) -> asyncssh.SSHClientConnection:
    """Dial, or run the ProxyCommand, or go through the jump host; then log in."""
    sock = None
    if tunnel is None and route.proxy_command:
        guardian.proxy = await open_proxy(route)
        sock = guardian.proxy.sock
    elif tunnel is None:
        sock = await dial(route.host, route.port, family=route.family, bind=route.bind_address)
    try:
        return await _talk(route, tunnel, sock, guardian, keys)
    except BaseException:
        if sock is not None:
            sock.close()
        raise


async def _talk(
    route: Route,
    tunnel: asyncssh.SSHClientConnection | None,
    sock: socket.socket | None,
    guardian: Guardian,
    keys: Keys,
) -> asyncssh.SSHClientConnection:
    return await asyncssh.connect(
        route.host,
        route.port,
        tunnel=tunnel or (),
        config=None,
        sock=sock,
        username=route.user,
        client_keys=keys.pairs or None,
        agent_path=None,
        preferred_auth=route.ways_to_log_in or (),
        password_auth=route.may_send_password,
        kbdint_auth=route.may_send_answers,
        host_based_auth=False,
        gss_auth=False,
        gss_kex=False,
        known_hosts=guardian.known.match,
        host_key_alias=route.host_key_alias,
        server_host_key_algs=guardian.known.kinds(),
        encryption_algs=route.algorithms.ciphers,
        kex_algs=route.algorithms.key_exchanges,
        mac_algs=route.algorithms.macs,
        compression_algs=route.algorithms.compressions,
        signature_algs=route.algorithms.signatures,
        client_factory=lambda: guardian,
        connect_timeout=None,  # asyncssh would count the time in which the user thinks: `patience` does not
        login_timeout=0,
        keepalive_interval=KEEPALIVE_SECONDS,
        keepalive_count_max=KEEPALIVE_MISSES,
    )


def _connect_seconds(route: Route) -> float:
    return min(route.connect_seconds or CONNECT_SECONDS, MOST_CONNECT_SECONDS)

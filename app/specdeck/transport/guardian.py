"""Watches one connection: its host key while it opens, the questions of its login, and its end."""

import asyncio
from collections.abc import Sequence

import asyncssh

from specdeck.transport.host_keys import KnownHosts, Standing
from specdeck.transport.login_questions import LoginQuestions
from specdeck.transport.proxy import Proxy
from specdeck.transport.words import said

_LAST_LOOK = 0.9
"""Of the time for its greeting: whoever was greeted by then has the time for a login."""


class Guardian(asyncssh.SSHClient):
    """What asyncssh calls back."""

    def __init__(
        self, known: KnownHosts, asked: LoginQuestions, *, greeting_seconds: float, login_seconds: float
    ) -> None:
        self.known = known
        self.lost = asyncio.Event()
        self.reason = "closed"
        self.is_dropped = False
        """We gave the connection up; what the host did with it is not known."""
        self.gave_a_session = False
        """The host has allowed one on this connection: a further one that it refuses is one too many."""
        self.proxy: Proxy | None = None
        """The ProxyCommand that this connection goes through."""
        self._asked = asked
        self._greeting_seconds = greeting_seconds
        self._login_seconds = login_seconds
        self._going_on: asyncio.TimerHandle | None = None
        self._connection: asyncssh.SSHClientConnection | None = None

    @property
    def was_greeted(self) -> bool:
        """The host has said that it speaks SSH; one that has too many at its door closes before that (MaxStartups)."""
        return self._connection is not None and bool(self._connection.get_extra_info("server_version"))

    @property
    def is_agreeing(self) -> bool:
        """Both speak SSH, and nothing is encrypted yet."""
        return self.was_greeted and not (self._connection and self._connection.get_extra_info("send_cipher"))

    def why_timed_out(self, connect_seconds: float) -> str:
        """How far it came: a host that is away, one that is frozen, and one that is slow to log in."""
        if self._connection is None:
            return f"timed out after {connect_seconds:g} s; is the host up, is the VPN on?"
        if not self.was_greeted and self.proxy is not None:
            return self.proxy.silence(self._login_seconds)
        if not self.was_greeted:
            return f"took the connection and said nothing for {self._greeting_seconds:g} s; is it frozen or overloaded?"
        return (
            f"did not finish the login within {self._login_seconds:g} s; is it overloaded, is its user directory slow?"
        )

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        """The TCP connection is there: the greeting has a limit of its own, and then the login. A command may dial for long."""
        self._connection = conn
        if self.proxy is not None:
            self._asked.patience.renew(self._login_seconds)
            return
        self._asked.patience.renew(self._greeting_seconds)
        seconds = self._greeting_seconds * _LAST_LOOK
        self._going_on = asyncio.get_running_loop().call_later(seconds, self._go_on_if_greeted, seconds)

    def _go_on_if_greeted(self, passed_seconds: float) -> None:
        """asyncssh does not call when the host says that it speaks SSH."""
        if self.was_greeted:
            self._asked.patience.renew(self._login_seconds - passed_seconds)

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Called for a key that is not known: only a new one, and only where the user's configuration says so."""
        self.known.refused = key
        if self.known.route.accepts_new_keys and self.known.standing() is Standing.NEW:
            self.known.accept(key)
            return True
        return False

    async def password_auth_requested(self) -> str | None:
        """The host takes a password."""
        return await self._asked.password()

    def kbdint_auth_requested(self) -> str | None:
        """The host has questions of its own; an empty word lets it ask them."""
        return "" if self._asked.begins_interaction() else None

    async def kbdint_challenge_received(
        self, name: str, instructions: str, lang: str, prompts: Sequence[tuple[str, bool]]
    ) -> list[str] | None:
        """The host asks."""
        return await self._asked.answers(f"{name} {instructions}", prompts)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        if self._going_on is not None:
            self._going_on.cancel()
        self.reason = said(exc) if exc else self.reason
        self.lost.set()

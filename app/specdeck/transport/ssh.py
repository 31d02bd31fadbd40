"""A host over SSH: one connection, few session channels, HTTP through direct-tcpip channels."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import httpx

from specdeck.config.objects import Host
from specdeck.errors import (
    ChannelRefused,
    ConfigError,
    ConnectionLost,
    HostKeyUnknown,
    HostUnreachable,
    ScriptTimeout,
    TransportError,
)
from specdeck.transport.base import Channel, Outcome
from specdeck.transport.channel import ScriptChannel
from specdeck.transport.curl import CurlTransport, TunnelOrCurl
from specdeck.transport.hops import connect
from specdeck.transport.host_keys import KnownHosts, NewHostKey
from specdeck.transport.http import tunnelled, why_forbidden
from specdeck.transport.leftovers import end_leftovers
from specdeck.transport.login import Link
from specdeck.transport.marks import Leader, new_mark
from specdeck.transport.questions import Questions
from specdeck.transport.resolve import Route, resolve, route_words
from specdeck.transport.script import Script
from specdeck.transport.slots import Slots
from specdeck.transport.ssh_stream import SshStream, open_stream

BEGIN_SECONDS = 15.0
"""From the opening of a channel to the begin mark of its script."""
_LEFTOVERS_SECONDS = 10.0
_RETRY_SECONDS = 0.1
_PATIENCE_SECONDS = 1.0
"""How long a one-shot script waits for a session before a channel has to give up its own."""


class SshTransport:
    """Implements `base.Transport` over asyncssh."""

    def __init__(self, host: Host, questions: Questions | None = None) -> None:
        self._host = host
        self._questions = questions
        self._route: Route | None = None
        self._new_key: KnownHosts | None = None
        self._link: Link | None = None
        self._slots = Slots(host.ssh)
        self._channels: list[SshStream] = []
        self._leftovers: set[Leader] = set()
        self._unheard: set[str] = set()
        """Names of shells that got a script, and whose first word was lost with the connection: they may run it."""

    @property
    def address(self) -> str:
        """`gpu-a (192.0.2.7:22)`; only the name as long as it is not resolved."""
        return self._route.place if self._route else self._host.ssh

    @property
    def route(self) -> str:
        """As the user's SSH configuration has it."""
        return route_words(self._route) if self._route else ""

    async def connect(self) -> None:
        """Resolve the name, connect and log in; a connection that was there is closed first."""
        await self.close()
        self._new_key = None
        set_out_at = asyncio.get_running_loop().time()
        try:
            self._route = await resolve(self._host.ssh, self._host.ssh_config)
        except ConfigError as err:  # the user's SSH configuration costs this host, not the program
            raise HostUnreachable(str(err)) from err
        self._slots = Slots(self._route.place)
        try:
            self._link = await connect(self._route, self._questions, set_out_at=set_out_at)
        except NewHostKey as err:
            self._new_key = err.known
            raise
        await self._end_leftovers()

    def accept_host_key(self) -> None:
        """After HostKeyUnknown: the user accepts the key that was shown. Raises HostKeyUnknown if there was none."""
        if self._new_key is None or self._new_key.refused is None:
            raise HostKeyUnknown(f"{self.address} showed no new host key")
        self._new_key.accept(self._new_key.refused)
        self._new_key = None

    async def wait_lost(self) -> str:
        """Wait until the connection is gone; the reason in words."""
        if self._link is None:
            return "not connected"
        await self._link.guardian.lost.wait()
        return self._link.guardian.reason

    async def run(self, script: Script, *, limit_seconds: float = 30.0) -> Outcome:
        """Run a script to its end; cancelling it ends the script on the host."""
        stream: SshStream | None = None
        try:
            async with asyncio.timeout(limit_seconds), self._slots.turn(is_urgent=script.is_urgent):
                with self._slots.waiting(is_urgent=script.is_urgent):
                    stream = await self._session_in_turn(is_urgent=script.is_urgent)
                with self._slots.running():
                    return await self._run_on(stream, script)
        except TimeoutError as err:
            if stream is None:
                raise ChannelRefused(f"{self.address}: no session became free within {limit_seconds:g} s") from err
            raise ScriptTimeout(f"{self.address}: a script did not end within {limit_seconds:g} s") from err

    @asynccontextmanager
    async def open(self, script: Script) -> AsyncIterator[Channel]:
        """Start a script that goes on; leaving the context ends it and its children."""
        async with self._slots.channel():
            stream = await self._session_for_channel()
            self._channels.append(stream)
            channel = ScriptChannel(stream, mark := new_mark())
            try:
                await self._begin(channel, script.render_channel(mark, env=self._host.env))
                yield channel
            finally:
                self._channels.remove(stream)
                self._note_leftover(stream, channel)
                await stream.close()

    def http(self, *, verify: bool | str = True) -> httpx.AsyncBaseTransport:
        """An httpx transport whose connections start on the host; curl there where it forbids them."""
        tunnel = tunnelled(self._connected, lambda: self.address, verify=verify)
        return TunnelOrCurl(tunnel, CurlTransport(self._run_within, verify=verify))

    async def _run_within(self, script: Script, limit_seconds: float) -> Outcome:
        return await self.run(script, limit_seconds=limit_seconds)

    async def why_no_forwarding(self, port: int) -> str | None:
        """None: `http` reaches the host's own port directly; else why it needs curl there."""
        return await why_forbidden(self._connected, self.address, port)

    async def close(self) -> None:
        """Close the connection; what we started on the host ends with it."""
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    def _note_leftover(self, stream: SshStream, channel: ScriptChannel) -> None:
        """Until the host confirms the end, it may know nothing of it for hours: its shell is ended after the next login."""
        leader = channel.leader
        if leader and channel.exit_status is None:
            self._leftovers.add(leader)
            stream.on_confirmed = partial(self._leftovers.discard, leader)
        elif not channel.has_begun:
            self._unheard.add(stream.name)
            stream.on_confirmed = partial(self._unheard.discard, stream.name)

    async def _end_leftovers(self) -> None:
        """Best effort: a host that is too busy for it now is asked again after the next login."""
        if self._leftovers or self._unheard:
            with suppress(TransportError):
                await self.run(end_leftovers(self._leftovers, self._unheard), limit_seconds=_LEFTOVERS_SECONDS)
                self._leftovers.clear()
                self._unheard.clear()

    def _connected(self) -> Link:
        link = self._link
        if link is None:
            raise ConnectionLost(f"{self.address} is not connected")
        if link.guardian.lost.is_set():
            raise ConnectionLost(f"{self.address}: the SSH connection broke: {link.guardian.reason}")
        return link

    async def _run_on(self, stream: SshStream, script: Script) -> Outcome:
        mark = new_mark()
        channel = ScriptChannel(stream, mark)
        try:
            await channel.begin(script.render(mark, env=self._host.env))
            return await channel.outcome()
        finally:
            self._note_leftover(stream, channel)
            await stream.close()

    async def _begin(self, channel: ScriptChannel, script: bytes) -> None:
        try:
            async with asyncio.timeout(BEGIN_SECONDS):
                await channel.begin(script)
        except TimeoutError as err:
            raise ScriptTimeout(f"{self.address}: no shell began the script within {BEGIN_SECONDS:g} s") from err

    async def _session_for_channel(self) -> SshStream:
        """A session; one that was just closed may take the host a moment to give back."""
        loop = asyncio.get_running_loop()
        patience = loop.time() + _PATIENCE_SECONDS
        while True:
            try:
                return await open_stream(self._connected(), self.address, goes_on=True)
            except ChannelRefused:
                if loop.time() > patience:
                    self._see_if_any_is_given()
                    self._slots.learn_refusal(waiting_channels=1)
                    raise
            await asyncio.sleep(_RETRY_SECONDS)

    async def _session_in_turn(self, *, is_urgent: bool) -> SshStream:
        """A session; where the host is at its limit, the youngest channel gives its own up. Busy is not down.

        What is not urgent waits for another script to end first, if there is one: a slow one must not cost the monitor its channel.
        """
        loop = asyncio.get_running_loop()
        patience = loop.time() + _PATIENCE_SECONDS
        while True:
            if self._slots.has_an_act_waiting and not is_urgent:
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            try:
                return await open_stream(self._connected(), self.address)
            except ChannelRefused:
                if loop.time() > patience:
                    self._see_if_any_is_given()
                may_wait = self._slots.is_running and not is_urgent
                self._slots.is_tight = True
                if loop.time() > patience and self._channels and not may_wait:
                    self._slots.learn_refusal()
                    self._take_youngest()
                    patience = loop.time() + _PATIENCE_SECONDS
            await asyncio.sleep(_RETRY_SECONDS)

    def _see_if_any_is_given(self) -> None:
        """Busy is not down; but who refuses the first session of a connection will refuse each."""
        if not self._connected().guardian.gave_a_session:
            raise HostUnreachable(
                f"{self.address} lets in and allows no session at all (MaxSessions 0): nothing can be run"
            )

    def _take_youngest(self) -> None:
        self._channels[-1].take_away(
            ChannelRefused(f"{self.address}: this channel gave its session to a script that could not wait")
        )

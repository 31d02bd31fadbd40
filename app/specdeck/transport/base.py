"""The seam between specdeck and a host: what every transport (ssh, local) can do. No other package opens a socket or a process."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import httpx

from specdeck.quick_dataclass import dataclass
from specdeck.transport.script import Script


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a script that ran to its end said: bytes only, noise of login shells cut off."""

    stdout: bytes
    stderr: bytes
    exit_status: int | None
    """The script's own status; None if it was ended by a signal or the host did not say."""


class Channel(Protocol):
    """A script that goes on running on the host; leaving its context ends it and all of its children."""

    async def write(self, data: bytes) -> None:
        """Send bytes to the script's stdin. Raises ConnectionLost."""

    def chunks(self) -> AsyncIterator[bytes]:
        """The script's stdout as it comes, from after the begin mark until it ends. Raises ConnectionLost.

        Raises ChannelRefused where the host allows so few sessions that this one was needed for a one-shot script.
        """

    @property
    def exit_status(self) -> int | None:
        """The script's status once `chunks` has ended."""


class Transport(Protocol):
    """One host. Times are in seconds; every await has a limit; errors are those of `specdeck.errors`."""

    @property
    def address(self) -> str:
        """How the user calls the host, and where it leads: for sentences."""

    @property
    def route(self) -> str:
        """Who logs in where, through what: `ops@gpu-a (192.0.2.7:22) through edge (192.0.2.1:22)`; empty: not known yet."""

    async def connect(self) -> None:
        """Connect and log in. Raises HostUnreachable, LoginRefused, HostKeyUnknown, HostKeyChanged."""

    async def wait_lost(self) -> str:
        """Wait until the connection is gone; the reason in words. Cancellable."""

    async def run(self, script: Script, *, limit_seconds: float = 30.0) -> Outcome:
        """Run a script to its end. Raises ConnectionLost, ChannelRefused, ScriptTimeout.

        Cancelled or cut off, its process group is ended on the host; ended by itself, what it left running is not.
        """

    def open(self, script: Script) -> AbstractAsyncContextManager[Channel]:
        """Start a script that goes on; its end ends its whole process group. Raises ConnectionLost, ChannelRefused."""

    def http(self, *, verify: bool | str = True) -> httpx.AsyncBaseTransport:
        """An httpx transport whose connections start on the host: 127.0.0.1 is the host's own.

        A port that nobody listens on raises httpx.ConnectError; a dead SSH connection raises ConnectionLost.
        """

    async def why_no_forwarding(self, port: int) -> str | None:
        """None: `http` reaches the host's own port directly; else why it needs curl there. Raises ConnectionLost."""

    async def close(self) -> None:
        """Close the connection; everything that we started on the host ends."""

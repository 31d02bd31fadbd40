"""The user's ProxyCommand: a process of our own whose stdin and stdout are the connection, and whose stderr is words."""

import asyncio
import os
import shlex
import signal
import socket
from contextlib import suppress

from specdeck.transport.resolve import Route
from specdeck.transport.tokens import expand
from specdeck.transport.words import said

_KEPT_BYTES = 2000
_END_SECONDS = 2.0


class ProxyFailed(Exception):
    """The command brought no connection; in words."""


class Proxy:
    """One running command. asyncssh's own would take its warnings for data, and a closed stderr for its end."""

    def __init__(self, process: asyncio.subprocess.Process, sock: socket.socket) -> None:
        self.sock = sock
        self._process = process
        self._last_words = b""
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 - it is a pipe
        while words := await self._process.stderr.read(4096):
            self._last_words = (self._last_words + words)[-_KEPT_BYTES:]

    async def failure(self) -> ProxyFailed:
        """Why there is no connection: how it ended, and its last line."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await self._process.wait()
                await asyncio.wait([self._listening])
        status = self._process.returncode
        how = "gave no connection" if status is None else f"ended with {status}"
        return ProxyFailed(f"its ProxyCommand {how}{self._quoted}")

    def silence(self, seconds: float) -> str:
        """It goes on and brings nothing of the host."""
        return f"its ProxyCommand brought no word of the host within {seconds:g} s{self._quoted}"

    @property
    def _quoted(self) -> str:
        lines = [words for line in self._last_words.splitlines() if (words := said(line))]
        return f": {lines[-1]}" if lines else ""

    async def close(self) -> None:
        """End it and what it started, as OpenSSH does when its connection is over."""
        self.sock.close()
        for number in (signal.SIGHUP, signal.SIGKILL):
            if self._process.returncode is not None:
                break
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_SECONDS):
                    await self._process.wait()
        self._listening.cancel()
        await asyncio.wait([self._listening])


async def open_proxy(route: Route) -> Proxy:
    """Run it by the user's shell, as OpenSSH does."""
    command = expand(route.proxy_command or "", route.tokens, shlex.quote)
    ours, theirs = socket.socketpair()
    with theirs:
        process = await asyncio.create_subprocess_exec(
            os.environ.get("SHELL") or "/bin/sh", "-c", f"exec {command}",
            stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=asyncio.subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    return Proxy(process, ours)

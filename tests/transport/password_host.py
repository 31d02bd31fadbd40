"""An SSH server that wants more than a key: a password, a second factor. (OpenSSH needs the machine's own accounts for it.)"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import asyncssh
from tests.openssh import make_key

from specdeck.config.objects import Host

PASSWORD = "correct horse"  # noqa: S105 - of a server that a test makes
CODE = "123456"


@dataclass
class PasswordHost:
    """What it wants, and what it was told."""

    folder: Path
    wants: Sequence[str] = ("password",)
    prompt: str = "Verification code: "
    grace_seconds: float = 30.0
    drops_who_errs: bool = False
    """A wrong password ends the connection without a word."""
    port: int = 0
    tried: list[str] = field(default_factory=list)
    logins: int = 0
    shells: set[asyncio.Future[None]] = field(default_factory=set)
    _connections: list[asyncssh.SSHServerConnection] = field(default_factory=list)

    @property
    def host(self) -> Host:
        """As a fleet file would name it: no key, no agent."""
        config = self.folder / "ssh_config"
        known = self.folder / "known_hosts"
        config.write_text(
            f"Host gpu-p\n  HostName 127.0.0.1\n  Port {self.port}\n  User ann\n  IdentityFile none\n  IdentityAgent none\n"
            f"  UserKnownHostsFile {known}\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n"
        )
        kind, text, *_ = (self.folder / "host_key.pub").read_text().split()
        known.write_text(f"[127.0.0.1]:{self.port} {kind} {text}\n")
        return Host("lab", "gpu-p", ssh_config=config)

    def drop_all(self) -> None:
        """Break all connections."""
        for connection in self._connections:
            connection.abort()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["PasswordHost"]:
        """Listens on loopback."""
        key = make_key(self.folder / "host_key")
        acceptor = await asyncssh.listen(
            "127.0.0.1", 0, server_factory=lambda: _Server(self), server_host_keys=[str(key)],
            process_factory=partial(_run, self.shells), encoding=None, login_timeout=self.grace_seconds,
        )  # fmt: skip
        self.port = acceptor.get_port()
        try:
            yield self
        finally:
            acceptor.close()
            self.drop_all()
            await acceptor.wait_closed()
            if self.shells:
                await asyncio.wait(self.shells, timeout=10)


class _Server(asyncssh.SSHServer):
    def __init__(self, host: PasswordHost) -> None:
        self._host = host
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._host._connections.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def auth_completed(self) -> None:
        self._host.logins += 1

    def password_auth_supported(self) -> bool:
        return "password" in self._host.wants

    def validate_password(self, username: str, password: str) -> bool:
        self._host.tried.append(password)
        if self._host.drops_who_errs and password != PASSWORD and self._connection is not None:
            self._connection.abort()
        return password == PASSWORD

    def kbdint_auth_supported(self) -> bool:
        return "code" in self._host.wants

    def get_kbdint_challenge(
        self, username: str, lang: str, submethods: str
    ) -> tuple[str, str, str, list[tuple[str, bool]]]:
        return "", "Two steps.", "", [("Password: ", False), (self._host.prompt, True)]

    def validate_kbdint_response(self, username: str, responses: Sequence[str]) -> bool:
        self._host.tried += responses
        return list(responses) == [PASSWORD, CODE]


async def _run(shells: set[asyncio.Future[None]], process: asyncssh.SSHServerProcess[bytes]) -> None:
    """The command, by a real shell in a session of its own, as sshd gives one: scripts end their process group."""
    shell = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", process.command or "exit 1",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert shell.stdin is not None
    assert shell.stdout is not None
    is_over = asyncio.get_running_loop().create_future()
    shells.add(is_over)
    feeding = asyncio.create_task(_feed(process.stdin, shell.stdin))
    try:
        while data := await shell.stdout.read(65536):
            process.stdout.write(data)
        process.exit(await shell.wait())
    finally:
        feeding.cancel()
        await asyncio.wait([feeding])
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
        await shell.communicate()
        shells.discard(is_over)
        is_over.set_result(None)


async def _feed(source: asyncssh.SSHReader[bytes], sink: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            sink.write(data)
    except (asyncssh.Error, OSError):
        pass  # the client broke the connection, as tests of lost ones do
    finally:
        sink.close()

"""A loopback SSH server that runs commands for real, as sshd does, for one key only."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import cast

import asyncssh

MAX_SESSIONS = 10
"""As OpenSSH's default: who opens more is refused."""
_LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))


class Shells:
    """All commands of one demo host that are not over yet."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self._processes: set[ShellProcess] = set()
        self._connections: set[asyncssh.SSHServerConnection] = set()

    def connected(self, connection: asyncssh.SSHServerConnection) -> None:
        """A client came in."""
        self._connections.add(connection)

    def disconnect(self) -> None:
        """Drop every client."""
        for connection in self._connections:
            connection.abort()
        self._connections.clear()

    def add(self, process: "ShellProcess") -> None:
        """A command begins."""
        self._processes.add(process)

    def remove(self, process: "ShellProcess") -> None:
        """A command is over."""
        self._processes.discard(process)

    def close(self) -> None:
        """Let go of those that outlived their channels; call it once they are ended."""
        for process in list(self._processes):
            process.close()


class DemoConnection(asyncssh.SSHServer):
    """One client: public key only, sessions counted, forwarding to loopback only."""

    def __init__(self, shells: Shells) -> None:
        self._shells = shells
        self._sessions = 0
        self._connection: asyncssh.SSHServerConnection

    def begin_auth(self, username: str) -> bool:
        """Nobody comes in without the key."""
        return True

    def password_auth_supported(self) -> bool:
        """There are no passwords here."""
        return False

    def session_requested(self) -> "ShellSession":
        """A session channel, as long as there are not too many."""
        if self._sessions >= MAX_SESSIONS:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, "open failed")
        self._sessions += 1
        return ShellSession(self._shells, self._session_ended)

    def _session_ended(self) -> None:
        self._sessions -= 1

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """A client is there."""
        self._connection = conn
        self._shells.connected(conn)

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> Awaitable[asyncssh.SSHTCPSession[bytes]]:
        """A direct-tcpip channel: to this machine's loopback and nowhere else."""
        if dest_host not in _LOOPBACK:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "loopback only")
        return self._forward(dest_host, dest_port)

    async def _forward(self, host: str, port: int) -> asyncssh.SSHTCPSession[bytes]:
        """Connect; what fails is told in sshd's words."""
        try:
            return cast(asyncssh.SSHTCPSession[bytes], await self._connection.forward_connection(host, port))
        except asyncssh.ChannelOpenError as err:
            raise asyncssh.ChannelOpenError(err.code, "Connection refused") from err


class ShellSession(asyncssh.SSHServerSession[bytes]):
    """A session channel: a shell command as a real process, its pipes tied to the channel."""

    def __init__(self, shells: Shells, ended: Callable[[], None]) -> None:
        self._shells = shells
        self._ended = ended
        self._process = ShellProcess(self, shells)
        self._waiting: list[bytes] = []
        self._is_input_over = False
        self._start: asyncio.Task[None] | None = None
        self.channel: asyncssh.SSHServerChannel[bytes]

    def connection_made(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
        """The channel is open."""
        self.channel = chan

    def shell_requested(self) -> bool:
        """No command: a login shell that reads from the channel."""
        return self._begin("exec /bin/sh")

    def exec_requested(self, command: str) -> bool:
        """Run a command line as sshd does: by the user's shell."""
        return self._begin(command)

    def _begin(self, command: str) -> bool:
        self._start = asyncio.get_running_loop().create_task(self._spawn(command))
        return True

    async def _spawn(self, command: str) -> None:
        await asyncio.get_running_loop().subprocess_exec(
            lambda: self._process,
            *("/bin/sh", "-c", command),
            env=dict(self._shells.environment),
            cwd=self._shells.environment["HOME"],
            start_new_session=True,
        )
        for chunk in self._waiting:
            self._process.write(chunk)
        if self._is_input_over:
            self._process.close_input()

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """What the client sends is the process's input."""
        if self._process.is_running:
            self._process.write(data)
        else:
            self._waiting.append(data)

    def eof_received(self) -> bool:
        """The client sends no more; the channel stays open for what comes back."""
        self._is_input_over = True
        self._process.close_input()
        return True

    def pause_writing(self) -> None:
        """The client reads slower than the process writes."""
        self._process.pause_reading()

    def resume_writing(self) -> None:
        """The client caught up."""
        self._process.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """The channel is gone: all of the process's pipes close, as with sshd; the process itself decides what to do."""
        self._is_input_over = True
        self._process.hang_up()
        self._ended()


class ShellProcess(asyncio.SubprocessProtocol):
    """The pipes of one command."""

    def __init__(self, session: ShellSession, shells: Shells) -> None:
        self._session = session
        self._shells = shells
        self._transport: asyncio.SubprocessTransport | None = None
        self._is_hung_up = False

    @property
    def is_running(self) -> bool:
        """Whether it was started."""
        return self._transport is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process runs."""
        assert isinstance(transport, asyncio.SubprocessTransport)  # noqa: S101
        self._transport = transport
        self._shells.add(self)
        if self._is_hung_up:
            self.hang_up()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Its output goes to the client."""
        if not self._is_hung_up:
            self._session.channel.write(data, asyncssh.EXTENDED_DATA_STDERR if fd == 2 else None)

    def connection_lost(self, exc: Exception | None) -> None:
        """It ended and all of its output is read: tell how."""
        status = self._transport.get_returncode() if self._transport else None
        if not self._is_hung_up:
            _tell_exit(self._session.channel, status)
        self.close()

    def write(self, data: bytes) -> None:
        """Bytes for its stdin."""
        pipe = self._pipe(0)
        if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
            pipe.write(data)

    def close_input(self) -> None:
        """End of its stdin."""
        if (pipe := self._pipe(0)) is not None:
            pipe.close()

    def pause_reading(self) -> None:
        """Let its output wait in the pipes."""
        for pipe in self._outputs():
            pipe.pause_reading()

    def resume_reading(self) -> None:
        """Read its output again."""
        for pipe in self._outputs():
            pipe.resume_reading()

    def hang_up(self) -> None:
        """Close all pipes; the process is not killed: whoever ignores the end of its input lives on, as on a real host."""
        self._is_hung_up = True
        for fd in (0, 1, 2):
            if (pipe := self._pipe(fd)) is not None:
                pipe.close()

    def close(self) -> None:
        """Let go of a process that is over (one that is not would be killed)."""
        self._shells.remove(self)
        if self._transport is not None:
            self._transport.close()

    def _outputs(self) -> list[asyncio.ReadTransport]:
        pipes = (self._pipe(fd) for fd in (1, 2))
        return [pipe for pipe in pipes if isinstance(pipe, asyncio.ReadTransport) and not pipe.is_closing()]

    def _pipe(self, fd: int) -> asyncio.BaseTransport | None:
        return self._transport.get_pipe_transport(fd) if self._transport else None


def _tell_exit(channel: asyncssh.SSHServerChannel[bytes], status: int | None) -> None:
    if status is not None and status < 0:
        channel.exit_with_signal(signal.Signals(-status).name.removeprefix("SIG"))
    else:
        channel.exit(status or 0)


async def listen(shells: Shells, *, host_key: Path, client_key: str) -> asyncssh.SSHAcceptor:
    """Listen on a free port of 127.0.0.1; only the holder of `client_key` (a public key) comes in."""
    return await asyncssh.listen(
        "127.0.0.1",
        0,
        server_factory=lambda: DemoConnection(shells),
        server_host_keys=[str(host_key)],
        authorized_client_keys=asyncssh.import_authorized_keys(client_key),
        encoding=None,
        line_editor=False,
        allow_scp=False,
        keepalive_interval=0,
    )

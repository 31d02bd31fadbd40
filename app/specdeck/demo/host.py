"""An embedded GPU host: a loopback SSH server, a simulated nvidia-smi and engine. specdeck reaches it as it reaches any host."""

import asyncio
import os
import pwd
import secrets
import socket
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import asyncssh

from specdeck.demo import guard
from specdeck.demo.fleet_file import write_fleet
from specdeck.demo.identity import DEMO_ID, OWNER, SPEED, TREE, signature
from specdeck.demo.ssh_server import Shells, listen
from specdeck.demo.traffic import Traffic
from specdeck.demo.tree import Tree, make_tree, search_path

ALIAS = "demo-gpu"
SERVERS = ("kimi", "qwen")
DEFAULT_SPEED = 25.0
"""How much faster than a large model the engine loads: a start takes about 20 seconds."""

_SSH_CONFIG = """\
Host {alias}
    HostName 127.0.0.1
    Port {port}
    User {user}
    IdentityFile {keys}/client
    IdentitiesOnly yes
    UserKnownHostsFile {keys}/known_hosts
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
"""


class DemoHost:
    """A whole GPU host in a private folder, from `async with` to its end; then nothing of it is left."""

    def __init__(self, *, speed: float = DEFAULT_SPEED, traffic: int = 0) -> None:
        self._speed = speed
        self._streams = traffic
        self._stack = AsyncExitStack()
        self._shells: Shells | None = None
        self._guard: asyncio.subprocess.Process
        self.tree: Tree
        self.ports: Mapping[str, int] = {}
        """The HTTP port of each server."""
        self.demo_id = secrets.token_hex(16)

    @property
    def fleet_path(self) -> Path:
        """The fleet file: `specdeck --fleet PATH status`."""
        return self.tree.fleet

    @property
    def guard_pid(self) -> int:
        """The process that cleans up."""
        return self._guard.pid

    async def __aenter__(self) -> Self:
        self.tree = make_tree()
        await self._start_guard()
        try:
            await self._start()
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    async def _start(self) -> None:
        _make_keys(self.tree)
        keys = self.tree.keys
        self._shells = Shells(self.environment())
        acceptor = await self._stack.enter_async_context(
            await listen(self._shells, host_key=keys / "host", client_key=(keys / "client.pub").read_text("ascii"))
        )
        self._write_ssh_config(acceptor.get_port())
        self.ports = dict(zip(SERVERS, _free_ports(len(SERVERS)), strict=True))
        write_fleet(self.tree, self.ports)
        if self._streams:
            await self._stack.enter_async_context(Traffic(tuple(self.ports.values()), self._streams))

    async def _start_guard(self) -> None:
        """Before anything else is started: from now on nothing can be left behind."""
        self._guard = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", guard.__file__, self.demo_id, str(self.tree.root)),
            stdin=asyncio.subprocess.PIPE,
            start_new_session=True,
        )

    async def _end(self) -> None:
        try:
            if self._shells is not None:
                self._shells.disconnect()
            await self._stack.aclose()
        finally:
            assert self._guard.stdin is not None  # noqa: S101
            self._guard.stdin.close()
            await self._guard.wait()
            if self._shells is not None:
                self._shells.close()

    def environment(self) -> dict[str, str]:
        """What the host's shells have in their environment."""
        user = pwd.getpwuid(os.getuid()).pw_name
        return {
            "HOME": str(self.tree.home),
            "PATH": search_path(self.tree),
            "SHELL": "/bin/sh",
            "USER": user,
            "LOGNAME": user,
            "LANG": "C.UTF-8",
            DEMO_ID: self.demo_id,
            OWNER: signature(os.getpid()),
            TREE: str(self.tree.root),
            SPEED: f"{self._speed:g}",
        }

    def _write_ssh_config(self, port: int) -> None:
        keys = self.tree.keys
        public = (keys / "host.pub").read_text("ascii").strip()
        _write_private(keys / "known_hosts", f"[127.0.0.1]:{port} {public}\n")
        user = pwd.getpwuid(os.getuid()).pw_name
        _write_private(self.tree.ssh_config, _SSH_CONFIG.format(alias=ALIAS, port=port, user=user, keys=keys))


def _make_keys(tree: Tree) -> None:
    for name in ("host", "client"):
        key = asyncssh.generate_private_key("ssh-ed25519")
        _write_private(tree.keys / name, key.export_private_key().decode("ascii"))
        _write_private(tree.keys / f"{name}.pub", key.export_public_key().decode("ascii"))


def _write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, "ascii")


def _free_ports(count: int) -> list[int]:
    """Free ports of the loopback, all different, below those that the kernel gives to outgoing connections."""
    ports: list[int] = []
    while len(ports) < count:
        port = 30000 + secrets.randbelow(2700)
        if port not in ports and _is_free(port):
            ports.append(port)
    return ports


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True

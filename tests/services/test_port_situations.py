"""Who stands on the port before a launch (case B43): five situations, with real sockets and real processes."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.openssh import free_port
from tests.services.desk import desk, is_alive, program, until_gone

from specdeck.errors import Refused
from specdeck.services.acting import act
from specdeck.transport.base import Outcome
from specdeck.transport.script import Script

LISTENER = """
import socket, sys, time
listener = socket.create_server((sys.argv[1], int(sys.argv[2])), family=socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
print("listens", flush=True)
time.sleep(600)
"""


@contextmanager
def listener(address: str, port: int, **changes: object) -> Iterator[subprocess.Popen[str]]:
    """A process of somebody that listens there."""
    words = [sys.executable, "-c", LISTENER, address, str(port)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, **changes)  # type: ignore[call-overload]
    try:
        assert process.stdout.readline() == "listens\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def serving(folder: Path, more: str = "") -> None:
    """A server that listens on 127.0.0.1, in the same process."""
    body = f"import socket, sys, time, os, subprocess\nport = int(sys.argv[sys.argv.index('--port') + 1])\n{more}\n"
    (folder / "serve.py").write_text(f"{body}listener = socket.create_server(('127.0.0.1', port))\ntime.sleep(600)\n")
    program(folder / "bin" / "python3", f'exec {sys.executable} {folder}/serve.py "$@"')


async def test_connections_in_time_wait_are_no_obstacle(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3")
    async with desk(tmp_path) as one:
        with socket.create_server(("127.0.0.1", one.server.port)) as server:
            for _ in range(2):
                with socket.create_connection(("127.0.0.1", one.server.port)), server.accept()[0] as answering:
                    answering.shutdown(socket.SHUT_RDWR)
        hex_port = f":{one.server.port:04X} "
        rows = [line for line in Path("/proc/net/tcp").read_text().splitlines() if hex_port in line]  # noqa: ASYNC240
        assert {row.split()[3] for row in rows} == {"06"}
        check = await one.check("port")
        assert (check.state, check.detail) == ("passed", f"port {one.server.port} is free")
        assert [step.name for step in await one.launch()][-1] == "done"


async def test_a_worker_that_its_server_left_behind_is_named_and_ended_by_a_relaunch(tmp_path: Path) -> None:
    port = free_port()
    worker = f"subprocess.Popen([sys.executable, '-c', {LISTENER!r}, '127.0.0.1', str(port)])\ntime.sleep(600)"
    serving(tmp_path, worker)
    async with desk(tmp_path, port=port, kill_after_seconds=5) as one:
        await one.launch()
        await one.until_listening()
        parent = one.pid()
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()  # noqa: ASYNC240
        os.kill(parent, 9)
        await one.until(one.runs / "0001" / "exit")
        with pytest.raises(Refused, match=rf"kimi \(pid {parent}\) is gone and has left pid {children[0]} "):
            await one.plan()
        serving(tmp_path)
        plan = await one.launcher.plan("relaunch", "kimi")
        steps = [step.name async for step in act(one.launcher, one.transport, one.server, plan)]
        assert steps[-1] == "done"
        await until_gone(int(children[0]))


class AsNobody:
    """The host as a user sees it who may not look into other users' processes."""

    def __init__(self, env: dict[str, str]) -> None:
        self._env = env

    async def run(self, script: Script, *, limit_seconds: float = 30.0) -> Outcome:
        """The script's words, without the frame: stdin is the script itself."""
        words = [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "sh",
            "-c",
            script.text,
            "sh",
            *script.args,
        ]
        async with asyncio.timeout(limit_seconds):
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                env={**os.environ, **self._env},
            )
            told, _ = await process.communicate()
        return Outcome(told, b"", process.returncode)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can look with another user's eyes")
async def test_a_process_that_the_user_may_not_see_refuses_the_launch(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3")
    async with desk(tmp_path) as one:
        one.launcher._transports = {"lab": AsNobody({"HOME": "/"})}  # type: ignore[dict-item]
        with (
            listener("127.0.0.1", one.server.port),
            pytest.raises(Refused, match="this user may not see the process: nothing is touched"),
        ):
            await one.plan()


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
async def test_a_stranger_on_the_same_port_of_another_address_is_neither_in_the_way_nor_ended(tmp_path: Path) -> None:
    serving(tmp_path)
    async with desk(tmp_path, kill_after_seconds=5) as one:
        with listener("::1", one.server.port) as stranger:
            assert (await one.check("port")).state == "passed"
            await one.launch()
            await one.until_listening()
            plan = await one.launcher.plan("stop", "kimi")
            assert plan.pid == one.pid()
            steps = [step.name async for step in act(one.launcher, one.transport, one.server, plan)]
            assert steps[-1] == "done"
            assert is_alive(stranger.pid)


async def test_a_stranger_on_the_very_address_is_named(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3")
    async with desk(tmp_path) as one:
        with (
            listener("127.0.0.1", one.server.port) as stranger,
            pytest.raises(Refused, match=rf"belongs to pid {stranger.pid} "),
        ):
            await one.plan()


async def test_ports_that_only_begin_alike_and_connections_to_such_a_port_elsewhere_leave_it_free(
    tmp_path: Path,
) -> None:
    program(tmp_path / "bin" / "python3")
    async with desk(tmp_path, port=3000 + os.getpid() % 500) as one:
        longer = one.server.port * 10 + 1
        with listener("127.0.0.1", longer), socket.create_connection(("127.0.0.1", longer)):
            assert (await one.check("port")).state == "passed"


async def test_a_server_on_a_port_nearby_is_a_note_and_no_refusal(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3")
    async with desk(tmp_path) as one:
        fleet = one.launcher._fleet
        other = replace(one.server, name="qwen", port=one.server.port + 1)
        host = replace(fleet.hosts[0], servers=(one.server, other))
        one.launcher._fleet = replace(fleet, hosts=(host,))
        plan = await one.plan()
    assert plan.is_allowed
    assert any(note.startswith(f"Port {other.port} of qwen is close to {one.server.port}") for note in plan.notes)

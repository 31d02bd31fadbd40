"""ProxyCommands as people have them: chatty, silent, wrong, and gone when nobody needs them any more."""

import asyncio
import sys
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.transport.processes import is_alive, until
from tests.transport.test_login import connected, refusal, says_hello

from specdeck.errors import HostUnreachable
from specdeck.transport.script import Script

pytestmark = pytest.mark.sshd
RELAY = """
import os, socket, sys, threading
far = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
open(sys.argv[2], "w").write(str(os.getpid()))
def upwards():
    while data := os.read(0, 65536):
        far.sendall(data)
    if sys.argv[3] == "ends":
        far.shutdown(socket.SHUT_WR)
threading.Thread(target=upwards, daemon=True).start()
while data := far.recv(65536):
    os.write(1, data)
    if sys.argv[3] == "warns":
        os.write(2, b"WARNING: a package that this tunnel could use is not installed\\n")
"""


def relay(server: OpenSsh, way: str) -> str:
    """The ProxyCommand of a tunnel program; it writes its pid beside itself."""
    program = server.folder / "relay.py"
    program.write_text(RELAY)
    return f"{sys.executable} {program} %p {server.folder}/pid {way}"


def pid_of(server: OpenSsh) -> int:
    return int((server.folder / "pid").read_text())


@pytest.mark.parametrize(("way", "more"), [("warns", ""), ("ends", " 2>/dev/null")], ids=["chatty", "silent"])
async def test_what_a_command_writes_to_stderr_is_no_data_and_it_may_close_it(
    own_openssh: OpenSsh, way: str, more: str
) -> None:
    own_openssh.write_config(extra=f"  ProxyCommand {relay(own_openssh, way)}{more}\n")
    assert await says_hello(own_openssh)
    await until(lambda: not is_alive(pid_of(own_openssh)))


async def test_one_that_does_not_end_by_itself_is_ended(own_openssh: OpenSsh) -> None:
    """Its stdin ends, and it goes on; also the shell that started it is not left."""
    own_openssh.write_config(extra=f"  ProxyCommand sh -c '{relay(own_openssh, 'stays')}; true'\n")
    async with connected(own_openssh):
        assert is_alive(pid_of(own_openssh))
    await until(lambda: not is_alive(pid_of(own_openssh)))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("nosuchtunnel %h", "its ProxyCommand ended with 127: "),
        (
            "sh -c 'echo warming up >&2; echo the tunnel is closed on sundays >&2; exit 4'",
            "with 4: the tunnel is closed",
        ),
        ("true", "its ProxyCommand ended with 0"),
    ],
)
async def test_its_last_words_are_the_reason(
    own_openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch, command: str, words: str
) -> None:
    monkeypatch.setattr("specdeck.transport.login.CROWDED_SECONDS", 0.01)
    own_openssh.write_config(extra=f"  ProxyCommand {command}\n")
    error = await refusal(own_openssh)
    assert isinstance(error, HostUnreachable)
    assert words in str(error)
    assert str(error).startswith(f"gpu-a (127.0.0.1:{own_openssh.port}): its ProxyCommand ")


async def test_one_that_brings_nothing_is_told_so_and_ended(
    own_openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specdeck.transport.login.LOGIN_SECONDS", 0.5)
    pid = own_openssh.folder / "pid"
    own_openssh.write_config(extra=f"  ProxyCommand sh -c 'echo $$ >{pid}; exec sleep 600'\n")
    assert "its ProxyCommand brought no word of the host within 0.5 s" in str(await refusal(own_openssh))
    await until(lambda: not (pid.exists() and is_alive(pid_of(own_openssh))))


async def test_one_that_breaks_later_is_a_lost_connection(own_openssh: OpenSsh, tmp_path: Path) -> None:
    own_openssh.write_config(extra=f"  ProxyCommand {relay(own_openssh, 'ends')}\n")
    async with connected(own_openssh) as transport:
        own_openssh.kill_sessions()
        async with asyncio.timeout(30):
            assert await transport.wait_lost()
        await transport.connect()
        assert (await transport.run(Script("echo again"))).stdout == b"again\n"

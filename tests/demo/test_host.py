"""The host itself: who comes in, what its shells are, and that commands run and end as with sshd."""

import asyncio
import os
import shutil
import signal
import socket
from pathlib import Path

import asyncssh
import pytest
from tests.demo.running import V2, shell, start
from tests.waiting import until

from specdeck.config.fleet import load_fleet
from specdeck.config.objects import Host
from specdeck.demo.host import ALIAS, DemoHost
from specdeck.demo.identity import start_time
from specdeck.demo.traffic import Traffic
from specdeck.services.runs import look
from specdeck.transport.script import Script, script_text
from specdeck.transport.ssh import SshTransport


def demo_as_host(demo: DemoHost) -> Host:
    """As the fleet file describes it."""
    found = load_fleet(demo.fleet_path).host("demo")
    assert found is not None
    return found


def connect(demo: DemoHost) -> "asyncssh.misc._ACMWrapper[asyncssh.SSHClientConnection]":
    """As a client with the demo's own configuration."""
    return asyncssh.connect(ALIAS, config=[str(demo.tree.ssh_config)])


async def test_specdecks_own_transport_reaches_it(demo: DemoHost) -> None:
    transport = SshTransport(demo_as_host(demo))
    await transport.connect()
    try:
        outcome = await transport.run(Script('printf "%s\\n" "$HOME" "$1"', ("a b'c",)))
    finally:
        await transport.close()
    assert outcome.stdout.decode().split("\n")[:2] == [str(demo.tree.home), "a b'c"]
    assert outcome.exit_status == 0


def watching(folder: Path, who: str) -> Path:
    """A presence entry, as the dashboard of somebody leaves it; its process is this one."""
    if not folder.exists():
        folder.mkdir()
        folder.chmod(0o1777)
    pid, start = os.getpid(), start_time(os.getpid())
    entry = folder / f"{pid}.{start}"
    entry.write_text(f"{pid} {start} 1767600000 rw 0a0b0c0d {who}\n")
    return entry


async def test_who_watches_the_machine_does_not_watch_the_demo_host(demo: DemoHost) -> None:
    transport, server = SshTransport(demo_as_host(demo)), demo_as_host(demo).servers[0]
    await transport.connect()
    machines = watching(Path("/tmp/specdeck-watch"), "ann@desk")
    try:
        monitor = Script(script_text("monitor"), ("watchers -", "beat x"))
        assert b"@watcher" not in (await transport.run(monitor)).stdout
        assert (await look(transport, server)).watchers == ()
        watching(demo.tree.root / "specdeck-watch", "bob@desk")
        assert b"bob@desk" in (await transport.run(monitor)).stdout
        assert "bob@desk" in repr((await look(transport, server)).watchers)
    finally:
        machines.unlink()
        await transport.close()


@pytest.mark.skipif(shutil.which("ssh") is None, reason="no OpenSSH client here")
async def test_openssh_reaches_it_too(demo: DemoHost) -> None:
    process = await asyncio.create_subprocess_exec(
        *("ssh", "-F", str(demo.tree.ssh_config), "-o", "BatchMode=yes", ALIAS, "nvidia-smi -L | wc -l; exit 7"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert (out.strip(), process.returncode) == (b"8", 7)


async def test_the_python_of_its_shells_has_the_engine(demo: DemoHost) -> None:
    code = 'import importlib.metadata as m, sglang; print(m.version("sglang"), sglang.__version__)'
    assert await shell(demo, f"python3 -c '{code}'") == "0.5.12 0.5.12\n"


async def test_only_its_key_comes_in(demo: DemoHost) -> None:
    other = asyncssh.generate_private_key("ssh-ed25519")
    with pytest.raises(asyncssh.PermissionDenied):
        async with asyncssh.connect(ALIAS, config=[str(demo.tree.ssh_config)], client_keys=[other]):
            pass


async def test_its_files_are_private(demo: DemoHost) -> None:
    assert demo.tree.root.stat().st_mode & 0o777 == 0o700
    assert (demo.tree.keys / "client").stat().st_mode & 0o777 == 0o600
    assert (demo.tree.keys / "host").stat().st_mode & 0o777 == 0o600


async def test_it_listens_on_the_loopback_only(demo: DemoHost) -> None:
    async with connect(demo) as connection:
        peer = connection.get_extra_info("peername")
    assert peer[0] == "127.0.0.1"
    assert listeners(peer[1]) == ["0100007F"]
    elsewhere = own_addresses()
    for address in elsewhere:
        with pytest.raises(OSError, match=r"refused|unreachable"):
            socket.create_connection((address, peer[1]), timeout=2).close()


def listeners(port: int) -> list[str]:
    """Local addresses, in hex, that somebody listens on with this port, by the kernel's own table."""
    rows = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text("ascii").splitlines()[1:]
    ]
    ends = [row[1].split(":") for row in rows if row[3] == "0A"]
    return [address for address, hex_port in ends if int(hex_port, 16) == port]


def own_addresses() -> set[str]:
    """Addresses of this machine that are not the loopback's."""
    found = {str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    return {address for address in found if not address.startswith("127.")}


async def test_forwarding_goes_to_the_loopback_and_nowhere_else(demo: DemoHost) -> None:
    async with connect(demo) as connection:
        with pytest.raises(asyncssh.ChannelOpenError, match="loopback only"):
            await connection.open_connection("192.0.2.1", 80)
        with pytest.raises(asyncssh.ChannelOpenError, match="refused"):
            await connection.open_connection("127.0.0.1", demo.ports["kimi"])


async def test_a_command_has_a_session_of_its_own_and_bytes_pass_unchanged(demo: DemoHost) -> None:
    async with connect(demo) as connection:
        process = await connection.create_process("cut -d' ' -f1,6 /proc/self/stat; cat", encoding=None)
        first = await process.stdout.readline()
        process.stdin.write(b"\xff\x00\r\n")
        process.stdin.write_eof()
        assert await process.stdout.read() == b"\xff\x00\r\n"
        await process.wait()
    assert process.exit_status == 0
    session = int(first.split()[1])
    assert session != os.getsid(0)


async def test_a_signal_is_told_as_a_signal(demo: DemoHost) -> None:
    async with connect(demo) as connection:
        result = await connection.run("kill -TERM $$", encoding=None)
    assert result.exit_signal is not None
    assert result.exit_signal[0] == "TERM"


async def test_the_end_of_the_channel_is_the_end_of_input(demo: DemoHost) -> None:
    mark = demo.tree.home / "ended"
    async with connect(demo) as connection:
        process = await connection.create_process(f"echo on; while read -r line; do :; done; : > {mark}", encoding=None)
        assert await process.stdout.readline() == b"on\n"
    await until(mark.exists, "the script sees the end of its input")


async def test_an_eleventh_session_is_refused_as_openssh_does(demo: DemoHost) -> None:
    async with connect(demo) as connection:
        processes = [await connection.create_process("cat", encoding=None) for _ in range(10)]
        with pytest.raises(asyncssh.ChannelOpenError):
            await connection.create_process("cat", encoding=None)
        processes[0].close()
        await processes[0].wait_closed()
        again = await connection.create_process("echo back", encoding=None)
        assert await again.stdout.read() == b"back\n"


async def test_clients_that_stay_are_dropped_at_the_end() -> None:
    async with DemoHost(speed=1000) as demo:
        connection = await connect(demo)
        process = await connection.create_process("echo on; exec cat", encoding=None)
        assert await process.stdout.readline() == b"on\n"
    async with asyncio.timeout(90):
        await connection.wait_closed()


async def test_traffic_moves_counters_and_stops_when_the_server_drains(demo: DemoHost) -> None:
    engine = await start(demo, V2)
    async with Traffic((demo.ports["kimi"],), 3) as traffic:
        await until(lambda: traffic.answered >= 2, "two completions", limit_seconds=30)
        os.kill(engine.pid, signal.SIGTERM)
        assert await engine.ended() == 137
    assert '"POST /v1/completions HTTP/1.1" 200 OK' in engine.log

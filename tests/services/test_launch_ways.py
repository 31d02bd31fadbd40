"""A launch returns at once and the server outlives it, whatever is open and whatever is printed (case B37)."""

import asyncio
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.services.desk import desk, end_runs, is_alive, program, text_of

from specdeck.config.objects import Host
from specdeck.transport.base import Transport
from specdeck.transport.connect import transport_for
from specdeck.transport.script import Script, script_text

CASE = Path(__file__).parents[1] / "cases" / "B37_launch_over_ssh_hangs"
WAYS = [line.split(None, 2)[2] for line in (CASE / "ways.txt").read_text().splitlines()]


@pytest.fixture(params=["local", pytest.param("ssh", marks=pytest.mark.sshd)])
async def transport(request: pytest.FixtureRequest) -> AsyncIterator[Transport]:
    host = Host(name="lab", ssh="localhost")
    if request.param == "ssh":
        openssh: OpenSsh = request.getfixturevalue("openssh")
        host = openssh.host(name="lab")
    made = transport_for(host)
    await made.connect()
    yield made
    await made.close()


@pytest.mark.parametrize("way", WAYS, ids=["stdin-stdout-stderr", "stdin", "stdout-stderr", "none"])
async def test_a_script_returns_at_once_whatever_it_leaves_running_holds_open(
    tmp_path: Path, transport: Transport, way: str
) -> None:
    server = tmp_path / "server.sh"
    server.write_text(
        (CASE / "server.sh").read_text().replace("#!/bin/bash\n", f"#!/bin/bash\necho $$ >{tmp_path}/pid\n")
    )
    server.chmod(0o755)
    try:
        text = f"cd {tmp_path}\n{way}\nuntil [ -s pid ]; do sleep 0.02; done"
        outcome = await transport.run(Script(text), limit_seconds=30)  # the server would hold it for 120
        assert outcome.exit_status == 0
    finally:
        if pid := int(text_of(tmp_path / "pid") or 0):
            os.kill(pid, signal.SIGKILL)


async def test_a_launch_returns_the_servers_own_pid_while_it_floods_its_output(tmp_path: Path) -> None:
    flood = "echo $$ >$HOME/me\nwhile :; do echo ' a line of a server that says much, on and on'; done"
    program(tmp_path / "bin" / "python3", flood)
    async with desk(tmp_path) as one:
        plan = await one.plan()
        async with asyncio.timeout(90):
            await one.launcher.perform(plan)
        pid = int(await one.until(tmp_path / "me"))
        assert int((await one.until(one.runs / "0001" / "pid")).split()[0]) == pid
        await one.until(one.runs / "0001" / "log")
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("echo out; echo cannot open the model >&2; exit 7", "7", "out\ncannot open the model\n"),
        ("echo last words; kill -s SEGV $$", "139", "last words\n"),
    ],
)
async def test_an_instant_end_is_recorded_with_status_time_and_output(
    tmp_path: Path, body: str, status: str, said: str
) -> None:
    program(tmp_path / "bin" / "python3", body)
    async with desk(tmp_path) as one:
        before = int(time.time())
        await one.launch()
        word, ended_at = (await one.until(one.runs / "0001" / "exit")).split()
        assert (word, text_of(one.runs / "0001" / "log")) == (status, said)
        assert before <= int(ended_at) <= time.time()


async def test_every_launch_has_a_log_of_its_own_and_the_old_one_stays(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3", "echo this was run $SPECDECK_RUN")
    async with desk(tmp_path) as one:
        for run in ("0001", "0002"):
            await one.launch()
            await one.until(one.runs / run / "exit")
        logs = [text_of(one.runs / run / "log") for run in ("0001", "0002")]
        ids = [text_of(one.runs / run / "id") for run in ("0001", "0002")]
    assert logs == [f"this was run {identity}" for identity in ids]
    assert ids[0] != ids[1]


def target_of(descriptor: str) -> str:
    """Empty: it was closed meanwhile."""
    try:
        return os.readlink(descriptor)
    except FileNotFoundError:
        return ""


def test_descriptors_above_two_are_closed_for_the_server_also_those_of_two_digits(tmp_path: Path) -> None:
    run = tmp_path / "state" / "specdeck" / "kimi" / "0001"
    run.mkdir(parents=True)
    (run / "wrapper").write_text(script_text("wrapper"))
    (run / "id").write_text("kimi-1\n")
    (run / "log").touch()
    (run / "launch").write_text("exec sleep 600\n")
    read_end, write_end = os.pipe()
    high = fcntl.fcntl(write_end, fcntl.F_DUPFD, 23)
    try:
        wrapper = subprocess.Popen(
            ["sh", str(run / "wrapper"), str(run)],
            stdin=subprocess.DEVNULL, pass_fds=(write_end, high), start_new_session=True, env={**os.environ, "HOME": str(tmp_path)},
        )  # fmt: skip
        os.close(write_end)
        os.close(high)
        assert os.read(read_end, 1) == b""  # nobody holds the other end any more, and the server runs
        deadline = time.monotonic() + 20
        while not text_of(run / "pid").strip() and time.monotonic() < deadline:
            pass
        pid = int(text_of(run / "pid").split()[0])
        assert is_alive(pid)
        held = [target_of(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")]
        assert not [target for target in held if target.startswith("pipe:")]
    finally:
        os.close(read_end)
        end_runs(tmp_path)
    assert wrapper.wait(20) == 0
    assert text_of(run / "exit").split()[0] == "137"


@pytest.mark.sshd
async def test_the_server_lives_on_when_the_connection_is_cut(tmp_path: Path, own_openssh: OpenSsh) -> None:
    program(tmp_path / "bin" / "python3", "trap 'echo hung up' HUP\nwhile :; do echo tick; sleep 0.1; done")
    async with desk(tmp_path, own_openssh.host(name="lab")) as one:
        await one.launch()
        own_openssh.stop()
        pid, log = one.pid(), one.runs / "0001" / "log"
        size = len(text_of(log))
        await one.until_longer(log, size + 10)
        assert is_alive(pid)
        assert "hung up" not in text_of(log)

"""Stop, launch and pivot with real processes: on this machine, and over a real OpenSSH server."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.services.stand_in import StandIn, make_stand_in, profile

from specdeck.config.objects import Host, Profile, Server
from specdeck.errors import Refused, TransportError
from specdeck.parsing.cgroup import Owner
from specdeck.services.acting import act
from specdeck.services.launcher import Launcher
from specdeck.services.runs import Look, Step, look
from specdeck.services.target import Target
from specdeck.state.snapshot import ActKind
from specdeck.transport.base import Transport
from specdeck.transport.connect import transport_for

Made = Callable[..., Awaitable["Bench"]]


class Bench:
    """One server on one host, and the launcher for it."""

    def __init__(self, stand_in: StandIn, transport: Transport, host: Host, server: Server, *profiles: Profile) -> None:
        self.stand_in = stand_in
        self.host = host
        self.transport = transport
        self.server = server
        self.launcher = Launcher(stand_in.fleet(host, *profiles), {"lab": transport}, time.time)

    async def do(self, kind: ActKind, profile_name: str | None = None) -> list[Step]:
        """Plan and do one act to its end."""
        plan = await self.launcher.plan(kind, "kimi", profile_name)
        async with asyncio.timeout(60):
            return [step async for step in act(self.launcher, self.transport, self.server, plan)]

    async def until_it_listens(self) -> None:
        """The launched server is up."""
        async with asyncio.timeout(30):
            while not (await look(self.transport, self.server)).is_listening:
                pass

    def pid(self, run: str = "0001") -> int:
        """The pid that the wrapper recorded."""
        return int((self.stand_in.runs / run / "pid").read_text().split()[0])

    def holders(self) -> list[int]:
        """The living processes that hold GPU memory."""
        return [
            int(file.name) for file in self.stand_in.gpus.iterdir() if file.name.isdigit() and is_alive(int(file.name))
        ]

    async def until(self, file: str, run: str = "0001") -> str:
        """The text of a file of the run's folder, once it is there."""
        path = self.stand_in.runs / run / file
        async with asyncio.timeout(20):
            while not (text := read(path)):  # noqa: ASYNC110 - a file on the host tells nobody that it is there
                await asyncio.sleep(0.02)
        return text


def read(path: Path) -> str:
    """The text of a file; empty while it is not there."""
    return path.read_text() if path.exists() else ""


def end(pid: int, start_time: int | None = None, started_before: float = 0.0) -> None:
    """End a process that a test recorded, if the pid still is that process."""
    with contextlib.suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        boot = next(
            float(line.split()[1]) for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime")
        )
        born = boot + int(stat[19]) / os.sysconf("SC_CLK_TCK")
        if start_time == int(stat[19]) or born < started_before + 1:
            os.kill(pid, signal.SIGKILL)


def open_files(pid: int) -> dict[str, str]:
    """What each descriptor of a process leads to."""
    found: dict[str, str] = {}
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # the one that this very listing uses
            found[number] = os.readlink(f"/proc/{pid}/fd/{number}")
    return found


def is_alive(pid: int) -> bool:
    """There is such a process and it is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def names(steps: list[Step]) -> list[str]:
    return [step.name for step in steps]


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[StandIn]:
    made = make_stand_in(tmp_path)
    yield made
    for file in made.folder.glob("state/specdeck/*/*/pid"):
        pid, start_time = map(int, file.read_text().split())
        end(pid, start_time)
    for file in made.gpus.glob("[0-9]*"):
        end(int(file.name), started_before=file.stat().st_mtime)


@pytest.fixture(params=["local", pytest.param("ssh", marks=pytest.mark.sshd)])
async def bench(request: pytest.FixtureRequest, stand_in: StandIn) -> AsyncIterator[Made]:
    """Makes a Bench on this machine and one over SSH; the transports are closed at the end."""
    host = Host(name="lab", ssh="localhost", env=stand_in.env)
    if request.param == "ssh":
        openssh: OpenSsh = request.getfixturevalue("openssh")
        host = replace(openssh.host(name="lab"), env=stand_in.env)
    async for make in benches(stand_in, host):
        yield make


@pytest.fixture
async def local_bench(stand_in: StandIn) -> AsyncIterator[Made]:
    """The same on this machine only, for what the way to the host does not change."""
    async for make in benches(stand_in, Host(name="lab", ssh="localhost", env=stand_in.env)):
        yield make


async def benches(stand_in: StandIn, host: Host) -> AsyncIterator[Made]:
    open_ones: list[Transport] = []

    async def make(*profiles: Profile, mode: str = "", **changes: object) -> Bench:
        server = stand_in.server(env={"STAND_IN": mode}, **changes)
        full = replace(host, servers=(server,))
        transport = transport_for(full)
        await transport.connect()
        open_ones.append(transport)
        return Bench(stand_in, transport, full, server, *profiles)

    yield make
    for transport in open_ones:
        await transport.close()


async def test_a_launched_server_outlives_the_connection_and_has_a_folder_that_tells_its_story(bench: Made) -> None:
    one = await bench()
    steps = await one.do("launch")
    assert names(steps) == ["asked", "launched", "done"]
    await one.until_it_listens()
    await one.transport.close()
    assert is_alive(one.pid())
    folder = one.stand_in.runs / "0001"
    assert (folder / "profile").read_text() == "one\n"
    assert (folder / "port").read_text() == f"{one.stand_in.port}\n"
    assert "ready to roll" in (folder / "log").read_text()


async def test_the_server_leads_its_own_session_and_holds_no_descriptor_of_ours(local_bench: Made) -> None:
    one = await local_bench()
    await one.do("launch")
    await one.until_it_listens()
    pid = one.pid()
    assert os.getsid(pid) == pid
    links = open_files(pid)
    log = str(one.stand_in.runs / "0001" / "log")
    assert [links[number] for number in "012"] == ["/dev/null", log, log]
    assert not [
        leads for leads in links.values() if leads.startswith("pipe:") and leads in open_files(os.getpid()).values()
    ]


async def test_arguments_arrive_byte_for_byte(bench: Made) -> None:
    nasty = '{"method":"eagle3"} \'q\' "d" $HOME `id` !x \\ ünï\nline two ; rm -rf /'
    one = await bench(profile("one", args={"json-model-override-args": nasty}), profile("two"))
    await one.do("launch")
    await one.until_it_listens()
    argv = (one.stand_in.gpus / "argv").read_bytes().split(b"\0")
    assert nasty.encode() in argv


async def test_a_stop_ends_the_whole_family_and_waits_for_port_and_memory(bench: Made) -> None:
    one = await bench()
    await one.do("launch")
    await one.until_it_listens()
    assert len(one.holders()) == 2
    steps = await one.do("stop")
    assert names(steps)[:3] == ["asked", "identified", "term"]
    assert names(steps)[-4:] == ["gone", "port-free", "memory-back", "done"]
    assert one.holders() == []
    assert not is_alive(one.pid())
    assert (await one.until("exit")).split()[0] == "0"
    assert (one.stand_in.runs / "0001" / "stop").exists()


async def test_workers_in_sessions_of_their_own_are_found_when_their_parent_leaves_them_behind(
    local_bench: Made,
) -> None:
    one = await local_bench(mode="orphans")
    await one.do("launch")
    await one.until_it_listens()
    bystander = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True)
    try:
        steps = await one.do("stop")
        assert "orphans" in names(steps)
        assert names(steps)[-1] == "done"
        assert one.holders() == []
        assert bystander.returncode is None
        assert is_alive(bystander.pid)
    finally:
        bystander.kill()
        await bystander.wait()


async def test_orphans_of_a_server_that_was_killed_by_somebody_are_still_its_family(bench: Made) -> None:
    one = await bench(mode="orphans")
    await one.do("launch")
    await one.until_it_listens()
    os.kill(one.pid(), signal.SIGKILL)
    assert (await one.until("exit")).split()[0] == "137"
    assert len(one.holders()) == 2
    steps = await one.do("stop")
    assert names(steps)[-1] == "done"
    assert one.holders() == []


async def test_a_server_that_ignores_sigterm_is_killed_at_the_deadline(local_bench: Made) -> None:
    one = await local_bench(mode="stubborn")
    await one.do("launch")
    await one.until_it_listens()
    steps = await one.do("stop")
    told = {step.name: step for step in steps}
    assert told["kill"].at - told["term"].at >= 2
    assert told["term"].detail == f"kill_at={int(told['term'].at) + 2}"
    assert names(steps)[-1] == "done"
    assert (await one.until("exit")).split()[0] == "137"


async def test_a_drain_that_takes_too_long_is_cut_by_asking_the_engine(local_bench: Made) -> None:
    one = await local_bench(mode="drains", kill_after_seconds=40)
    await one.do("launch")
    await one.until_it_listens()
    steps = await one.do("stop")
    assert [step.detail for step in steps if step.name == "abort"] == [
        "the engine is asked to end the requests that still run"
    ]
    assert "kill" not in names(steps)
    assert (await one.until("exit")).split()[0] == "0"


async def test_memory_that_does_not_come_back_at_once_is_waited_for(local_bench: Made) -> None:
    one = await local_bench()
    await one.do("launch")
    await one.until_it_listens()
    (one.stand_in.gpus / "late").write_text("2000\n")
    plan = await one.launcher.plan("stop", "kimi")
    seen: list[str] = []
    async with asyncio.timeout(60):
        async for step in act(one.launcher, one.transport, one.server, plan):
            seen.append(step.name)
            if step.name == "port-free":
                assert one.holders() == []
                (one.stand_in.gpus / "late").unlink()
    assert seen[-2:] == ["memory-back", "done"]


async def test_a_pivot_starts_the_new_profile_only_after_the_old_family_is_gone(bench: Made) -> None:
    one = await bench()
    await one.do("launch")
    await one.until_it_listens()
    plan = await one.launcher.plan("pivot", "kimi")
    assert (plan.old_profile, plan.new_profile, plan.pid) == ("one", "two", one.pid())
    assert [(change.name, change.old, change.new) for change in plan.changes] == [("--page-size", None, "16")]
    assert plan.gpu_memory_mib == 2000
    steps = await one.do("pivot")
    order = names(steps)
    assert order.index("memory-back") < order.index("launched")
    await one.until_it_listens()
    assert not is_alive(one.pid("0001"))
    assert is_alive(one.pid("0002"))
    assert (one.stand_in.runs / "0002" / "profile").read_text() == "two\n"


async def test_a_pivot_ends_as_asked_when_its_asker_is_gone_after_the_first_step(bench: Made) -> None:
    one = await bench(mode="stubborn")
    await one.do("launch")
    await one.until_it_listens()
    await one.launcher.perform(await one.launcher.plan("pivot", "kimi"))
    await one.transport.close()
    await one.until("pid", run="0002")
    assert is_alive(one.pid("0002"))
    assert not is_alive(one.pid("0001"))


async def test_a_new_run_that_dies_while_starting_brings_the_old_profile_back(bench: Made) -> None:
    one = await bench(profile("one"), profile("two", env={"STAND_IN": "bad"}), rollback=True)
    await one.do("launch")
    await one.until_it_listens()
    steps = await one.do("pivot")
    told = {step.name: step.detail for step in steps}
    assert told["rollback"] == "run 0002 ended with status 1 while starting"
    assert told["failed"] == "run 0002 ended with status 1 while starting; one runs again as run 0003"
    await one.until_it_listens()
    assert [(one.stand_in.runs / run / "profile").read_text() for run in ("0001", "0002", "0003")] == [
        "one\n",
        "two\n",
        "one\n",
    ]
    assert not is_alive(one.pid("0001"))
    assert is_alive(one.pid("0003"))


async def test_a_pivot_with_rollback_is_done_when_the_new_run_is_ready_on_its_own_port(local_bench: Made) -> None:
    one = await local_bench(rollback=True)
    await one.do("launch")
    await one.until_it_listens()
    steps = await one.do("pivot")
    assert names(steps)[-3:] == ["launched", "watching", "done"]
    assert is_alive(one.pid("0002"))


async def test_a_stop_while_a_rollback_watches_is_obeyed_and_nothing_comes_back(local_bench: Made) -> None:
    one = await local_bench(profile("one"), profile("two", env={"STAND_IN": "silent"}), rollback=True)
    await one.do("launch")
    await one.until_it_listens()
    plan = await one.launcher.plan("pivot", "kimi")
    async with asyncio.timeout(60):
        async for step in act(one.launcher, one.transport, one.server, plan):
            if step.name == "watching":
                break
    steps = await one.do("stop")
    assert names(steps)[-1] == "done"
    assert not (one.stand_in.runs / "0003").exists()
    assert not is_alive(one.pid("0002"))


async def test_a_failing_preflight_leaves_the_old_server_serving_and_says_what_to_change(local_bench: Made) -> None:
    one = await local_bench(profile("one"), profile("two", requires=">=0.5.20"))
    await one.do("launch")
    await one.until_it_listens()
    plan = await one.launcher.plan("pivot", "kimi")
    failed = [check for check in plan.checks if check.state == "failed"]
    assert plan.notes == ()
    assert [check.detail for check in failed] == ["profile two needs SGLang >=0.5.20, the host has 0.5.12"]
    with pytest.raises(Refused, match="needs SGLang"):
        await one.launcher.perform(plan)
    assert is_alive(one.pid())


async def test_missing_paths_and_interpreters_are_named(local_bench: Made) -> None:
    one = await local_bench(model="/nowhere/model", python="/nowhere/python3")
    plan = await one.launcher.plan("launch", "kimi")
    said = " / ".join(check.detail for check in plan.checks if check.state == "failed")
    assert "/nowhere/python3 is not on the host" in said
    assert "not on the host: /nowhere/model" in said


async def test_a_stranger_on_the_port_is_named_and_never_touched(local_bench: Made) -> None:
    one = await local_bench()
    stranger = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", one.stand_in.port)
    async with stranger:
        for kind in ("stop", "launch", "pivot"):
            with pytest.raises(Refused, match=f"belongs to pid {os.getpid()} .*which is no sglang server"):
                await one.launcher.plan(kind, "kimi")


async def test_a_recorded_pid_that_belongs_to_somebody_else_by_now_is_never_signalled(local_bench: Made) -> None:
    one = await local_bench()
    await one.do("launch")
    await one.until_it_listens()
    bystander = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True)
    try:
        await one.do("stop")
        start = (one.stand_in.runs / "0001" / "pid").read_text().split()[1]
        (one.stand_in.runs / "0001" / "pid").write_text(f"{bystander.pid} {start}\n")
        with pytest.raises(Refused, match="does not run"):
            await one.launcher.plan("stop", "kimi")
        assert is_alive(bystander.pid)
    finally:
        bystander.kill()
        await bystander.wait()


async def test_a_server_that_others_started_is_stopped_when_its_command_line_is_the_engines(local_bench: Made) -> None:
    one = await local_bench()
    words = [str(one.stand_in.python), "-m", "sglang.launch_server", "--port", str(one.stand_in.port)]
    theirs = await asyncio.create_subprocess_exec(
        *words, env={**os.environ, **one.stand_in.env}, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        await one.until_it_listens()
        plan = await one.launcher.plan("stop", "kimi")
        assert (plan.pid, plan.old_profile, plan.owner) == (theirs.pid, None, None)
        steps = await one.do("stop")
        assert names(steps)[-1] == "done"
        assert one.holders() == []
    finally:
        if theirs.returncode is None:
            theirs.kill()
        await theirs.wait()


def owned(one: Bench, owner: Owner | None) -> Launcher:
    """The launcher's view of a host where the port's holder is somebody's: no test machine runs a systemd."""

    class Owned(Launcher):
        def _target(self, act: ActKind, server: Server, seen: Look) -> Target | None:
            target = super()._target(act, server, seen)
            return target and replace(target, owner=owner, run_id="", run_folder="-")

    return Owned(one.stand_in.fleet(one.host), {"lab": one.transport}, time.time)


async def test_a_server_with_an_owner_is_stopped_by_the_owners_own_command_and_never_killed(local_bench: Made) -> None:
    one = await local_bench(mode="stubborn", kill_after_seconds=30)
    await one.do("launch")
    await one.until_it_listens()
    holders = [one.pid(), *one.holders()]
    systemctl = one.stand_in.folder / "bin" / "systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$@" >{one.stand_in.folder}/asked\nkill -9 {" ".join(map(str, holders))}\n')
    systemctl.chmod(0o755)
    one.launcher = owned(one, Owner("systemd", "kimi.service"))
    plan = await one.launcher.plan("stop", "kimi")
    assert plan.owner == "systemd unit kimi.service"
    steps = await one.do("stop")
    assert [name for name in names(steps) if name in {"owner", "term", "kill", "done"}] == ["owner", "done"]
    assert (one.stand_in.folder / "asked").read_text() == "stop kimi.service\n"


@pytest.mark.parametrize("kind", ["relaunch", "pivot"])
async def test_a_server_with_an_owner_is_not_started_beside_it(local_bench: Made, kind: ActKind) -> None:
    one = await local_bench()
    await one.do("launch")
    await one.until_it_listens()
    one.launcher = owned(one, Owner("slurm", "48213"))
    plan = await one.launcher.plan(kind, "kimi")
    assert [check.detail for check in plan.checks if check.state == "failed"] == [
        "Slurm job 48213 started it and would start it again: stop and start it there"
    ]


async def test_two_who_act_at_once_get_one_act_and_one_refusal(local_bench: Made) -> None:
    one = await local_bench(mode="stubborn")
    await one.do("launch")
    await one.until_it_listens()
    plan = await one.launcher.plan("stop", "kimi")
    await one.launcher.perform(plan)
    with pytest.raises(Refused, match="somebody else acts on port"):
        await one.launcher.perform(plan)
    again = await one.launcher.plan("stop", "kimi")
    assert [check.name for check in again.checks if check.state == "failed"] == ["lock"]
    await one.until("exit")


async def test_a_server_that_dies_at_once_leaves_its_exit_status(local_bench: Made) -> None:
    one = await local_bench(mode="bad")
    await one.do("launch")
    assert (await one.until("exit")).split()[0] == "1"
    assert "unrecognized arguments" in (one.stand_in.runs / "0001" / "log").read_text()


async def test_a_launch_while_it_runs_is_refused(local_bench: Made) -> None:
    one = await local_bench()
    await one.do("launch")
    await one.until_it_listens()
    with pytest.raises(Refused, match="runs already"):
        await one.launcher.plan("launch", "kimi")


async def test_a_state_folder_that_cannot_be_written_is_one_clear_sentence(local_bench: Made) -> None:
    one = await local_bench()
    (one.stand_in.folder / "state").mkdir()
    (one.stand_in.folder / "state" / "specdeck").write_text("a file where a folder should be")
    plan = await one.launcher.plan("launch", "kimi")
    with pytest.raises(TransportError, match="cannot make"):
        await one.launcher.perform(plan)

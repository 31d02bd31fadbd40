"""A process is its pid with its start time and the boot it lived in: where one of them differs, it is a stranger's."""

import os
import re
import socket
import subprocess
import time
from dataclasses import replace

import pytest
from tests.services.bench import Made, end, is_alive, names
from tests.services.test_wrong_target import running, stat_of

from specdeck.config.objects import Server
from specdeck.errors import Refused
from specdeck.services.launcher import Launcher
from specdeck.services.runs import Look, RunRecord, SeenProcess
from specdeck.services.target import Target, find_target
from specdeck.state.snapshot import ActKind
from specdeck.transport.script import script_text

BEFORE = "the boot before"


def test_a_run_of_an_earlier_boot_is_no_target() -> None:
    stranger = SeenProcess(4711, 99, "S", ("sleep", "600"), "sleep")
    run = RunRecord("0001", "/runs/0001", id="kimi-1", pid=4711, start_time=99, boot=BEFORE)
    seen = Look("this boot", run=run, members=(stranger,))
    server = Server("kimi", "lab", "/models/kimi", 30000)
    assert find_target(server, seen, "sglang") is None
    assert seen.leader is None
    same = replace(seen, boot=BEFORE)
    assert find_target(server, same, "sglang") == Target(4711, 99, BEFORE, "kimi-1", "/runs/0001")
    assert same.leader == stranger


async def test_where_the_host_was_restarted_meanwhile_the_script_signals_nobody(local_bench: Made) -> None:
    class AskedBefore(Launcher):
        def _target(self, act: ActKind, server: Server, seen: Look) -> Target | None:
            target = super()._target(act, server, seen)
            return target and replace(target, boot=BEFORE)

    one = await local_bench()
    await one.do("launch")
    await one.until_it_listens()
    plan = await one.launcher.plan("stop", "kimi")
    with pytest.raises(Refused, match="kimi has changed since the plan was made: look again"):
        await one.launcher.perform(replace(plan, start_time=(plan.start_time or 0) + 1))
    one.launcher = AskedBefore(one.stand_in.fleet(one.host), {"lab": one.transport}, time.time)
    steps = await one.do("stop")
    assert names(steps) == ["asked", "gone", "done"]
    assert steps[1].detail == "the host was restarted since"
    assert is_alive(one.pid())


def test_each_signal_asks_once_more_whose_pid_it_is() -> None:
    with running("sleep", "600") as process:
        start = stat_of(process.pid).start_time
        signal("KILL", f"{process.pid}:{start + 1}")
        assert is_alive(process.pid)
        signal("KILL", f"{process.pid}:{start}")
        assert process.wait(10) == -9


def test_neither_who_asks_nor_a_run_that_is_called_alike_is_of_a_family_by_its_environment() -> None:
    marked = {"SPECDECK_RUN": "kimi-1"}
    text = f"set -f\n{script_text('proc')}\nspare_callers\nfamily_of 4194304 1 kimi-1 ''\nprintf '%s' \"$family\"\n"
    # a shell above in a session of its own, and one that runs beside who asks, in the asker's session
    shells = "setsid -w sh -c 'sleep 600 & sh -s <&3; kill $!' 3<&0; true"
    alike = {"SPECDECK_RUN": "kimi-12"}
    with running("sleep", "600", env=marked) as worker, running("sleep", "600", env=alike):
        told = subprocess.run(
            ["sh", "-c", shells], input=text.encode(), env={**os.environ, **marked}, capture_output=True, timeout=60
        )
        assert told.stdout.decode().split() == [f"{worker.pid}:{stat_of(worker.pid).start_time}"]


def test_a_session_that_got_the_number_of_a_dead_leader_is_not_that_of_its_orphans() -> None:
    with (
        running("sleep", "600", env={"SPECDECK_RUN": "kimi-1"}) as orphan,
        running("sh", "-c", "sleep 600 >/dev/null & echo $!") as leader,
    ):
        stranger = child_of(leader)
        leader.wait(10)
        try:
            assert stat_of(stranger).session == leader.pid
            assert family(f"family_of {leader.pid} 1 kimi-1 ''") == [identity(orphan.pid)]
        finally:
            end(stranger, stat_of(stranger).start_time)


def test_children_of_a_stranger_who_got_the_number_of_a_dead_member_do_not_join() -> None:
    with running("sleep", "600") as server, running("sh", "-c", "sleep 600 >/dev/null & echo $!; wait") as stranger:
        child = child_of(stranger)
        begun = f"family_of {server.pid} {stat_of(server.pid).start_time} '' ''"
        try:
            assert family(f"family=' {stranger.pid}:1'; {begun}") == [f"{stranger.pid}:1", identity(server.pid)]
            with_its_own = family(f"family=' {identity(stranger.pid)}'; {begun}")
            assert identity(child) in with_its_own
        finally:
            end(child, stat_of(child).start_time)


def test_of_two_servers_that_mean_to_serve_the_port_none_is_the_target() -> None:
    argv = ("python3", "-m", "sglang.launch_server", "--port", "30000")
    first, second = (SeenProcess(pid, pid, "S", argv, "python3", 1) for pid in (4000, 5000))
    server = Server("kimi", "lab", "/models/kimi", 30000)
    with pytest.raises(Refused, match="pid 4000, pid 5000 all mean to serve port 30000 of lab: nothing is touched"):
        find_target(server, Look("boot", similar=(first, second)), "sglang")
    assert find_target(server, Look("boot", similar=(second,)), "sglang") == Target(5000, 5000, "boot")


def family(words: str) -> list[str]:
    """What the scripts on the host find, as PID:START."""
    text = f"set -f\n{script_text('proc')}\nspare_callers\nfamily=\n{words}\nprintf '%s' \"$family\"\n"
    return subprocess.run(["sh", "-s"], input=text.encode(), capture_output=True, timeout=60).stdout.decode().split()


def identity(pid: int) -> str:
    """As the scripts write it."""
    return f"{pid}:{stat_of(pid).start_time}"


def child_of(process: subprocess.Popen[bytes]) -> int:
    """The pid that it told."""
    assert process.stdout is not None
    return int(process.stdout.readline())


def test_a_port_that_somebody_took_at_the_last_moment_is_not_launched_at() -> None:
    stubs = "fail() { echo $2; exit 1; }; next_run() { echo went on; exit; }"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert by_actor("launch_server", f"{stubs}\nport={port}\n") == f"port {port} is in use by pid {os.getpid()}"
    assert by_actor("launch_server", f"{stubs}\nport={port}\n") == "went on"


def signal(name: str, words: str) -> None:
    """What the script of an act does with the processes that it is about to end."""
    by_actor(f"signal {name} '{words}'")


def by_actor(words: str, before: str = "") -> str:
    """One function of the script of an act, by itself."""
    found = re.search(rf"^{words.split()[0]}\(\) \{{\n.*?^\}}$", script_text("act"), re.MULTILINE | re.DOTALL)
    assert found is not None
    text = f"set -f\n{script_text('proc')}\n{found[0]}\n{before}{words}\n"
    return subprocess.run(["sh", "-s"], input=text.encode(), capture_output=True, timeout=60).stdout.decode().strip()

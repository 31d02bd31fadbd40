"""Stop, launch and pivot with real processes: on this machine, and over a real OpenSSH server."""

import asyncio
import os
import signal
import sys
import time
from dataclasses import replace

import pytest
from tests.services.bench import Bench, Made, is_alive, names, open_files
from tests.services.stand_in import profile

from specdeck.config.objects import Server
from specdeck.errors import Refused, TransportError
from specdeck.parsing.cgroup import Owner
from specdeck.services.acting import act
from specdeck.services.launcher import Launcher
from specdeck.services.runs import Look
from specdeck.services.target import Target
from specdeck.state.snapshot import ActKind


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


async def test_a_child_that_is_born_after_the_sigterm_is_killed_with_the_others(local_bench: Made) -> None:
    one = await local_bench(mode="breeds")
    await one.do("launch")
    await one.until_it_listens()
    before = one.holders()
    steps = await one.do("stop")
    late = [int(file.name) for file in one.stand_in.gpus.glob("[0-9]*") if int(file.name) not in before]
    assert late, "a child was born"
    assert names(steps)[-1] == "done"
    assert "kill" in names(steps)
    assert one.holders() == []


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
    async with asyncio.timeout(90):
        async for step in act(one.launcher, one.transport, one.server, plan):
            seen.append(step.name)
            if step.name == "port-free":
                assert one.holders() == []
                await one.until_memory_is_waited_for()
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
    one = await bench(profile("one"), profile("two", env={"STAND_IN": "liar"}), rollback=True)  # ready, by its word
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
    async with asyncio.timeout(90):
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


async def test_the_engine_is_looked_for_with_the_environment_that_the_server_will_have(local_bench: Made) -> None:
    one = await local_bench()
    site, away = one.stand_in.folder / "site", one.stand_in.folder / "elsewhere"
    site.rename(away)
    bare = await one.launcher.plan("launch", "kimi")
    assert [check.name for check in bare.checks if check.state == "failed"] == ["version"]
    given = await local_bench(profile("one", env={"PYTHONPATH": str(away)}), python=sys.executable)
    plan = await given.launcher.plan("launch", "kimi")
    assert [check.detail for check in plan.checks if check.name == "version"] == ["SGLang 0.5.12"]


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

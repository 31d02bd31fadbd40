"""Workers that an engine left behind: shown as orphans, and ended only by their identity, never a stranger."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from pwd import getpwuid

import pytest
from tests.services.bench import Bench, Made, end, is_alive, names
from tests.services.test_stopped import SMI
from tests.services.test_wrong_target import running, stat_of

from specdeck.cli.state_words import orphan_lines
from specdeck.errors import Refused
from specdeck.parsing.cgroup import Owner
from specdeck.parsing.nvidia_smi import ProcessRow
from specdeck.services import runs
from specdeck.services.acting import act
from specdeck.services.ender import Ender, for_question, place_of
from specdeck.services.gpu_processes import gpu_process
from specdeck.services.journal import Step
from specdeck.services.open_deck import open_deck
from specdeck.services.survey import Survey, read_survey
from specdeck.state.gpus import with_processes
from specdeck.state.snapshot import FleetState, HostState


@pytest.fixture(autouse=True)
async def nobody_ends() -> None:
    """One process of a host is ended at a time, whoever asks, and these tests share the host."""
    async with asyncio.timeout(90):
        while Path("/tmp/specdeck-port-0.lock").exists():  # noqa: ASYNC110, ASYNC240 - a file tells nobody
            await asyncio.sleep(0.02)


ROW = ProcessRow("GPU-0", 4711, "sglang::scheduler_TP0", 76000)
STAT = "4711 (sglang::schedul) S {parent} 4700 4700 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 9 0 5000 0 0"
FIRST = "1 ({name}) S 0 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 3 0 0"


@contextmanager
def left_behind(title: str, memory: Path | None = None) -> Iterator[int]:
    """A process of that title whose parent is gone; `memory` is the folder in which it says what it holds."""
    code = f"exec -a {title!r} sleep 600"
    shell = subprocess.run(
        ["sh", "-c", 'setsid bash -c "$1" >/dev/null 2>&1 & echo $!', "sh", code], capture_output=True, check=True
    )
    pid = int(shell.stdout)
    start = stat_of(pid).start_time
    if memory is not None:
        (memory / str(pid)).write_text("76000\n")
    try:
        yield pid
    finally:
        end(pid, start)


def ender_of(one: Bench) -> Ender:
    return Ender(one.stand_in.fleet(one.host), {"lab": one.transport}, lambda: 0.0)


async def ended(one: Bench, pid: int) -> list[Step]:
    """Plan it and do it to its end."""
    ender = ender_of(one)
    plan = await ender.plan("lab", pid)
    return [step async for step in act(ender, one.transport, place_of("lab"), plan)]


async def test_an_orphan_is_ended_and_its_memory_is_waited_for(local_bench: Made) -> None:
    one = await local_bench()
    with (
        left_behind("sglang::scheduler_TP0", one.stand_in.gpus) as pid,
        left_behind("sglang::scheduler_TP0") as another,
    ):
        plan = await ender_of(one).plan("lab", pid)
        assert (plan.pid, plan.gpu_memory_mib, plan.start_time) == (pid, 76000, stat_of(pid).start_time)
        me = getpwuid(os.getuid()).pw_name
        assert for_question(plan).startswith(f"end pid {pid} on lab (sglang::scheduler_TP0 600 of user {me}, ")
        assert for_question(plan).endswith("left behind by its server), which holds 76,000 MiB of GPU memory?")
        steps = await ended(one, pid)
        told = [name for name in names(steps) if name != "waiting"]
        assert told == ["asked", "identified", "term", "gone", "memory-back", "done"]
        assert not is_alive(pid)
        assert is_alive(another)
    audit = (one.stand_in.folder / "state" / "specdeck" / ".ended" / "audit").read_text()
    assert f"pid-{pid}" in audit


@pytest.mark.parametrize("title", ["python3", "sglang", "my-sglang::scheduler"])
async def test_what_is_no_known_worker_is_never_ended(local_bench: Made, title: str) -> None:
    one = await local_bench()
    with left_behind(title) as pid:
        with pytest.raises(Refused, match=f"pid {pid} of lab .* is no worker that an engine left behind"):
            await ender_of(one).plan("lab", pid)
        assert is_alive(pid)


async def test_a_worker_whose_parent_lives_is_never_ended(local_bench: Made) -> None:
    one = await local_bench()
    with running("bash", "-c", 'exec -a "VLLM::EngineCore" sleep 600') as worker:
        with pytest.raises(Refused, match="is no worker that an engine left behind"):
            await ender_of(one).plan("lab", worker.pid)
        assert is_alive(worker.pid)


async def test_a_pid_that_is_another_process_by_now_is_never_ended(local_bench: Made) -> None:
    one = await local_bench()
    with left_behind("VLLM::EngineCore") as first, left_behind("VLLM::EngineCore") as second:
        plan = await ender_of(one).plan("lab", first)
        with pytest.raises(Refused, match="is another process by now"):
            await ender_of(one).perform(replace(plan, pid=second, start_time=1))
        assert is_alive(second)


async def test_a_worker_that_a_unit_looks_after_is_left_to_it(
    local_bench: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await local_bench()
    monkeypatch.setattr(runs, "owner_of", lambda cgroup, ours: Owner("systemd", "vllm.service"))
    with left_behind("VLLM::EngineCore") as pid:
        plan = await ender_of(one).plan("lab", pid)
        assert [check.detail for check in plan.checks if check.state == "failed"] == [
            "systemd unit vllm.service looks after it: end it there"
        ]
        with pytest.raises(Refused, match="looks after it"):
            await ender_of(one).perform(plan)
        assert is_alive(pid)


def survey(parent: int, first: str = "systemd") -> Survey:
    """A survey with one worker on a GPU."""
    lines = f"@uptime 3650.00\n@stat {FIRST.format(name=first)}\n@stat {STAT.format(parent=parent)}\n@user 4711 carol\n"
    return read_survey(lines.encode())


def test_an_orphan_is_told_with_its_user_and_age() -> None:
    process = gpu_process(ROW, survey(1), None, now=10_000.0)
    assert (process.user, process.since, process.is_orphan) == ("carol", 6400.0, True)


def test_status_names_an_orphan_with_all_that_a_decision_needs_and_the_verb_that_ends_it() -> None:
    host = HostState("lab", "lab", processes=(gpu_process(ROW, survey(1), None, now=10_000.0),))
    assert orphan_lines(FleetState(10_000.0, (host,)), 10_000.0) == [
        "lab: pid 4711 sglang::scheduler_TP0 of user carol, 1h00m old holds 76,000 MiB and belongs to no server: "
        "`specdeck end lab 4711`"
    ]


def test_a_worker_of_a_living_parent_or_of_an_engine_that_is_the_first_process_of_a_container_is_no_orphan() -> None:
    assert not gpu_process(ROW, survey(4000), None, 0.0).is_orphan
    assert not gpu_process(ROW, survey(1, first="python3"), None, 0.0).is_orphan


def test_what_belongs_to_the_family_of_a_server_is_no_orphan() -> None:
    process = gpu_process(ROW, survey(1), "kimi", 0.0)
    assert not process.is_orphan
    assert with_processes(HostState("lab", "lab"), [gpu_process(ROW, survey(1), None, 0.0)], ()).processes[0].is_orphan


async def test_a_deck_shows_an_orphan_and_tells_how_its_end_went(local_bench: Made) -> None:
    one = await local_bench()
    (one.stand_in.folder / "bin" / "nvidia-smi").write_text(SMI)
    with left_behind("VLLM::EngineCore") as pid:
        (one.stand_in.gpus / "state").write_text("4")
        (one.stand_in.gpus / "state.engine_pid").write_text(str(pid))
        async with asyncio.timeout(90), open_deck(one.stand_in.fleet(one.host)) as deck:
            async for state in deck.store.changes(at_most_every_seconds=0.05):
                if any(process.is_orphan for host in state.hosts for process in host.processes):
                    break
            await deck.perform(await deck.plan("end", f"{pid}@lab"))
            async for state in deck.store.changes(at_most_every_seconds=0.05):
                if told := [each.text for each in state.happenings if each.text.startswith("end pid")]:
                    break
        assert told == [f"end pid {pid}: done"]
        assert not is_alive(pid)


async def test_a_read_only_deck_ends_nothing(local_bench: Made) -> None:
    one = await local_bench()
    with left_behind("VLLM::EngineCore") as pid:
        async with open_deck(one.stand_in.fleet(one.host), read_only=True) as deck:
            await deck.wait_answered(20.0)
            plan = await deck.plan("end", f"{pid}@lab")
            with pytest.raises(Refused, match="read-only"):
                await deck.perform(plan)
        assert is_alive(pid)

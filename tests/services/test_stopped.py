"""Stopped means: the whole family gone, the port closed, the GPU memory back; what cannot be ended is named and watched."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.services.bench import Bench, Made, end, is_alive, names
from tests.services.stand_in import StandIn
from tests.services.test_wrong_target import running, stat_of

from specdeck.services import launcher
from specdeck.services.acting import act
from specdeck.services.journal import Step
from specdeck.services.left import is_still_left
from specdeck.services.open_deck import open_deck
from specdeck.state.snapshot import ServerState, Word
from specdeck.transport.script import script_text

CASES = Path(__file__).parents[1] / "cases"
FREEZER = Path("/sys/fs/cgroup/freezer")

SMI = """#!/bin/sh
# What the case's engine says it holds; it names the engine while that lives.
echo "$*" >>"$GPUS/asked"
read -r used <"$GPUS/state" || [ -n "$used" ] || used=4
pid=$(cat "$GPUS/state.engine_pid" 2>/dev/null)
case "$*" in
*query-compute-apps=pid,used_memory*) [ ! -d "/proc/${pid:-x}" ] || grep -q ') Z' "/proc/$pid/stat" || echo "$pid, $used" ;;
*query-compute-apps=gpu_uuid*) [ ! -d "/proc/${pid:-x}" ] || echo "GPU-0, $pid, VLLM::EngineCore, $used" ;;
*query-gpu=memory.used*) echo "$used" ;;
*) exit 2 ;;
esac
"""


def server_is(one: StandIn, command: str) -> None:
    """The stand-in's server is this command; its other uses of Python stay."""
    shebang, as_before = one.python.read_text().split("\n", 1)
    one.python.write_text(f'{shebang}\nif [ "$1" = -m ]; then\n{command}\nfi\n{as_before}')


@pytest.fixture
def tree(stand_in: StandIn) -> Iterator[Path]:
    """The case's server whose workers leave its process group; the path that its pid files begin with."""
    text = (CASES / "B35_orphan_workers" / "fake_tree.sh").read_text()
    told, deaf = 'echo $$ > "$pidfile"\n', "[ \"$mode\" = stubborn ] && trap '' TERM\n"
    assert told + deaf in text
    text = text.replace(
        told + deaf, deaf + told
    )  # once it is there, it does not hear, and for longer than anybody waits
    text = text.replace("end=$((SECONDS + 20))", 'end=$((SECONDS + 3)); [ "$mode" = plain ] || end=$((SECONDS + 600))')
    script = stand_in.folder / "fake_tree.sh"
    script.write_text(text)
    server_is(stand_in, f'exec bash {script} {stand_in.folder}/tree "$TREE"')
    born = time.time()
    yield stand_in.folder / "tree"
    for name in ("tree", "tree.workers", "tree.bystander"):
        for pid in read_pids(stand_in.folder / name):
            end(pid, started_before=born + 60)


def read_pids(path: Path) -> list[int]:
    """The pids of a file, one a line."""
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def give_back(state: Path) -> None:
    """The driver has taken back what the engine held."""
    state.write_text("4")


async def until_there(path: Path, count: int = 1) -> list[int]:
    """The pids of a file once it has so many."""
    async with asyncio.timeout(90):
        while len(pids := read_pids(path)) < count:  # noqa: ASYNC110 - a file tells nobody that it is there
            await asyncio.sleep(0.02)
    return pids


async def done(one: Bench, seconds: float = 120) -> list[Step]:
    """A stop to its end."""
    async with asyncio.timeout(seconds):
        return await one.do("stop")


@pytest.mark.parametrize("mode", ["plain", "stubborn"])
async def test_workers_with_titles_and_sessions_of_their_own_end_with_their_server(
    local_bench: Made, tree: Path, mode: str
) -> None:
    one = await local_bench(kill_after_seconds=1 if mode == "stubborn" else 30)
    one.server.env["TREE"] = mode  # type: ignore[index]
    await one.do("launch")
    workers = await until_there(tree.with_name("tree.workers"), 3)
    await until_there(tree)
    with running("bash", "-c", 'exec -a "sglang::scheduler_TP0" sleep 600') as somebody_elses:
        steps = await done(one)
        assert is_alive(somebody_elses.pid)
    assert names(steps)[-1] == "done"
    assert [pid for pid in workers if is_alive(pid)] == []
    assert ("kill" in names(steps)) == (mode == "stubborn")


async def test_a_training_that_a_start_script_began_beside_a_server_of_others_lives_on(
    local_bench: Made, tree: Path
) -> None:
    one = await local_bench(port=30000)
    with running("bash", str(one.stand_in.folder / "fake_tree.sh"), str(tree)) as parent:
        workers = await until_there(tree.with_name("tree.workers"), 3)
        (bystander,) = await until_there(tree.with_name("tree.bystander"))
        async with asyncio.timeout(90):
            while b"launch_server" not in Path(f"/proc/{parent.pid}/cmdline").read_bytes():  # noqa: ASYNC110, ASYNC240
                await asyncio.sleep(0.05)
        plan = await one.launcher.plan("stop", "kimi")
        assert plan.pid == parent.pid
        family = {pid for pid, _ in plan.family}
        assert family >= {parent.pid, *workers}
        assert bystander not in family
        steps = await done(one)
        assert names(steps)[-1] == "done"
        assert [pid for pid in workers if is_alive(pid)] == []
        assert is_alive(bystander)


@pytest.fixture
def engine(stand_in: StandIn) -> Iterator[Path]:
    """The case's API process with an engine child; the path of its state file. The slow driver is the test: it is of no family."""
    text = (
        (CASES / "B36_port_free_memory_held" / "fake_engine.py").read_text().replace("if os.fork() == 0:", "if False:")
    )
    script = stand_in.folder / "fake_engine.py"
    script.write_text(text)
    (stand_in.folder / "bin" / "nvidia-smi").write_text(SMI)
    state = stand_in.gpus / "state"
    server_is(stand_in, f"exec {sys.executable} {script} {stand_in.port} {state}")
    born = time.time()
    yield state
    for pid in read_pids(state.with_name("state.engine_pid")):
        end(pid, started_before=born + 60)


async def test_the_next_run_starts_after_the_memory_is_back_not_when_the_port_is_free(
    local_bench: Made, engine: Path
) -> None:
    one = await local_bench()
    await one.do("launch")
    first = await until_there(engine.with_name("state.engine_pid"))
    seen: list[Step] = []
    async with asyncio.timeout(90):
        async for step in act(one.launcher, one.transport, one.server, await one.launcher.plan("relaunch", "kimi")):
            seen.append(step)
            if step.name == "port-free":
                await one.until_memory_is_waited_for()
                give_back(engine)
    steps, order = seen, names(seen)
    assert order.index("port-free") < order.index("memory-back") < order.index("launched")
    async with asyncio.timeout(90):  # else the second engine is born after everything was ended, and stays
        while read_pids(engine.with_name("state.engine_pid")) in ([], first):  # noqa: ASYNC110 - a file tells nobody
            await asyncio.sleep(0.02)
    assert {step.name: step.detail for step in steps}["memory-back"] == "76000 MiB"
    assert "Free memory" not in await one.until("log", run="0002")
    give_back(engine)


async def test_an_engine_that_outlives_its_api_process_is_named_and_a_stop_ends_it(
    local_bench: Made, engine: Path
) -> None:
    one = await local_bench()
    await one.do("launch")
    (pid,) = await until_there(engine.with_name("state.engine_pid"))
    os.kill(one.pid(), signal.SIGKILL)
    await one.until("exit")
    server = await word_of(one, Word.CRASHED, lambda server: bool(server.evidence.process.family))
    assert server.because[0].startswith("exit 137, SIGKILL: ")
    assert server.because[0].endswith("of its family still live")
    assert f"pid {pid} {Path(sys.executable).name}" in server.because[1]
    assert server.because[1].endswith("still live and hold 76,000 MiB of GPU memory: a stop ends them")
    give_back(engine)
    steps = await done(one)
    assert names(steps)[-2:] == ["memory-back", "done"]
    assert not is_alive(pid)


async def word_of(one: Bench, word: Word, is_it: Callable[[ServerState], bool] = lambda server: True) -> ServerState:
    """The server's state once its word is this."""
    fleet = one.stand_in.fleet(one.host)
    async with asyncio.timeout(90), open_deck(fleet, read_only=True) as deck:
        async for state in deck.store.changes(at_most_every_seconds=0.05):
            server = state.server("kimi")
            if server and server.word is word and is_it(server):
                return server
    raise AssertionError(word)


async def test_a_server_that_becomes_a_zombie_is_stopped_at_once(local_bench: Made) -> None:
    one = await local_bench(mode="stubborn", kill_after_seconds=1)
    words = [str(one.stand_in.python), "-m", "sglang.launch_server", "--port", str(one.stand_in.port)]
    with running(*words, env=one.stand_in.env) as unreaped:
        await one.until_it_listens()
        steps = await done(one)
        assert stat_of(unreaped.pid).is_dead
    assert names(steps)[-1] == "done"


def test_a_process_whose_first_thread_has_ended_is_no_zombie() -> None:
    code = (
        "import ctypes, threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\n"
        "print(1, flush=True)\nctypes.CDLL(None).syscall(60, 0)"
    )
    with running(sys.executable, "-c", code) as headless:
        assert headless.stdout is not None
        headless.stdout.readline()
        while stat_of(headless.pid).state != "Z":
            time.sleep(0.01)
        stat = stat_of(headless.pid)
        assert (stat.state, stat.is_dead) == ("Z", False)
        assert lives_by_shell(headless.pid, stat.start_time)


def test_a_child_that_nobody_waits_for_is_gone() -> None:
    with running(sys.executable, str(CASES / "B41_zombie_or_unkillable" / "mkzombie.py")) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        while stat_of(pid).state != "Z":
            time.sleep(0.01)
        os.kill(pid, 0)
        stat = stat_of(pid)
        assert stat.is_dead
        assert not lives_by_shell(pid, stat.start_time)


def lives_by_shell(pid: int, start_time: int) -> bool:
    """What the scripts on the host make of a process."""
    text = f"set -f\n{script_text('proc')}\nproc_lives {pid} {start_time}"
    return subprocess.run(["sh", "-s"], input=text.encode(), timeout=20, check=False).returncode == 0


@pytest.fixture
def frozen() -> Iterator[Path]:
    """A control group whose processes do not even end by SIGKILL while it is frozen."""
    folder = FREEZER / f"specdeck-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this machine has no freezer that a test may use")
    yield folder
    (folder / "freezer.state").write_text("THAWED")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with suppress(OSError):
            folder.rmdir()
            return


async def test_a_process_that_sigkill_does_not_end_blocks_until_it_is_gone(
    local_bench: Made, frozen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        launcher, "script_text", lambda name: script_text(name).replace("unkillable_seconds=30", "unkillable_seconds=1")
    )
    one = await local_bench(kill_after_seconds=1)
    await one.do("launch")
    await one.until_it_listens()
    stuck = one.holders()[0]
    (frozen / "cgroup.procs").write_text(str(stuck))
    (frozen / "freezer.state").write_text("FROZEN")
    steps = await done(one)
    assert names(steps)[-1] == "blocked"
    assert steps[-1].detail.startswith(f"SIGKILL does not end {stuck} python")
    assert "(D, 1000 MiB)" in steps[-1].detail
    assert names(steps).count("kill") == 1
    server = await word_of(one, Word.BLOCKED)
    assert server.because[0] == steps[-1].detail
    (frozen / "freezer.state").write_text("THAWED")
    assert (await word_of(one, Word.STOPPED)).because[0].startswith("stopped as asked")


async def test_a_start_that_swallows_sigterm_is_asked_again_once_it_listens(local_bench: Made) -> None:
    one = await local_bench(mode="swallows", drain_seconds=25, kill_after_seconds=30)
    await one.do("launch")
    await until_it_holds(one)
    steps: list[Step] = []
    async with asyncio.timeout(90):
        async for step in act(one.launcher, one.transport, one.server, await one.launcher.plan("stop", "kimi")):
            steps.append(step)
            if step.name == "term":
                (one.stand_in.gpus / "go").touch()
    asked = [step.detail.partition(" asked again: ")[2] for step in steps if step.name == "term"]
    assert asked == ["", "it came up after the first SIGTERM"]
    assert "kill" not in names(steps)
    assert names(steps)[-1] == "done"


async def until_it_holds(one: Bench) -> None:
    """Its workers hold GPU memory, whether it listens or not."""
    async with asyncio.timeout(90):
        while not one.holders():  # noqa: ASYNC110 - a file tells nobody that it is there
            await asyncio.sleep(0.02)


async def test_a_stranger_that_had_the_port_all_along_does_not_block_a_stop(local_bench: Made) -> None:
    one = await local_bench(mode="silent")
    await one.do("launch")
    await until_it_holds(one)
    stranger = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", one.stand_in.port)
    async with stranger:
        steps = await done(one)
    told = {step.name: step.detail for step in steps}
    assert f"is listened on by pid {os.getpid()}" in told["port-of-others"]
    assert names(steps)[-1] == "done"


async def test_memory_that_others_take_meanwhile_is_not_waited_for(local_bench: Made) -> None:
    one = await local_bench()
    await one.do("launch")
    await one.until_it_listens()
    plan = await one.launcher.plan("stop", "kimi")
    with running("sleep", "600") as others_job:
        async with asyncio.timeout(90):
            async for step in act(one.launcher, one.transport, one.server, plan):
                if step.name == "term":
                    (one.stand_in.gpus / str(others_job.pid)).write_text("50000\n")
        assert step.name == "done"
        (one.stand_in.gpus / str(others_job.pid)).unlink()


STUCK = "77700 (sglang::schedul) D 1 77700 77700 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 5000 0 0"


def test_what_a_stop_left_is_there_until_the_host_shows_that_it_is_gone() -> None:
    left = "processes 77637:4000 77700:5000"
    spinning = STUCK.replace("77700", "77637").replace(" D ", " R ").replace(" 5000 ", " 4000 ")

    def is_left(left: str, stats: dict[int, str]) -> bool:
        return is_still_left(left, stats, is_listening=False, unclaimed_mib=None)

    assert is_left(left, {})
    assert is_left(left, {77637: "", 77700: STUCK})
    assert is_left(left, {77637: spinning, 77700: ""})
    assert not is_left(left, {77637: "", 77700: ""})
    assert not is_left(left, {77637: "", 77700: STUCK.replace(" 5000 ", " 9000 ")})
    assert not is_left(left, {77637: "", 77700: STUCK.replace(" D ", " Z ")})


def test_a_port_or_memory_that_a_stop_left_is_watched_as_well() -> None:
    assert is_still_left("port 30000", {}, is_listening=True, unclaimed_mib=None)
    assert not is_still_left("port 30000", {}, is_listening=False, unclaimed_mib=None)
    assert is_still_left("memory 800", {}, is_listening=False, unclaimed_mib=None)
    assert is_still_left("memory 800", {}, is_listening=False, unclaimed_mib=76000)
    assert not is_still_left("memory 800", {}, is_listening=False, unclaimed_mib=4)

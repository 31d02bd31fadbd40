"""Nothing is left of a demo, however it ends; and nothing else is touched."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from tests.demo.running import V1, start
from tests.waiting import until

from specdeck.demo.host import DemoHost
from specdeck.demo.identity import is_alive, start_time

DEMO = """\
import asyncio
from specdeck.demo.host import DemoHost
from tests.demo.running import V1, start

async def main():
    async with DemoHost(speed=1000) as demo:
        engine = await start(demo, V1)
        await engine.ready()
        print(demo.tree.root, demo.guard_pid, engine.pid, *engine.children(), flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def members(demo_id: str) -> list[int]:
    """Living processes that carry a demo's id."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"SPECDECK_DEMO_ID={demo_id}".encode() in words:
                found.append(int(entry.name))
    return found


async def test_the_end_of_the_demo_ends_servers_in_sessions_of_their_own() -> None:
    async with DemoHost(speed=1000) as demo:
        engine = await start(demo, V1)
        await engine.ready()
        assert len(members(demo.demo_id)) >= 12
        guard = demo.guard_pid
    assert members(demo.demo_id) == []
    assert not demo.tree.root.exists()
    assert start_time(guard) is None


async def test_a_killed_demo_leaves_nothing_behind() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", DEMO), stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(90):
            root, *words = (await process.stdout.readline()).decode().split()
        pids = [(int(word), start_time(int(word)) or 0) for word in words]
    finally:
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()
    assert len(pids) == 2 + 12
    assert all(started for _, started in pids)
    await until(lambda: not any(is_alive(*pid) for pid in pids), "all processes of the demo are gone")
    await until(lambda: not Path(root).exists(), "its folder is gone")


async def test_a_server_ends_by_itself_if_even_the_guard_is_gone() -> None:
    async with DemoHost(speed=1000) as demo:
        gone = await asyncio.create_subprocess_exec("sleep", "30")
        owner = f"{gone.pid} {start_time(gone.pid)}"
        engine = await start(demo, V1, env=f'SPECDECK_DEMO_OWNER="{owner}"')
        await engine.ready()
        gone.kill()
        await gone.wait()
        assert await engine.ended() == 137


async def test_a_stranger_with_another_id_is_not_touched() -> None:
    async with DemoHost(speed=1000) as demo:
        other = await _sleeper({"SPECDECK_DEMO_ID": demo.demo_id[:-1] + "x"})
        mentioned = await _sleeper({"NOTE": f"SPECDECK_DEMO_ID={demo.demo_id}"})
        own = await _sleeper({"SPECDECK_DEMO_ID": demo.demo_id})
    assert await own.wait() == -signal.SIGKILL
    for process in (other, mentioned):
        assert process.returncode is None
        process.kill()
        await process.wait()


async def _sleeper(environment: dict[str, str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec("sleep", "30", env={**os.environ, **environment})

"""Every failure that can be asked of the engine, told apart by specdeck's own reader."""

import asyncio
import socket

import pytest
from tests.demo.running import READY, V2, Engine, ask, start, used_mib
from tests.demo.shapes import real, shapes

from specdeck.config.fleet import load_fleet
from specdeck.demo.host import DemoHost
from specdeck.engines.reader import LogReader
from specdeck.state.log_story import LogStory


def story(engine: Engine) -> LogStory:
    """What specdeck reads in the log."""
    reader = LogReader()
    reader.feed((engine.folder / "log").read_bytes(), 0.0)
    reader.end()
    return reader.story


async def test_rank_three_runs_out_of_memory(demo: DemoHost) -> None:
    engine = await start(demo, V2, env="SPECDECK_DEMO_FAIL=oom-rank3")
    assert await engine.ended() == 137
    told = story(engine)
    assert told.word == "crashed"
    assert told.cause is not None
    assert (told.cause.kind, told.cause.rank) == ("out-of-memory", "TP3")
    assert told.cause.hint == "Lower --mem-fraction-static or the largest CUDA graph batch."
    assert engine.log.rstrip().endswith("Received sigquit from a child process. It usually means the child failed.")
    assert await used_mib(demo) == [0] * 8


async def test_missing_model_ends_with_the_real_traceback(demo: DemoHost) -> None:
    engine = await start(demo, V2, env="SPECDECK_DEMO_FAIL=model")
    assert await engine.ended() == 1
    told = story(engine)
    assert told.cause is not None
    assert told.cause.kind == "missing-model"


async def test_unknown_flag_ends_with_usage_as_argparse_writes_it(demo: DemoHost) -> None:
    engine = await start(demo, "--no-such-flag 3")
    assert await engine.ended() == 2
    assert engine.log.splitlines()[3].startswith("usage: sglang serve [-h] --model-path MODEL_PATH")
    assert engine.log.endswith("sglang serve: error: unrecognized arguments: --no-such-flag 3\n")
    told = story(engine)
    assert told.cause is not None
    assert told.cause.kind == "bad-argument"


async def test_port_in_use_is_found_last_and_fired_up_is_said_all_the_same(demo: DemoHost) -> None:
    with socket.create_server(("127.0.0.1", demo.ports["kimi"])):
        engine = await start(demo)
        assert await engine.ended() == 1
    assert READY in engine.log
    assert shapes(engine.log) - real("fail_port_in_use/B_second.log") == set()
    told = story(engine)
    assert told.cause is not None
    assert told.cause.kind == "port-in-use"


async def test_silent_death_leaves_an_open_bar(demo: DemoHost) -> None:
    engine = await start(demo, V2, env="SPECDECK_DEMO_FAIL=silent")
    assert await engine.ended() == 137
    last = engine.log.split("\r")[-1]
    assert last.startswith("Multi-thread loading shards:  61% Completed | 39/64 [")
    assert await used_mib(demo) == [0] * 8


async def test_hang_comes_while_serving(demo: DemoHost) -> None:
    engine = await start(demo, V2, env="SPECDECK_DEMO_FAIL=hang")
    await engine.ready()
    async with asyncio.timeout(90):
        while (await ask(engine.port, "/health"))[0] != 503:
            pass
    assert "Health check failed. Server couldn't get a response from detokenizer" in engine.log


async def test_crash_comes_while_serving(demo: DemoHost) -> None:
    engine = await start(demo, V2, env="SPECDECK_DEMO_FAIL=crash")
    assert await engine.ended() == 137
    assert READY in engine.log
    assert "Subprocess scheduler_0 (pid=" in engine.log


async def test_two_servers_that_do_not_fit_on_one_gpu_run_out_of_memory(demo: DemoHost) -> None:
    first = await start(demo)
    await first.ready()
    second = await start(demo, name="qwen")
    assert await second.ended() == 137
    told = story(second)
    assert told.cause is not None
    assert told.cause.kind == "out-of-memory"
    assert (told.cause.hint or "").startswith("Process ")


@pytest.mark.parametrize(
    "name", ["demo-oom", "demo-silent", "demo-model", "demo-port", "demo-hang", "demo-crash", "demo-bad-flag"]
)
async def test_each_failure_has_a_profile_in_the_demos_fleet(demo: DemoHost, name: str) -> None:
    fleet = load_fleet(demo.fleet_path)
    kimi = fleet.server("kimi")
    assert kimi is not None
    assert kimi.profiles[:3] == ("eagle3-v1", "eagle3-v2", "baseline")
    assert name in kimi.profiles
    assert fleet.profiles[name].describe.startswith("Demo of a failure, ")


async def test_both_servers_of_the_fleet_fit_on_the_host_together(demo: DemoHost) -> None:
    kimi = await start(demo, V2)
    await kimi.ready()
    flags = "--model-path {models}/qwen3-8b --base-gpu-id 7 --mem-fraction-static 0.14 --speculative-algorithm EAGLE3"
    qwen = await start(demo, flags, name="qwen", tp=1)
    await qwen.ready()
    used = await used_mib(demo)
    assert used[0] < used[7] < 143_771

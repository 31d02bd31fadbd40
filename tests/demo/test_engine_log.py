"""The simulated engine's log: read by specdeck's own reader, and compared with what a real SGLang 0.5.12 wrote on an H200."""

import pytest
from tests.demo.running import V1, V2, ask, start
from tests.demo.shapes import real, shapes

from specdeck.demo.host import DemoHost
from specdeck.engines.reader import LogReader

V1_LOG, V2_LOG, BASELINE_LOG = "eagle3_v1_b/server.log", "eagle3_v2/server.log", "baseline/server.log"


@pytest.mark.parametrize(("flags", "capture"), [(V1, V1_LOG), (V2, V2_LOG), ("", BASELINE_LOG)])
async def test_every_line_of_a_start_has_the_shape_of_a_real_one(demo: DemoHost, flags: str, capture: str) -> None:
    engine = await start(demo, flags)
    await engine.ready()
    assert shapes(engine.log) - real(capture) == set()


async def test_lines_under_load_have_the_shape_of_real_ones(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    await ask(engine.port, "/generate", {"text": "x", "sampling_params": {"max_new_tokens": 130}})
    log = engine.log
    assert "Decode batch, #running-req: 1, " in log
    assert '"POST /generate HTTP/1.1" 200 OK' in log
    assert shapes(log) - real(V1_LOG) == set()


async def test_a_speculative_start_tells_its_eleven_phases(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    reader = LogReader()
    reader.feed((engine.folder / "log").read_bytes(), 0.0)
    story = reader.story
    assert story.engine == "sglang"
    assert story.word == "ready"
    assert [span.name for span in story.phases][-10:] == [
        "arguments", "processes", "distributed", "weights", "kv_cache", "graphs", "draft_weights", "draft_graphs", "http",
        "warm_up",
    ]  # fmt: skip


async def test_only_rank_zero_draws_bars_and_every_rank_tells_its_weights(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    log = engine.log
    assert log.count("100% Completed | 64/64") == 1
    assert [f" TP{rank}] Load weight end. elapsed=" in log for rank in range(8)] == [True] * 8
    assert log.count("\n") < log.count("\r")


async def test_topk_above_one_means_v1_whatever_the_variable_says(demo: DemoHost) -> None:
    engine = await start(demo, V1, env="SGLANG_ENABLE_SPEC_V2=True")
    await engine.ready()
    assert "because spec v2 currently only supports topk = 1." in engine.log


async def test_the_variable_brings_v1_back_where_topk_is_one(demo: DemoHost) -> None:
    engine = await start(demo, V2, env="SGLANG_ENABLE_SPEC_V2=False")
    await engine.ready()
    assert "because SGLANG_ENABLE_SPEC_V2=False." in engine.log

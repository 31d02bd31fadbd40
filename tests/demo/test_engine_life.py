"""Serving and ending: HTTP while it starts, serves, drains and hangs; signals; what is left of it."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.demo.running import V1, V2, ask, start, used_mib
from tests.waiting import until

from specdeck.demo.host import DemoHost
from specdeck.demo.identity import is_alive, start_time
from specdeck.engines.registry import ENGINES

GENERATE = {"text": "abcd" * 10, "sampling_params": {"max_new_tokens": 24}}
CAPTURES = Path(__file__).parents[1] / "captures" / "sglang_h200"


async def test_processes_are_named_and_grouped_as_the_real_ones(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    ranks = engine.ranks()
    assert {f"sglang::scheduler_TP{number}" for number in range(8)} | {"sglang::detokenizer"} <= set(ranks)
    assert any("_inductor/compile_worker" in title for title in ranks)
    assert {os.getsid(pid) for pid in ranks.values()} == {os.getsid(engine.pid)}
    assert read(f"/proc/{engine.pid}/cmdline").startswith("python3\0-m\0sglang.launch_server\0--model-path\0")
    assert read(f"/proc/{ranks['sglang::scheduler_TP3']}/comm") == "sglang::schedul\n"


def read(path: str) -> str:
    """A file of /proc."""
    return Path(path).read_text("utf-8")


async def test_one_rank_alone_has_no_number(demo: DemoHost) -> None:
    engine = await start(demo, "--model-path {models}/qwen3-8b", tp=1)
    await engine.ready()
    assert "sglang::scheduler" in engine.ranks()
    assert " TP0]" not in engine.log


async def test_counters_agree_with_the_tokens_handed_out(demo: DemoHost) -> None:
    engine = await start(demo, V2)
    await engine.ready()
    for _ in range(2):
        status, body = await ask(engine.port, "/generate", GENERATE)
        assert status == 200
        assert '"completion_tokens": 24' in body.replace('":', '": ')
    _, page = await ask(engine.port, "/metrics")
    assert 'sglang:realtime_tokens_total{engine_type="unified",mode="decode",' in page
    assert [line.split()[-1] for line in page.splitlines() if 'mode="decode",' in line] == ["48.0"]
    assert [line.split()[-1] for line in page.splitlines() if line.startswith("sglang:generation_tokens_total{")] == [
        "48.0"
    ]


async def test_the_engine_of_specdeck_reads_load_and_metrics(demo: DemoHost) -> None:
    engine = await start(demo, V2)
    await engine.ready()
    await ask(engine.port, "/generate", GENERATE)
    probes = {probe.kind: probe for probe in ENGINES["sglang"].probes}
    _, metrics = await ask(engine.port, probes["metrics"].path)
    assert ENGINES["sglang"].read_answer(probes["metrics"], metrics.encode()).decode_tokens == 24
    _, load = await ask(engine.port, probes["load"].path)
    reading = ENGINES["sglang"].read_answer(probes["load"], load.encode())
    assert (reading.running, reading.queued) == (0, 0)


async def test_metrics_have_the_names_and_types_of_the_real_ones(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    _, page = await ask(engine.port, "/metrics")
    real = (CAPTURES / "eagle3_v1_b" / "load8_under_metrics.txt").read_text("utf-8")
    kinds = [line for line in page.splitlines() if line.startswith("# TYPE")]
    assert kinds == [line for line in real.splitlines() if line.startswith("# TYPE")]


async def test_unknown_paths_and_metrics_that_are_off_are_not_found(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    assert await ask(engine.port, "/ready") == (404, '{"detail":"Not Found"}')
    assert (await ask(engine.port, "/v1/models"))[0] == 200


async def test_a_stream_hands_out_every_token_and_an_end(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    status, body = await ask(engine.port, "/v1/completions", {"prompt": "x", "max_tokens": 20, "stream": True})
    assert status == 200
    assert '"completion_tokens":20' in body
    assert "data: [DONE]" in body


async def test_chat_is_told_in_its_own_form(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    body = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 3}
    status, text = await ask(engine.port, "/v1/chat/completions", body)
    told = json.loads(text)
    assert (status, told["object"], told["usage"]["completion_tokens"]) == (200, "chat.completion", 3)
    assert told["choices"][0]["message"]["content"] == " the deck holds"
    _, text = await ask(engine.port, "/v1/chat/completions", {**body, "stream": True})
    assert '"object":"chat.completion.chunk"' in text
    assert '"delta":{"role":"assistant","content":" the' in text


async def test_sigterm_lets_requests_end_then_kills_itself(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    async with _stream(engine.port, tokens=60) as reader:
        await until(lambda: "Prefill batch, #new-seq: 1, #new-token: 5" in engine.log, "the request runs")
        os.kill(engine.pid, signal.SIGTERM)
        await until(lambda: "SIGTERM received." in engine.log, "the signal is taken")
        assert (await ask(engine.port, "/health"))[0] == 503
        assert (await ask(engine.port, "/generate", GENERATE))[0] == 503
        assert b'"completion_tokens":60' in await reader.read()
    assert await engine.ended() == 128 + signal.SIGKILL
    log = engine.log
    assert "Gracefully exiting... Remaining number of requests 1." in log
    assert log.rstrip().endswith(
        "Gracefully exiting... Remaining number of requests 0. Remaining requests remaining_rids=[]."
    )
    assert await used_mib(demo) == [0] * 8


@asynccontextmanager
async def _stream(port: int, tokens: int) -> AsyncIterator[asyncio.StreamReader]:
    """A streamed completion with a prompt of five tokens."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = b'{"prompt": "%s", "max_tokens": %d, "stream": true}' % (b"x" * 20, tokens)
    head = f"POST /v1/completions HTTP/1.1\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    try:
        yield reader
    finally:
        writer.close()


async def test_abort_ends_what_a_drain_would_wait_for(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    async with _stream(engine.port, tokens=100000) as reader:
        await until(lambda: "Prefill batch, #new-seq: 1, #new-token: 5" in engine.log, "the request runs")
        os.kill(engine.pid, signal.SIGTERM)
        await until(lambda: "Remaining number of requests 1." in engine.log, "it drains")
        assert (await ask(engine.port, "/abort_request", {"rid": "", "abort_all": True}))[0] == 200
        assert b'"finish_reason":"abort"' in await reader.read()
    assert await engine.ended() == 128 + signal.SIGKILL


async def test_sigint_closes_the_port_and_ends_well(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    os.kill(engine.pid, signal.SIGINT)
    assert await engine.ended() == 0


async def test_sigterm_while_loading_ends_everybody_at_once(demo: DemoHost) -> None:
    engine = await start(demo, V1, env="SPECDECK_DEMO_SPEED=50")
    await until(lambda: "Load weight begin" in engine.log, "it loads")
    ranks = [(pid, start_time(pid) or 0) for pid in engine.children()]
    assert len(ranks) == 10
    os.kill(engine.pid, signal.SIGTERM)
    assert await engine.ended() == 128 + signal.SIGTERM
    await until(lambda: not any(is_alive(*rank) for rank in ranks), "the ranks die with their parent")
    assert await used_mib(demo) == [0] * 8


async def test_killed_parent_takes_its_ranks_along(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    ranks = [(pid, start_time(pid) or 0) for pid in engine.children()]
    os.kill(engine.pid, signal.SIGKILL)
    await until(lambda: not any(is_alive(*rank) for rank in ranks), "the ranks die with their parent")
    assert await used_mib(demo) == [0] * 8


async def test_killed_rank_ends_the_server_in_the_real_words(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    pid = engine.ranks()["sglang::scheduler_TP0"]
    os.kill(pid, signal.SIGKILL)
    assert await engine.ended() == 128 + signal.SIGKILL
    assert engine.log.splitlines()[-2:] == [
        f"{engine.log.splitlines()[-2][:22]}Subprocess scheduler_0 (pid={pid}) crashed with exit code -9. Triggering SIGQUIT "
        "for cleanup...",
        f"{engine.log.splitlines()[-1][:22]}SIGQUIT received. signum=None, frame=None. It usually means one child failed.",
    ]


async def test_stopped_scheduler_is_a_hang_and_comes_back(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    pid = engine.ranks()["sglang::scheduler_TP0"]
    os.kill(pid, signal.SIGSTOP)
    assert (await ask(engine.port, "/v1/models"))[0] == 200
    assert (await ask(engine.port, "/health"))[0] == 503
    assert "Health check failed. Server couldn't get a response from detokenizer for last 20 seconds." in engine.log
    assert await _hangs(engine.port, "/v1/loads")
    os.kill(pid, signal.SIGCONT)
    assert (await ask(engine.port, "/health"))[0] == 200


async def _hangs(port: int, path: str) -> bool:
    try:
        await ask(port, path, limit_seconds=0.5)
    except TimeoutError:
        return True
    return False

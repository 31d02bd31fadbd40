"""python fake_servers.py PLAN: one process that is the server of every host of a lab: a port, a log and real metrics each.

PLAN is JSON: {"servers": [{"port": 1, "log": "/path", "metrics": "/path"}], "lines_per_second": 1}. Each server answers /health,
/v1/loads and /metrics, whose decode counter grows, and writes lines as a serving engine does.
"""

import asyncio
import json
import re
import sys
import time
from pathlib import Path

LOADS = {
    "version": "0.5.12",
    "loads": [{"dp_rank": 0, "num_running_reqs": 8, "num_waiting_reqs": 0, "token_usage": 0.25}],
}
COUNTER = re.compile(
    rb'((?:sglang:realtime_tokens_total\{[^}]*mode="decode"[^}]*|vllm:generation_tokens_total\{[^}]*)\}) [0-9.e+]+'
)


def answer(path: str, metrics: bytes) -> bytes:
    """Body of the reply; empty: not found."""
    if path.startswith("/health"):
        return b"ok"
    if path.startswith("/v1/loads"):
        load = LOADS["loads"][0] | {"num_running_reqs": 6 + int(time.time()) % 5}  # type: ignore[operator]
        return json.dumps(LOADS | {"loads": [load]}).encode()
    if path.startswith("/metrics"):
        return COUNTER.sub(rb"\1 %d" % (1000 * time.time() % 1e9), metrics)
    return b""


async def serve(port: int, metrics: bytes) -> None:
    """HTTP with keep-alive, as far as a client of a few paths needs it."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await reader.readline():
            while (await reader.readline()).strip():
                pass
            body = answer(request.split()[1].decode(), metrics)
            status = "200 OK" if body else "404 Not Found"
            writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()

    await asyncio.start_server(talk, "127.0.0.1", port)


async def write(log: Path, per_second: float) -> None:
    """Decode lines for ever, in bundles of at most 20 a second."""
    count = 0
    with log.open("a", buffering=1) as file:
        while True:
            bundle = max(1, round(per_second / 20))
            for _ in range(bundle):
                count += 1
                file.write(
                    f"[{time.strftime('%Y-%m-%d %H:%M:%S')} TP0] Decode batch, #running-req: {6 + count % 5}, "
                    f"#token: {4000 + count % 999}, token usage: 0.2{count % 10}, cuda graph: True, "
                    f"gen throughput (token/s): {800 + count % 97}.31, #queue-req: 0\n"
                )
            await asyncio.sleep(bundle / per_second)


async def main() -> None:
    """All servers, for ever."""
    plan = json.loads(Path(sys.argv[1]).read_text())  # noqa: ASYNC240 - nothing else runs yet
    async with asyncio.TaskGroup() as tasks:
        for server in plan["servers"]:
            await serve(server["port"], Path(server["metrics"]).read_bytes())  # noqa: ASYNC240
            if plan["lines_per_second"]:
                tasks.create_task(write(Path(server["log"]), plan["lines_per_second"]))
        print("listening", flush=True)
        await asyncio.Event().wait()


asyncio.run(main())

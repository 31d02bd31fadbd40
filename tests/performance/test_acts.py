"""The tool's own share of a stop with a launch, beside a shell script written by hand that verifies the same steps."""

import asyncio
import subprocess
import time

from tests.performance.conftest import Tell
from tests.services.bench import Bench, Made, end, local_bench, stand_in

from specdeck.services.acting import act
from specdeck.services.runs import look

__all__ = ["local_bench", "stand_in"]

BY_HAND = r"""
set -e
pid=$1 port=$2 python=$3 model=$4 log=$5
hex=$(printf '%04X' "$port")
listens() { grep -q ":$hex 0*:0000 0A" /proc/net/tcp; }
held() { nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader,nounits; }
family="$pid $(cat /proc/"$pid"/task/"$pid"/children)"
[ -n "$(held)" ]
kill -TERM "$pid"
for member in $family; do while [ -d /proc/"$member" ] && ! grep -q ') Z' /proc/"$member"/stat; do sleep 0.05; done; done
while listens; do sleep 0.05; done
while [ -n "$(held)" ]; do sleep 0.05; done
setsid "$python" -m sglang.launch_server --model-path "$model" --host 127.0.0.1 --port "$port" </dev/null >"$log" 2>&1 &
echo "$!"
"""


async def serving_pid(bench: Bench) -> int:
    """The pid of who listens, once somebody does."""
    async with asyncio.timeout(30):
        while not (seen := await look(bench.transport, bench.server)).owners:
            pass
    return seen.owners[0].pid


async def by_hand(bench: Bench, pid: int) -> float:
    """Seconds of the script; what it launched is ended."""
    server, began = bench.server, time.monotonic()
    script = await asyncio.create_subprocess_exec(
        *("sh", "-c", BY_HAND, "sh", str(pid), str(server.port), server.python, server.model),
        str(bench.stand_in.folder / "by-hand.log"),
        env=bench.stand_in.env, stdout=subprocess.PIPE,
    )  # fmt: skip
    said, _ = await asyncio.wait_for(script.communicate(), 30)
    took = time.monotonic() - began
    end(int(said), started_before=time.time())
    assert script.returncode == 0
    return took


async def by_specdeck(bench: Bench) -> float:
    """Seconds from the decision to the last step of the journal, as the command line tells it."""
    plan = await bench.launcher.plan("relaunch", "kimi")
    began = time.monotonic()
    steps = [step.name async for step in act(bench.launcher, bench.transport, bench.server, plan)]
    assert (steps[0], steps[-1]) == ("asked", "done")
    return time.monotonic() - began


async def test_a_stop_with_a_launch_takes_hardly_longer_than_by_hand(local_bench: Made, tell: Tell) -> None:
    bench = await local_bench()
    await bench.do("launch", "one")
    await serving_pid(bench)
    took = await by_specdeck(bench)
    floor = await by_hand(bench, await serving_pid(bench))
    tell("stop + launch", f"{took:.2f} s (+ {took - floor:.2f})", f"{floor:.2f} s by hand", "+ 0.5 s")
    assert took < floor + 20

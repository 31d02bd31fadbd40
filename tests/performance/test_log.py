"""Log bytes into events, beside bare decoding and splitting; and a log that is far too long to be read."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.performance.budgets import ratio
from tests.performance.conftest import Tell

from specdeck.config.objects import Host
from specdeck.engines.reader import LogReader
from specdeck.services.log_follower import LogFollower, LogTarget
from specdeck.state.events import Event, LogAdvanced
from specdeck.state.log_story import LogStory
from specdeck.transport.base import Outcome
from specdeck.transport.local import LocalTransport
from specdeck.transport.script import Script

CAPTURE = Path(__file__).parents[1] / "captures" / "sglang" / "serve.log"
SERVING = CAPTURE.parents[1] / "sglang_h200" / "baseline" / "server.log"
CHUNK = 64 * 1024
TWO_GB = 2_000_000_000
DECODE = (
    b"[2026-11-29 18:00:00] Decode batch, #running-req: 17, #token: 4644, token usage: 0.57, cpu graph: False, "
    b"gen throughput (token/s): 321.50, #queue-req: 3\n"
)


def speed_of(read: Callable[[bytes], object], content: bytes) -> float:
    """Bytes a second of CPU time, the best of some runs."""
    best = 0.0
    for _ in range(4):
        began = time.process_time()
        read(content)
        best = max(best, len(content) / (time.process_time() - began))
    return best


def decode_and_split(content: bytes) -> None:
    """The floor: lines, each decoded."""
    for begin in range(0, len(content), CHUNK):
        for line in content[begin : begin + CHUNK].split(b"\n"):
            line.decode("utf-8", "replace")


def read_as_sglang(content: bytes) -> LogStory:
    """What specdeck does with it, up to what its event holds."""
    reader = LogReader("sglang")
    for begin in range(0, len(content), CHUNK):
        reader.feed(content[begin : begin + CHUNK], 0.0)
    reader.end()
    return reader.story


def content_of(what: str) -> bytes:
    """Some MB: 25 lives one after the other, a longer one on a GPU, or what a busy one writes most."""
    life = SERVING.read_bytes()
    begin, end = life.index(b"\n", life.index(b"fired up and ready")) + 1, life.rindex(b"[", 0, life.index(b"SIGTERM"))
    contents = {
        "starts, requests and stops": CAPTURE.read_bytes() * 25,
        "a start, then an hour of requests": life[:end] + life[begin:end] * 63,
        "decode lines": DECODE * 15_000,
    }
    return contents[what]


@pytest.mark.parametrize("what", ["starts, requests and stops", "a start, then an hour of requests", "decode lines"])
def test_log_bytes_become_events_at_a_fair_part_of_the_speed_of_splitting(what: str, tell: Tell) -> None:
    content = content_of(what)
    floor, speed = speed_of(decode_and_split, content), speed_of(read_as_sglang, content)
    told = f"{speed / 1e6:.0f} MB/s ({ratio(speed, floor)})"
    tell(f"log bytes to events, {what}", told, f"{floor / 1e6:.0f} MB/s", "0.25 x")
    assert speed > floor / 200


class CountingTransport(LocalTransport):
    """This machine; counts what its scripts say."""

    received = 0

    async def run(self, script: Script, *, limit_seconds: float = 30.0) -> Outcome:
        """As ever."""
        outcome = await super().run(script, limit_seconds=limit_seconds)
        self.received += len(outcome.stdout)
        return outcome


def write_long_log(path: Path) -> None:
    """2 GB: the start of a server at the head, its newest words at the tail, a hole between them."""
    content = CAPTURE.read_bytes()
    with path.open("wb") as file:
        file.write(content)
        file.seek(TWO_GB - 3_000_000)
        file.write(b"\n" + DECODE * 10_000)
        file.truncate(TWO_GB)
        file.seek(TWO_GB - len(DECODE) - 1)
        file.write(b"\n" + DECODE)


async def test_a_log_of_two_gigabytes_is_understood_without_reading_it(tmp_path: Path, tell: Tell) -> None:
    log = tmp_path / "log"
    write_long_log(log)
    told: asyncio.Queue[LogStory] = asyncio.Queue()

    def post(event: Event) -> None:
        if isinstance(event, LogAdvanced):
            told.put_nowait(event.story)

    transport = CountingTransport(Host("lab", "localhost"))
    await transport.connect()
    follower = LogFollower("kimi", post, time.time)
    began = time.monotonic()
    follower.aim(LogTarget(str(log), "0001", "sglang"))
    running = asyncio.create_task(follower.run(transport))
    try:
        async with asyncio.timeout(30):
            story = await told.get()
    finally:
        running.cancel()
        await asyncio.wait({running})
        await transport.close()
    took = time.monotonic() - began
    tell("attach to a 2 GB log", f"{took:.2f} s", f"{transport.received / 1e6:.1f} MB read", "2 s, no whole copy")
    assert story.has_ready_line
    assert story.batch is not None
    assert (story.batch.tok_s, story.batch.running, story.batch.queued) == (321.5, 17, 3)
    assert transport.received < 20_000_000

"""Going to any moment of a recording: the state, the log and the numbers are those of that moment, whichever way it was reached."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from tests.engines.reading import CAPTURES

from specdeck.errors import Refused
from specdeck.services.recordings import read_recording
from specdeck.services.replaying_deck import ReplayingDeck, open_replaying_deck
from specdeck.state.snapshot import ServerState
from specdeck.transport.replay_clock import ReplayClock, ReplayLoop

SGLANG = CAPTURES / "recordings" / "sglang_baseline.rec.gz"
"""Launched 24 s in, ready at 169 s, busy from 176 to 236 s, asked to stop at 244 s, gone at 247 s: read from its lines."""


@asynccontextmanager
async def sglang_replay() -> AsyncIterator[ReplayingDeck]:
    recording = read_recording(SGLANG)
    clock = ReplayClock(recording.began, asyncio.get_running_loop().time)
    async with open_replaying_deck(recording, clock) as deck:
        yield deck


def on_replay_loop(work: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        await work()

    with asyncio.Runner(loop_factory=lambda: ReplayLoop(1.0)) as runner:
        runner.run(run())


async def seen_at(deck: ReplayingDeck, seconds: float) -> ServerState:
    await deck.go_to(deck.recording.began + seconds)
    server = deck.store.state.server("sglang")
    assert server is not None
    return server


def test_back_and_ahead_the_word_is_that_of_the_moment() -> None:
    async def work() -> None:
        async with sglang_replay() as deck:
            words = [str((await seen_at(deck, at)).word) for at in (200, 60, 180, 5)]
        assert words == ["ready", "starting", "ready", "stopped"]

    on_replay_loop(work)


def test_a_moment_looks_the_same_from_both_sides() -> None:
    async def work() -> None:
        async with sglang_replay() as deck:
            deck.pause(is_paused=True)
            first = await seen_at(deck, 206)
            lines = deck.log_lines("sglang", 0)
            await seen_at(deck, 249)
            again = await seen_at(deck, 206)
            assert deck.is_paused
            assert deck.now() == pytest.approx(deck.recording.began + 206, abs=0.5)
            assert [line.text for line in deck.log_lines("sglang", 0)] == [line.text for line in lines]
        assert first.story is not None
        assert again.story is not None
        assert [span.name for span in again.story.phases] == [span.name for span in first.story.phases]
        assert first.throughput is not None
        assert again.throughput is not None
        assert again.throughput.tok_s == pytest.approx(first.throughput.tok_s, rel=0.25)

    on_replay_loop(work)


def test_before_its_begin_and_after_its_end_there_is_nothing() -> None:
    async def work() -> None:
        async with sglang_replay() as deck:
            deck.pause(is_paused=True)
            await deck.go_to(0.0)
            assert deck.now() == pytest.approx(deck.recording.began, abs=0.5)
            await deck.go_to(deck.recording.ended + 1000)
            assert deck.now() == pytest.approx(deck.recording.ended, abs=0.5)

    on_replay_loop(work)


def test_nothing_can_be_done_to_a_recording() -> None:
    async def work() -> None:
        async with sglang_replay() as deck:
            await seen_at(deck, 200)
            with pytest.raises(Refused, match="a recording"):
                await deck.plan("stop", "sglang")

    on_replay_loop(work)

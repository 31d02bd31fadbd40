"""A moment of a recording as a scene: what the dashboard shows of a host that really was so."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from specdeck.parsing.lines import Line
from specdeck.services.recordings import open_replay, read_recording
from specdeck.state.snapshot import FleetState
from specdeck.transport.replay_clock import ReplayClock, ReplayLoop


def moment(path: Path, at: float, server: str) -> tuple[FleetState, Sequence[Line]]:
    """The fleet and one server's log at a moment, unix seconds; replayed from the beginning, on a loop that waits for nothing."""

    async def watch() -> tuple[FleetState, Sequence[Line]]:
        recording = read_recording(path)
        clock = ReplayClock(recording.began, asyncio.get_running_loop().time)
        async with open_replay(recording, clock) as deck:
            deck.look_at(server)
            await deck.wait_answered(10.0)
            await asyncio.sleep(at - clock.now())
            return deck.store.state, deck.log_lines(server, 0)

    with asyncio.Runner(loop_factory=lambda: ReplayLoop(None)) as runner:
        return runner.run(watch())

"""A recording holds what was asked about servers that others started: without it they are not in what is replayed."""

import asyncio
import os
from pathlib import Path

from specdeck.config.objects import Host
from specdeck.services.discovery import discover
from specdeck.services.survey import describe
from specdeck.transport.local import LocalTransport
from specdeck.transport.recording import RecordingTransport
from specdeck.transport.replay import ReplayTransport
from specdeck.transport.replay_clock import ReplayClock
from specdeck.transport.tape import TapeWriter, read_tape


async def test_what_a_process_of_others_is_and_which_there_are_come_back_out_of_a_recording(tmp_path: Path) -> None:
    tape = TapeWriter(tmp_path / "tape.gz", {"began": 1.0})
    host = RecordingTransport(LocalTransport(Host("lab", "localhost")), "lab", tape, lambda: 7.0)
    then = (await describe(host, [os.getpid()]), await discover(host))
    tape.close()
    assert then[0][os.getpid()].argv
    _, entries = read_tape(tmp_path / "tape.gz")
    replay = ReplayTransport(entries, "lab", ReplayClock(8.0, asyncio.get_running_loop().time))
    assert (await describe(replay, [os.getpid()]), await discover(replay)) == then

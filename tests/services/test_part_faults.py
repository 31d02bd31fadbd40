"""An exception in any part of the watching is one line, tried again; no other part and no other host notices (case B60)."""

import logging
from dataclasses import replace
from pathlib import Path

import pytest
from tests.services.lab import Lab
from tests.services.waiting import until

from specdeck.services import host_monitor, open_deck, supervised

PARTS = {
    "specdeck.services.watching.WatchingDeck._discover": "discovery on lab: ValueError: it fell; trying again",
    "specdeck.services.start_history.StartHistory._look": "past starts on lab: ValueError: it fell; trying again",
    "specdeck.services.host_monitor.HostMonitor._life": "monitor of lab: ValueError: it fell; trying again",
    "specdeck.services.host_monitor.HostMonitor._tick": "monitor: ValueError: it fell; trying again",
    "specdeck.services.host_monitor.HostMonitor._survey": "survey: ValueError: it fell; trying again",
    "specdeck.services.gpu_watch.GpuWatch.run": "nvidia-smi: ValueError: it fell; trying again",
    "specdeck.services.gpu_checkup.GpuCheckUps.run": "GPU check: ValueError: it fell; trying again",
    "specdeck.services.disk_watch.DiskWatch.run": "disk check: ValueError: it fell; trying again",
    "specdeck.services.log_follower.LogFollower.run": "log of kimi: ValueError: it fell; trying again",
    "specdeck.services.probe_loop.ProbeLoop.run": "health of kimi: ValueError: it fell; trying again",
}


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


@pytest.mark.parametrize("part", PARTS)
async def test_a_part_that_raises_is_told_and_tried_again_while_all_others_go_on(
    part: str, lab: Lab, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervised, "FIRST_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(host_monitor, "FAULT_PAUSE_SECONDS", 0.05)
    falls = 0

    async def fall(*_: object) -> None:
        nonlocal falls
        falls += 1
        raise ValueError("it fell")

    one = lab.local().hosts[0]
    other = replace(one, name="other", servers=())
    monkeypatch.setattr(part, fall)
    with caplog.at_level(logging.ERROR, "specdeck"):
        async with open_deck.open_deck(replace(lab.local(), hosts=(one, other))) as deck:
            await until(deck, lambda state: PARTS[part] in [line.text for line in state.happenings])
            await until(deck, lambda state: falls >= 2)
            before = deck.store.state.at
            await until(deck, lambda state: state.at > before + 0.5)
    assert any(record.exc_info for record in caplog.records)


async def test_the_same_fault_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised, "FIRST_PAUSE_SECONDS", 0.0)
    lines: list[object] = []
    falls = 0

    async def work() -> None:
        nonlocal falls
        falls += 1
        if falls < 5:
            raise ValueError("again \x1b[2J")

    await supervised.supervised("clock", work, lines.append)
    assert falls == 5
    assert [str(getattr(line, "text", "")) for line in lines] == ["clock: ValueError: again ; trying again"]

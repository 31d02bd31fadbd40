"""How long starts took is kept with the runs on the host and in a cache here, and makes the next start's estimate."""

import json
from pathlib import Path
from typing import cast

import pytest
from tests.services.lab import Lab
from tests.services.waiting import kimi, until

from specdeck.quick_dataclass import replace
from specdeck.services import host_monitor, start_history
from specdeck.services.open_deck import open_deck
from specdeck.services.start_cache import StartCache
from specdeck.services.start_history import StartHistory
from specdeck.services.start_records import read_start, start_line
from specdeck.services.store import Store
from specdeck.state.eta import eta_of
from specdeck.state.initial import initial_state
from specdeck.state.log_story import LogStory, PhaseSpan
from specdeck.state.reduce import reduce
from specdeck.state.snapshot import RunIdentity, Word
from specdeck.state.starts import PastStart
from specdeck.transport.base import Outcome, Transport
from specdeck.transport.script import Script

START = PastStart(
    "kimi", "0001", "/data/models/kimi", "eagle3-v2", "sglang", "0.5.12", "boot-1", 1_795_960_000.0,
    (("import", 9.0), ("weights", 20.5), ("http", 1.0)), is_cold=True,
)  # fmt: skip


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ticks as the deck takes them while something changes, and shorter."""
    monkeypatch.setattr(host_monitor, "TICK_SECONDS", 0.2)
    monkeypatch.setattr(host_monitor, "FAST_TICK_SECONDS", 0.1)
    monkeypatch.setattr(host_monitor, "LEAST_SURVEY_SECONDS", 0.1)
    monkeypatch.setattr(start_history, "LOOK_SECONDS", 0.05)


def test_a_start_is_one_line_of_json_and_back() -> None:
    line = start_line(START)
    assert "\n" not in line
    told = json.loads(line)
    assert (told["engine"], told["engine_version"], told["profile"], told["model"], told["cold"], told["seconds"]) == (
        "sglang", "0.5.12", "eagle3-v2", "/data/models/kimi", True, 30.5,
    )  # fmt: skip
    assert told["phases"] == [["import", 9.0], ["weights", 20.5], ["http", 1.0]]
    assert read_start("kimi", "0001", line) == START


@pytest.mark.parametrize(
    "line", ["", "{", "[]", '{"schema": 1}', '{"schema": 2, "started": 1, "phases": [["a", 1]]}', "[" * 9999]
)
def test_a_line_that_makes_no_sense_is_no_start(line: str) -> None:
    assert read_start("kimi", "0001", line) is None


def test_the_cache_keeps_starts_by_host_and_a_broken_file_costs_nothing(tmp_path: Path) -> None:
    cache = StartCache(tmp_path / "deep" / "starts.sqlite")
    assert cache.load("root@gpu-a") == ()
    cache.keep("root@gpu-a", (START,))
    cache.keep("root@gpu-a", (START,))
    assert (cache.load("root@gpu-a"), cache.load("gpu-b")) == ((START,), ())
    (tmp_path / "broken").write_bytes(b"this is no database" * 100)
    broken = StartCache(tmp_path / "broken")
    broken.keep("root@gpu-a", (START,))
    assert broken.load("root@gpu-a") == ()


async def test_a_start_that_becomes_ready_is_kept_in_its_run_and_tells_the_next_one_how_long_it_takes(
    tmp_path: Path,
) -> None:
    lab = Lab(tmp_path)
    kept = lab.runs / "0001" / "phases"
    with lab.run("0001"):
        async with open_deck(lab.local()) as deck:
            await until(deck, lambda state: kimi(state).word is Word.READY and kimi(state).past_starts)
    line = kept.read_text()
    told = json.loads(line)
    # the log of the stand-in: weights from 14:59:50 to 15:00:00, warm-up to 15:00:01
    assert [pair for pair in told["phases"] if pair[1]] == [["weights", 10.0], ["warm_up", 1.0]]
    assert (told["profile"], told["model"], told["engine_version"]) == ("eagle3-v2", "/data/models/kimi", "0.5.12")
    (lab.folder / "slow").touch()
    with lab.run("0002"):
        async with open_deck(lab.local()) as deck:
            server = kimi(await until(deck, lambda state: eta_of(kimi(state), state.at) is not None))
            assert server.word is Word.STARTING
            eta = eta_of(server, deck.store.state.at)
            assert eta is not None
            assert eta.starts == (11.0,)
            assert 0 <= eta.seconds <= 11.0
    assert kept.read_text() == line
    kept.unlink()  # a run folder that was cleaned up: the cache still knows
    with lab.run("0003"):
        async with open_deck(lab.local()) as deck:
            await until(deck, lambda state: any(start.run == "0001" for start in kimi(state).past_starts))


class Writes:
    """A host whose scripts are counted."""

    def __init__(self) -> None:
        self.written: list[tuple[str, ...]] = []

    async def run(self, script: Script, *, limit_seconds: float = 30.0) -> Outcome:
        """Nothing was kept there yet."""
        if script.args:
            self.written.append(script.args)
        return Outcome(b"", b"", 0)


async def test_a_server_that_was_found_ready_before_its_log_was_read_is_kept_once_it_is(tmp_path: Path) -> None:
    lab, host = Lab(tmp_path), Writes()
    fleet = lab.local()
    store = Store(initial_state(fleet, 100.0), reduce, lambda: 100.0)
    history = StartHistory(fleet.hosts[0], cast("Transport", host), store, StartCache(None))
    run = RunIdentity("0001", 7, 8, "boot-1", profile="eagle3-v2", started_at=90.0)
    phases = (PhaseSpan("weights", 0.0, 10.0),)
    story = LogStory("sglang", word="ready", engine_version="0.5.12", has_ready_line=True, phases=phases)
    found = replace(kimi(store.state), word=Word.READY, run=run, engine_version="0.5.12")
    await history._take(found, run, 100.0)
    assert host.written == []
    read = replace(found, evidence=replace(found.evidence, story=story))
    await history._take(read, run, 101.0)
    await history._take(read, run, 102.0)
    assert [(server, number) for server, number, _ in host.written] == [("kimi", "0001")]

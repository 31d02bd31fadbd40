"""How long starts took is kept with the runs on the host and in a cache here, and makes the next start's estimate."""

import json
from pathlib import Path

import pytest
from tests.services.lab import Lab
from tests.services.waiting import kimi, until

from specdeck.services import host_monitor, start_history
from specdeck.services.open_deck import open_deck
from specdeck.services.start_cache import StartCache
from specdeck.services.start_records import read_start, start_line
from specdeck.state.eta import eta_of
from specdeck.state.snapshot import Word
from specdeck.state.starts import PastStart

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

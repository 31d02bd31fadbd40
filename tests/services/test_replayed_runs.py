"""Recordings of real servers from start to stop, through the whole deck: the words, phases and numbers that were seen then."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.engines.reading import CAPTURES
from tests.services.lab import Lab

from specdeck.cli.verbs.replay import command
from specdeck.errors import UsageError
from specdeck.services.opening_deck import OpeningDeck
from specdeck.services.recordings import open_replay, read_recording, recorded
from specdeck.state.snapshot import ServerState
from specdeck.transport.replay_clock import ReplayClock, ReplayLoop

RECORDINGS = CAPTURES / "recordings"


@dataclass(frozen=True)
class Seen:
    """One server at each second of a recording."""

    states: tuple[ServerState, ...]

    def told(self, key: Callable[[ServerState], object]) -> list[object]:
        """What it said, each change once."""
        said = [key(state) for state in self.states]
        return [word for place, word in enumerate(said) if word is not None and said[place - 1 : place] != [word]]

    @property
    def words(self) -> list[object]:
        return self.told(lambda server: str(server.word))

    @property
    def phases(self) -> list[object]:
        """While it started, without the seconds in which none was told."""
        spans = [state.story.phases for state in self.states if state.story is not None]
        return [span.name for span in max(spans, key=len)]


def watched(name: str, server: str, *, late_seconds: float = 0.0) -> Seen:
    """Every second of a recording, on a loop that waits for nothing; `late_seconds`: the watching began so far in."""

    async def watch() -> Seen:
        recording = read_recording(RECORDINGS / name)
        clock = ReplayClock(recording.began + late_seconds, asyncio.get_running_loop().time)
        states: list[ServerState] = []
        async with open_replay(recording, clock) as deck:
            await deck.wait_answered(10.0)
            while clock.now() < recording.ended + 3.0:
                await asyncio.sleep(1.0)
                found = deck.store.state.server(server)
                assert found is not None
                states.append(found)
        return Seen(tuple(states))

    with asyncio.Runner(loop_factory=lambda: ReplayLoop(None)) as runner:
        return runner.run(watch())


@pytest.fixture(scope="module")
def vllm() -> Seen:
    return watched("vllm_ngram.rec.gz", "vllm")


@pytest.fixture(scope="module")
def sglang() -> Seen:
    return watched("sglang_baseline.rec.gz", "sglang")


def settled(words: list[object]) -> list[object]:
    """Without the moments in which nobody had asked yet."""
    known = [word for word in words if word != "unknown"]
    return [word for place, word in enumerate(known) if known[place - 1 : place] != [word]]


def test_vllm_goes_from_stopped_to_ready_to_stopped_by_its_own_evidence(vllm: Seen) -> None:
    assert settled(vllm.words) == ["stopped", "starting", "ready", "stopping", "stopped"]
    assert vllm.phases == [
        "import",
        "arguments",
        "processes",
        "distributed",
        "weights",
        "draft_weights",
        "kv_cache",
        "http",
    ]
    last = vllm.states[-1]
    assert (last.evidence.process.state, last.evidence.process.exit_status, last.evidence.port.state) == (
        "gone",
        0,
        "closed",
    )
    assert last.because[0].startswith("stopped as asked")


def test_vllm_is_never_ready_before_its_health_says_so(vllm: Seen) -> None:
    ready = [state for state in vllm.states if state.word == "ready"]
    assert ready
    assert {state.evidence.http.state for state in ready} == {"ok"}
    assert {state.evidence.port.state for state in ready} == {"ours"}


def test_vllm_tells_its_version_mode_and_the_numbers_of_its_sixteen_requests(vllm: Seen) -> None:
    ready = [state for state in vllm.states if state.word == "ready"]
    assert (ready[-1].engine_version, ready[-1].story and ready[-1].story.speculation) == ("0.32.0", "ngram")
    fastest = max(state.throughput.tok_s for state in ready if state.throughput is not None)
    assert 640 / 12.5 <= fastest <= 640 / 7.5  # 16 times 40 tokens in a window of 10 s that is asked each 2 s
    assert max(state.requests_running or 0 for state in ready) == 8
    served = [state.serving for state in ready if state.serving is not None and state.serving.ttft is not None]
    assert {serving.accept_length for serving in served} == {1.0}  # a random model repeats nothing of its prompt
    assert all(serving.ttft and serving.ttft.p50 <= serving.ttft.p95 for serving in served)


def test_sglang_goes_from_stopped_to_ready_to_stopped_by_its_own_evidence(sglang: Seen) -> None:
    assert settled(sglang.words) == ["stopped", "starting", "ready", "stopping", "stopped"]
    assert sglang.phases == [
        "import",
        "arguments",
        "processes",
        "distributed",
        "weights",
        "kv_cache",
        "http",
        "warm_up",
    ]
    ready = [state for state in sglang.states if state.word == "ready"]
    assert {state.evidence.http.state for state in ready} == {"ok"}
    assert ready[-1].engine_version == "0.5.23"
    assert max(state.requests_running or 0 for state in ready) == 8
    assert sglang.states[-1].because[0].startswith("stopped as asked")


@pytest.mark.parametrize(
    ("name", "server", "late_seconds"),
    [("sglang_baseline.rec.gz", "sglang", 0.2), ("vllm_ngram.rec.gz", "vllm", 0.6), ("vllm_ngram.rec.gz", "vllm", 1.7)],
)
def test_the_words_are_the_same_whenever_the_monitors_of_a_replay_ask(
    name: str, server: str, late_seconds: float
) -> None:
    seen = watched(name, server, late_seconds=late_seconds)
    assert settled(seen.words) == ["stopped", "starting", "ready", "stopping", "stopped"]


def test_a_replay_leaves_nothing_among_the_starts_of_this_machine_and_takes_nothing_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert settled(watched("vllm_ngram.rec.gz", "vllm").words)[-1] == "stopped"
    assert list(tmp_path.rglob("*.sqlite")) == []


@pytest.mark.parametrize(("seconds", "word"), [(60.0, "starting"), (200.0, "ready"), (250.0, "stopped")])
def test_a_replay_that_begins_in_the_middle_says_what_was_so_then(seconds: float, word: str) -> None:
    seen = watched("sglang_baseline.rec.gz", "sglang", late_seconds=seconds)
    assert settled(seen.words)[0] == word


def test_the_verb_prints_one_object_a_second_to_the_end() -> None:
    shown = CliRunner().invoke(
        command, ["--json", "--speed", "max", "--from", "150", str(RECORDINGS / "vllm_ngram.rec.gz")]
    )
    objects = [json.loads(line) for line in shown.stdout.splitlines()]
    assert shown.exit_code == 0
    assert 20 < len(objects) < 40
    assert [server["state"] for server in objects[-1]["servers"]] == ["stopped", "stopped"]


@pytest.mark.parametrize("args", [["--speed", "fast"], ["--speed", "0"], []])
def test_what_cannot_be_done_is_a_usage_error(args: list[str]) -> None:
    assert isinstance(CliRunner().invoke(command, [*args, str(RECORDINGS / "vllm_ngram.rec.gz")]).exception, UsageError)


def test_a_file_that_is_no_recording_or_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello")
    for name in ("x", "nowhere"):
        with pytest.raises(UsageError, match=name):
            read_recording(tmp_path / name)


def test_a_place_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    fleet = read_recording(RECORDINGS / "vllm_ngram.rec.gz").fleet
    with pytest.raises(UsageError, match="cannot be written"), recorded(tmp_path / "no" / "tape", fleet):
        pass


async def test_a_dashboard_writes_down_what_made_its_server_ready(tmp_path: Path) -> None:
    lab, tape = Lab(tmp_path), tmp_path / "tape.gz"
    deck = OpeningDeck(lab.local(), is_read_only=True, record=tape)
    with lab.run():
        opening = asyncio.create_task(deck.keep_open())
        try:
            async with asyncio.timeout(20):
                async for state in deck.store.changes(at_most_every_seconds=0.05):
                    server = state.server("kimi")
                    is_read = server is not None and server.story is not None and server.story.word == "ready"
                    if server and is_read and server.word == "ready" and server.requests_running == 3:
                        break
        finally:
            opening.cancel()
            await asyncio.wait({opening})
    entries = read_recording(tape).entries
    pages = {entry.name.partition("/")[2]: entry.status for entry in entries if entry.kind == "http"}
    assert (pages["health"], pages["v1/loads"]) == (200, 200)
    assert any(b"fired up and ready to roll" in entry.content for entry in entries if entry.name.startswith("log_"))
    assert any(b"@item 0 profile eagle3-v2" in entry.content for entry in entries if entry.name == "monitor")

"""Recordings: what is written, what is not, and that a host out of a recording gives what was given, at its time."""

import asyncio
import gzip
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.services.scripted_http import Answer, scripted
from tests.waiting import until

from specdeck.config.objects import Host
from specdeck.errors import ScriptTimeout
from specdeck.transport import recording
from specdeck.transport.asking import Asker, NoReply, Reply
from specdeck.transport.local import LocalTransport
from specdeck.transport.recording import RecordingTransport
from specdeck.transport.replay import ReplayTransport
from specdeck.transport.replay_clock import ReplayClock, ReplayLoop
from specdeck.transport.replayed import ReplayedLog, ReplayedMonitor
from specdeck.transport.script import Script, script_text
from specdeck.transport.tape import Entry, TapeWriter, masked, read_tape

T = TypeVar("T")
NO_TIME = 5.0
"""An hour of a recording must pass within so many seconds of ours."""


def replayed(work: Awaitable[T], speed: float | None = None) -> T:
    """Run on a loop that waits for nothing."""

    async def run() -> T:
        return await work

    with asyncio.Runner(loop_factory=lambda: ReplayLoop(speed)) as runner:
        return runner.run(run())


def clock_of(began: float) -> ReplayClock:
    return ReplayClock(began, asyncio.get_running_loop().time)


def log_piece(at: float, offset: int, content: bytes) -> Entry:
    return Entry(at, "lab", "chunk", "log_follow", ("/log", str(offset), "0"), offset=offset, content=content)


async def test_scripts_and_answers_are_written_down_with_their_times_and_without_the_key(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"server_args=ServerArgs(api_key='very-secret', x=1)\n")
    tape = TapeWriter(tmp_path / "tape.gz", {"began": 1.0})
    host = RecordingTransport(LocalTransport(Host("lab", "localhost")), "lab", tape, lambda: 7.0, ["plain-secret"])
    routes = {"/health": Answer(), "/server_info": Answer(body='{"api_key": "very-secret", "x": "plain-secret"}')}
    async with scripted(routes) as web:
        asker = Asker(host, f"http://127.0.0.1:{web.port}", headers={"Authorization": "Bearer plain-secret"})
        for path in ("/health", "/server_info", "/server_info"):
            assert isinstance(await asker.get(path, limit_seconds=5.0), Reply)
        await asker.close()
    read = Script(script_text("log_read"), (str(tmp_path / "log"), "0", "1000"))
    outcome = await host.run(read)
    assert b"very-secret" in outcome.stdout  # the monitors get what the host gave
    await host.run(Script("echo other-secret"))
    tape.close()
    head, entries = read_tape(tmp_path / "tape.gz")
    assert head["began"] == 1.0
    assert [entry.name.partition("/")[2] or entry.name for entry in entries] == [
        "health",
        "server_info",
        "server_info",
        "log_read",
    ]
    assert {entry.at for entry in entries} == {7.0}
    assert all(entry.seconds is not None and 0 < entry.seconds < 5 for entry in entries[:3])
    assert entries[3].seconds is None
    assert entries[1].content == entries[2].content != b""
    assert len(entries[3].content) == len(outcome.stdout)
    assert b"secret" not in gzip.decompress((tmp_path / "tape.gz").read_bytes())


async def test_a_server_that_did_not_answer_within_the_limit_is_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the answer from before the server hung would be replayed as if it were new."""
    monkeypatch.setattr(recording, "NO_ANSWER_SECONDS", 0.04)
    tape = TapeWriter(tmp_path / "tape", {})
    host = RecordingTransport(LocalTransport(Host("lab", "localhost")), "lab", tape, lambda: 7.0)
    async with scripted({"/health": Answer(hangs=True)}) as web:
        asker = Asker(host, f"http://127.0.0.1:{web.port}")
        assert isinstance(await asker.get("/health", limit_seconds=0.05), NoReply)
        await asker.close()
    tape.close()
    (entry,) = read_tape(tmp_path / "tape")[1]
    assert (entry.status, entry.error) == (None, "ReadTimeout")
    assert entry.seconds is not None
    assert entry.seconds >= 0.04


async def test_a_question_that_ends_with_specdeck_says_nothing_of_the_server(tmp_path: Path) -> None:
    tape = TapeWriter(tmp_path / "tape", {})
    host = RecordingTransport(LocalTransport(Host("lab", "localhost")), "lab", tape, lambda: 7.0)
    async with scripted({"/health": Answer(hangs=True)}) as web:
        asker = Asker(host, f"http://127.0.0.1:{web.port}")
        asked = asyncio.create_task(asker.get("/health", limit_seconds=60.0))
        await until(lambda: web.asked["/health"], "the server is asked")
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await asker.close()
    tape.close()
    assert read_tape(tmp_path / "tape")[1] == ()


async def test_lines_of_a_channel_are_written_when_they_are_complete(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"one\nBearer very-sec")
    tape = TapeWriter(tmp_path / "tape", {})
    host = RecordingTransport(LocalTransport(Host("lab", "localhost")), "lab", tape, lambda: 7.0)
    follow = Script(script_text("log_follow"), (str(tmp_path / "log"), "0", "0"))
    async with asyncio.timeout(10), host.open(follow) as channel:
        seen = b""
        async for chunk in channel.chunks():
            seen += chunk
            if seen == b"one\nBearer very-sec":
                with (tmp_path / "log").open("ab") as log:
                    log.write(b"ret-word\n")
            if seen.endswith(b"ret-word\n"):
                break
    tape.close()
    _, entries = read_tape(tmp_path / "tape")
    assert [entry.offset for entry in entries] == [0, 4]
    assert b"".join(entry.content for entry in entries) == b"one\nBearer " + b"*" * 16 + b"\n"


@given(st.binary(max_size=200))
def test_masking_keeps_the_length(content: bytes) -> None:
    assert len(masked(content)) == len(content)
    assert len(masked(content + b" api_key='x' Bearer abcdefgh hf_abcdefghijklmnopqrstu")) == len(content) + 53


@pytest.mark.parametrize("content", [b"", b"hello\n", b'{"specdeck_recording": 99}\n', b"\xff\xfe", b"[1]\n"])
def test_a_file_that_is_no_recording_says_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tape").write_bytes(content)
    with pytest.raises(ValueError, match="it is no recording of this version of specdeck"):
        read_tape(tmp_path / "tape")


def test_a_full_disk_breaks_the_recording_off_and_is_told_once() -> None:
    told: list[str] = []
    tape = TapeWriter(Path("/dev/full"), {"began": 1.0}, told.append)
    for at in (100.0, 200.0, 300.0):
        tape.add(log_piece(at, 0, b"line\n"))
    tape.close()
    assert told == ["the recording broke off: /dev/full: No space left on device"]


def test_what_a_killed_recorder_wrote_can_be_read(tmp_path: Path) -> None:
    tape = TapeWriter(tmp_path / "tape.gz", {})
    for second in range(20):
        tape.add(Entry(float(second), "lab", "http", "1/x", status=200, content=b"%d" % second))
    cut = (tmp_path / "tape.gz").read_bytes()
    tape.close()
    (tmp_path / "cut.gz").write_bytes(cut)
    assert len(read_tape(tmp_path / "cut.gz")[1]) >= 17


def test_lines_of_a_recording_that_make_no_sense_are_left_out(tmp_path: Path) -> None:
    good = '{"at":2,"host":"a","kind":"http","name":"1/x","status":200}'
    lines = ['{"specdeck_recording":1}', "{", "[]", '{"at":"x","host":"a","kind":"run","name":"y"}', good, good[:20]]
    (tmp_path / "tape").write_text("\n".join(lines))
    assert [entry.name for entry in read_tape(tmp_path / "tape")[1]] == ["1/x"]


def test_a_page_is_the_newest_of_its_moment() -> None:
    entries = [
        Entry(110.0, "lab", "http", "1/health", error="ConnectError"),
        Entry(120.0, "lab", "http", "1/health", status=503),
        Entry(130.0, "lab", "http", "1/health", status=200, content=b"yes"),
    ]

    async def watch() -> list[int | str]:
        clock = clock_of(100.0)
        asker = Asker(ReplayTransport(entries, "lab", clock), "http://127.0.0.1:1")
        said: list[int | str] = []
        for _ in range(4):
            reply = await asker.get("/health", limit_seconds=5.0)
            said.append(reply.why if isinstance(reply, NoReply) else reply.status)
            await asyncio.sleep(10.5)
        await asker.close()
        return said

    assert replayed(watch()) == ["refused", "refused", 503, 200]


def test_an_answer_took_as_long_as_it_took_then() -> None:
    async def ask(seconds: float | None) -> Reply | NoReply:
        page = Entry(1.0, "lab", "http", "80/health", status=200, seconds=seconds)
        return await Asker(ReplayTransport([page], "lab", clock_of(9.0)), "http://127.0.0.1:80").get(
            "/health", limit_seconds=5.0
        )

    assert replayed(ask(0.0123)) == Reply(200, b"", 0.0123)
    old = replayed(ask(None))  # a recording that does not tell
    assert isinstance(old, Reply)
    assert old.seconds < 5


def test_a_page_that_is_asked_for_a_little_early_is_there_and_one_of_much_later_is_not() -> None:
    page = Entry(110.0, "lab", "http", "1/metrics", status=200)

    async def ask(at: float) -> bool:
        asker = Asker(ReplayTransport([page], "lab", clock_of(at)), "http://127.0.0.1:1")
        return isinstance(await asker.get("/metrics", limit_seconds=5.0), Reply)

    assert replayed(ask(107.0))
    assert not replayed(ask(90.0))


def test_a_log_grows_as_it_did() -> None:
    log = ReplayedLog([log_piece(1, 0, b"one\n"), log_piece(5, 4, b"two\n"), log_piece(9, 0, b"new")])
    assert [log.at(moment) for moment in (0, 1, 4, 5)] == [b"", b"one\n", b"one\n", b"one\ntwo\n"]
    cut = [Entry(8, "lab", "run", "log_size", ("/log",), content=b"@size 0 1 1"), log_piece(9, 0, b"new")]
    log = ReplayedLog([log_piece(1, 0, b"one\n"), *cut])
    assert log.at(9) == b"new"


def test_a_follower_gets_the_bytes_at_their_time() -> None:
    entries = [log_piece(101, 0, b"one\n"), log_piece(150, 4, b"two\n")]

    async def follow() -> list[tuple[bytes, int]]:
        clock = clock_of(100.0)
        host = ReplayTransport(entries, "lab", clock)
        seen = []
        async with host.open(Script(script_text("log_follow"), ("/log", "0", "0"))) as channel:
            async for chunk in channel.chunks():
                seen.append((chunk, round(clock.now())))
                if len(seen) == 2:
                    break
        return seen

    assert replayed(follow()) == [(b"one\n", 101), (b"two\n", 150)]


def test_a_log_that_was_not_there_yet_is_missing_until_it_was() -> None:
    look = Entry(100.0, "lab", "run", "log_size", ("/log",), status=0, content=b"@missing\n")

    async def ask(at: float) -> bytes:
        host = ReplayTransport([look, log_piece(150, 0, b"one\n")], "lab", clock_of(at))
        return (await host.run(Script(script_text("log_size"), ("/log",)))).stdout

    assert replayed(ask(120.0)) == b"@missing\n"
    assert replayed(ask(160.0)) == b"@size 4 150 160\n"


def test_the_monitor_answers_each_question_with_its_newest_words() -> None:
    said = "@run 0 0001\n@text 0 python3 -m x\n@pid 7 old\n@beat 1\n0, GPU row\n@run 0 0002\n@pid 7 new\n@listen 7530 5\n@beat 2"
    monitor = ReplayedMonitor((float(number), line) for number, line in enumerate(said.split("\n")))
    assert monitor.answer(["run 0 kimi", "pid 7", "text 0 /x"], 99.0) == [
        "@listen 7530 5",
        "@run 0 0002",
        "@pid 7 new",
        "@text 0 python3 -m x",
    ]
    assert monitor.answer(["pid 7", "pid 8"], 3.0) == ["@pid 7 old"]
    assert monitor.rows == [(4.0, "0, GPU row")]


def test_a_monitor_that_begins_later_is_greeted_as_the_first_was_and_the_clock_of_the_host_went_on() -> None:
    said = "@boot b1\n@clock 1000\n@home /h\n@beat 1\n@run 0 -\n@beat 2"
    monitor = ReplayedMonitor((float(number), line) for number, line in enumerate(said.split("\n")))
    assert monitor.greeting(0.0) == ["@boot b1", "@clock 997", "@home /h"]
    assert monitor.greeting(33.0) == ["@boot b1", "@clock 1030", "@home /h"]
    assert monitor.answer(["run 0 kimi"], 33.0) == ["@run 0 -"]


def test_what_is_asked_a_little_sooner_than_it_was_then_gets_the_answer_of_then() -> None:
    said = "@run 0 0001\n@beat 1\n@run 0 0001\n@pid 7 7 (python) R\n@beat 2"
    monitor = ReplayedMonitor((float(number), line) for number, line in enumerate(said.split("\n")))
    assert monitor.answer(["pid 7"], 2.0) == ["@pid 7 7 (python) R"]
    assert monitor.answer(["pid 7"], 1.0) == []


def test_a_script_says_what_it_said_to_the_most_alike_arguments() -> None:
    runs = [
        Entry(10.0, "lab", "run", "survey", ("", "gpus"), status=0, content=b"none"),
        Entry(20.0, "lab", "run", "survey", ("501", ""), status=0, content=b"some"),
    ]

    async def ask(*args: str) -> bytes:
        host = ReplayTransport(runs, "lab", clock_of(15.0))
        return (await host.run(Script(script_text("survey"), args))).stdout

    assert replayed(ask("501", "gpus, memory")) == b"some"
    assert replayed(ask("", "gpus")) == b"none"


def test_a_script_that_was_not_run_then_is_refused() -> None:
    async def ask() -> None:
        await ReplayTransport([], "lab", clock_of(0.0)).run(Script(script_text("survey"), ("", "")))

    with pytest.raises(ScriptTimeout, match="not in this recording"):
        replayed(ask())


def test_time_of_a_recording_pauses_and_is_moved() -> None:
    async def go() -> list[float]:
        clock = clock_of(100.0)
        await asyncio.sleep(10)
        clock.pause(is_paused=True)
        await asyncio.sleep(10)
        seen = [clock.now()]
        clock.move(30.0)
        seen.append(clock.now())
        clock.pause(is_paused=False)
        await asyncio.sleep(5)
        return [round(at) for at in (*seen, clock.now())]

    assert replayed(go()) == [110, 30, 35]


def test_a_hastened_loop_waits_for_nothing_up_to_the_moment_and_then_goes_at_its_speed() -> None:
    async def go() -> tuple[float, float]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, ReplayLoop)
        began, at = time.monotonic(), loop.time()
        loop.hasten(3600)
        await asyncio.sleep(3600)
        hastened = time.monotonic() - began
        await asyncio.sleep(1.0)
        return hastened, loop.time() - at

    hastened, passed = replayed(go(), speed=10.0)
    assert hastened < NO_TIME
    assert passed == pytest.approx(3601, abs=30)


def test_an_hour_passes_at_once_on_a_loop_that_waits_for_nothing() -> None:
    async def wait() -> float:
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time() - began

    assert replayed(asyncio.wait_for(wait(), 4000)) == pytest.approx(3600, abs=1)


def test_a_speed_shortens_every_wait() -> None:
    async def wait() -> float:
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(100)
        return asyncio.get_running_loop().time() - began

    assert replayed(wait(), speed=2000.0) == pytest.approx(100, rel=3)


def test_httpx_gets_an_answer_of_its_own_kind() -> None:
    async def ask() -> int:
        page = Entry(1.0, "lab", "http", "80/", status=204)
        async with httpx.AsyncClient(transport=ReplayTransport([page], "lab", clock_of(9.0)).http()) as client:
            return (await client.get("http://127.0.0.1:80/")).status_code

    assert replayed(ask()) == 204

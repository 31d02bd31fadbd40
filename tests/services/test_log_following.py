"""The log follower on this machine and through a real sshd: nothing twice, nothing lost."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.services.heard import Heard
from tests.transport.relay import running_relay
from tests.transport.test_half_open import go_through

from specdeck.config.objects import Host
from specdeck.errors import ConnectionLost
from specdeck.services import log_follower, log_lag, log_scan
from specdeck.services.log_follower import LogFollower, LogTarget
from specdeck.services.log_lag import LogLag
from specdeck.state.events import LogAdvanced, LogUnreadable
from specdeck.transport.base import Transport
from specdeck.transport.local import LocalTransport
from specdeck.transport.ssh import SshTransport

NOTE = "[specdeck: the log was cut or replaced here]"


class Following:
    """A follower with its events."""

    def __init__(self, path: Path) -> None:
        self.heard = Heard()
        self.follower = LogFollower("kimi", self.heard.post, time.time)
        self.follower.aim(LogTarget(str(path), "0001", "sglang"))

    @property
    def texts(self) -> list[str]:
        return [line.text for line in self.follower.ring.after(0)]

    async def until_last(self, text: str) -> None:
        await self.heard.until(lambda: self.texts[-1:] == [text])


@asynccontextmanager
async def running(following: Following, transport: Transport) -> AsyncIterator[None]:
    """The follower's task, ended with the block."""
    task = asyncio.create_task(following.follower.run(transport))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await transport.close()


@asynccontextmanager
async def on_this_machine(following: Following) -> AsyncIterator[None]:
    transport = LocalTransport(Host("here", "localhost"))
    await transport.connect()
    async with running(following, transport):
        yield


def write(path: Path, text: str) -> None:
    with path.open("a") as log:
        log.write(text)


async def test_what_is_there_and_what_is_appended_arrive_once_and_in_order(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(log, "one\ntwo\n")
    following = Following(log)
    async with on_this_machine(following):
        await following.until_last("two")
        write(log, "three\n")
        await following.until_last("three")
    assert following.texts == ["one", "two", "three"]


async def test_invalid_utf8_does_not_stop_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"before\n\xff\xfe broken \xc3\n")
    following = Following(log)
    async with on_this_machine(following):
        await following.heard.until(lambda: len(following.texts) == 2)
        write(log, "after\n")
        await following.until_last("after")
    assert following.texts[0] == "before"
    assert "broken" in following.texts[1]


async def test_a_missing_log_is_named_and_taken_up_when_it_appears(tmp_path: Path) -> None:
    log = tmp_path / "log"
    following = Following(log)
    async with on_this_machine(following):
        await following.heard.until(lambda: following.heard.of(LogUnreadable))
        assert following.heard.of(LogUnreadable)[0].reason == f"no log file at {log}"
        assert following.follower.awaited_path == str(log)
        write(log, "hello\n")
        following.follower.appeared()
        await following.until_last("hello")


async def test_a_rotated_log_goes_on_with_the_new_file(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(log, "old\n")
    following = Following(log)
    async with on_this_machine(following):
        await following.until_last("old")
        log.rename(tmp_path / "log.1")
        write(log, "new\n")
        await following.until_last("new")
    assert [text for text in following.texts if text != NOTE] == ["old", "new"]


async def test_a_moving_bar_is_one_line_in_the_ring(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("begin\n" + "".join(f"Loading: {n}%\r" for n in range(100)) + "Loading: 100%\ndone\n")
    following = Following(log)
    async with on_this_machine(following):
        await following.until_last("done")
    assert following.texts == ["begin", "Loading: 100%", "done"]


async def test_a_long_log_is_read_at_its_head_and_tail_with_the_gap_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_follower, "WHOLE_BYTES", 4000)
    monkeypatch.setattr(log_follower, "HEAD_BYTES", 1000)
    monkeypatch.setattr(log_follower, "TAIL_BYTES", 1000)
    log = tmp_path / "log"
    write(log, "".join(f"line {number:04}\n" for number in range(1000)))
    following = Following(log)
    async with on_this_machine(following):
        await following.until_last("line 0999")
    texts = following.texts
    assert texts[0] == "line 0000"
    assert [text for text in texts if text.startswith("[specdeck:")] == ["[specdeck: 0 MB of the log were not read]"]
    assert "line 0500" not in texts
    assert texts.count("line 0999") == 1


async def test_another_run_begins_with_a_fresh_reader(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    write(first, "of the first\n")
    write(second, "of the second\n")
    following = Following(first)
    async with on_this_machine(following):
        await following.until_last("of the first")
        following.follower.aim(LogTarget(str(second), "0002", "sglang"))
        await following.until_last("of the second")
        await following.heard.until(lambda: following.heard.of(LogAdvanced)[-1].story.lines == 1)
    assert following.texts == ["of the second"]


async def test_a_log_that_was_cut_while_the_connection_was_away_is_not_read_twice(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(log, "".join(f"early {number}\n" for number in range(100)))
    following = Following(log)
    async with on_this_machine(following):
        await following.until_last("early 99")
    log.write_text("early 98\nearly 99\nlate\n")  # the same file, shorter: its old begin was cut off
    async with on_this_machine(following):
        await following.until_last("late")
    assert following.texts.count("early 99") >= 1
    assert following.texts[-1] == "late"


@pytest.mark.sshd
async def test_a_killed_connection_neither_loses_nor_doubles_lines(own_openssh: OpenSsh, tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(log, "one\n")
    following = Following(log)
    transport = SshTransport(own_openssh.host())
    await transport.connect()
    task = asyncio.create_task(following.follower.run(transport))
    await following.until_last("one")
    own_openssh.kill_sessions()
    with pytest.raises(BaseExceptionGroup) as caught:
        async with asyncio.timeout(90):
            await task
    assert caught.group_contains(ConnectionLost)
    write(log, "two\n")
    await transport.connect()
    async with running(following, transport):
        write(log, "three\n")
        await following.until_last("three")
    assert following.texts == ["one", "two", "three"]


async def test_a_last_line_without_an_end_counts_once_the_process_is_gone(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"/opt/venv/bin/python3: No module named sglang.launch_server")
    following = Following(log)
    async with on_this_machine(following):
        await following.heard.until(lambda: following.heard.of(LogAdvanced))
        assert following.heard.of(LogAdvanced)[-1].story.cause is None
        following.follower.over()
        await following.heard.until(lambda: following.heard.of(LogAdvanced)[-1].story.is_complete)
        story = following.heard.of(LogAdvanced)[-1].story
    assert story.cause is not None
    assert (story.word, story.cause.kind, story.cause.line) == ("crashed", "missing-module", 1)
    assert following.texts == ["/opt/venv/bin/python3: No module named sglang.launch_server"]


async def test_the_cause_in_the_part_of_a_long_log_that_was_not_read_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (log_follower, log_scan):
        monkeypatch.setattr(module, "WHOLE_BYTES", 4000)
        monkeypatch.setattr(module, "HEAD_BYTES", 200)
        monkeypatch.setattr(module, "TAIL_BYTES", 200)
    noise = "[2026-01-05 10:00:00] one more line of many\n" * 100
    crash = (
        "[2026-01-05 11:00:00] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "a.py", line 1, in run\n'
        "RuntimeError: CUDA error: an illegal memory access was encountered\n"
    )
    log = tmp_path / "log"
    log.write_text(noise + crash + noise)
    following = Following(log)
    async with on_this_machine(following):
        await following.heard.until(lambda: following.heard.of(LogAdvanced))
        assert following.heard.of(LogAdvanced)[-1].story.cause is None
        following.follower.over()
        await following.heard.until(lambda: following.heard.of(LogAdvanced)[-1].story.cause)
        story = following.heard.of(LogAdvanced)[-1].story
    assert story.cause is not None
    assert (story.cause.kind, story.cause.line, story.lines) == ("illegal-access", 103, 203)


@pytest.mark.sshd
async def test_a_log_that_is_faster_than_its_line_says_how_far_it_is_behind_and_goes_on_at_its_end(
    own_openssh: OpenSsh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lag, "LOOK_SECONDS", 0.5)
    monkeypatch.setattr(log_lag, "SKIPPED_SECONDS", 3.0)
    monkeypatch.setattr(log_lag, "CAUGHT_UP_SECONDS", 0.5)
    log = tmp_path / "log"
    write(log, "first\n")
    following = Following(log)
    async with running_relay(own_openssh.port) as relay:
        go_through(own_openssh, relay.port)
        transport = SshTransport(own_openssh.host())
        await transport.connect()
        async with running(following, transport):
            await following.until_last("first")
            relay.bytes_per_second = 150_000.0
            write(log, "".join(f"{number:06} {'x' * 992}\n" for number in range(6_500)) + "the end\n")
            await following.heard.until(lambda: any(each.behind_bytes for each in following.heard.of(LogAdvanced)), 60)
            await following.until_last("the end")
            relay.heal()
            await following.heard.until(lambda: following.heard.of(LogAdvanced)[-1].behind_bytes == 0, 60)
    told = max(each.behind_bytes for each in following.heard.of(LogAdvanced))
    assert log_lag.TOLD_BYTES <= told <= 6_501_000, "6,500 lines of 1,000 bytes"
    (note,) = [text for text in following.texts if text.startswith("[specdeck:")]
    assert note.endswith(" MB of the log were not read: it grows faster than its line carries]")
    numbers = [int(text[:6]) for text in following.texts if text.endswith("x") and len(text) == 999]
    gaps = [(one, next_) for one, next_ in pairwise(numbers) if next_ != one + 1]
    assert len(gaps) == 1, "nothing else is lost, nothing comes twice"
    assert numbers[-1] == 6_499


def test_a_log_is_asked_for_its_size_rarely_and_skipped_when_what_is_read_is_old() -> None:
    lag = LogLag()
    assert not lag.is_worth_a_look(4_000)
    assert lag.is_worth_a_look(30_000)
    lag.measured(20_000, 30_000)
    assert (lag.behind_bytes, lag.pause, lag.is_old_news) == (0, 10.0, False)
    lag.measured(2_000_000, 1_000_000)
    assert (lag.behind_bytes, lag.bytes_per_second, lag.is_old_news) == (2_000_000, 100_000.0, False)
    lag.measured(3_500_000, 500_000)
    assert lag.is_old_news, "35 s"
    assert lag.tail_bytes(2_000_000) == 500_000
    lag.over()
    assert (lag.behind_bytes, lag.pause) == (0, 5.0)

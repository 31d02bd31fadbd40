"""Two people on one host: locks that are held, left behind or hostile, acts that broke off, presence, and the audit log."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import waiting
from tests.services.bench import Bench, Made, is_alive, names, read
from tests.services.stand_in import profile
from tests.services.waiting import until

from specdeck.config.objects import Fleet
from specdeck.engines.command import Command
from specdeck.errors import Refused, TransportError
from specdeck.services.audit import for_audit, parse_audit
from specdeck.services.open_deck import open_deck
from specdeck.services.presence import OWN_TOKEN, read_port_lock, read_watchers, watch_question
from specdeck.services.run_records import HostClock
from specdeck.services.runs import look
from specdeck.state.snapshot import FleetState, PortLock, Watcher

NOBODY = "4194305"
"""A pid above the kernel's limit: never anybody's."""


@pytest.fixture
def lock() -> Iterator[list[Path]]:
    """Lock paths that a test puts something at; removed at its end."""
    made: list[Path] = []
    yield made
    for path in made:
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)


def lock_of(one: Bench, made: list[Path]) -> Path:
    path = Path(f"/tmp/specdeck-port-{one.server.port}.lock")
    made.append(path)
    return path


async def test_a_lock_whose_holder_is_gone_is_told_in_the_plan_and_taken_over(
    local_bench: Made, lock: list[Path]
) -> None:
    one = await local_bench()
    path = lock_of(one, lock)
    path.write_text(f"{NOBODY} 1 {int(time.time()) - 40} stop rk@laptop\n")
    plan = await one.launcher.plan("launch", "kimi")
    told = next(check for check in plan.checks if check.name == "lock")
    assert told.state == "passed"
    assert told.detail.startswith("left by a stop by rk@laptop, 4")
    assert told.detail.endswith("whose process is gone: it is taken over")
    steps = await one.do("launch")
    assert names(steps) == ["asked", "lock", "launched", "done"]
    assert steps[1].detail.endswith("stop rk@laptop")
    await waiting.until(lambda: not path.exists(), "the lock is let go of")  # right after the last step is told


@pytest.mark.parametrize("kind", ["link", "folder", "words", "empty"])
async def test_something_strange_at_the_place_of_the_lock_is_refused_in_a_sentence_and_left_alone(
    local_bench: Made, lock: list[Path], tmp_path: Path, kind: str
) -> None:
    one = await local_bench()
    plan = await one.launcher.plan("launch", "kimi")
    path, secret = lock_of(one, lock), tmp_path / "secret"
    secret.write_text(f"{NOBODY} 1 2 stop somebody\n")
    if kind == "link":
        path.symlink_to(secret)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text("hello, this is not a lock\n" if kind == "words" else "")
    with pytest.raises(Refused, match="must be removed before anybody can act"):
        await one.launcher.perform(plan)
    again = await one.launcher.plan("launch", "kimi")
    assert [check.name for check in again.checks if check.state == "failed"] == ["lock"]
    assert path.is_symlink() or path.exists()
    assert secret.read_text() == f"{NOBODY} 1 2 stop somebody\n"
    assert not (one.stand_in.runs / "0001").exists()


async def test_two_who_ask_at_the_same_moment_get_one_act_and_one_refusal(local_bench: Made) -> None:
    one = await local_bench(mode="stubborn")
    await one.do("launch")
    await one.until_it_listens()
    plan = await one.launcher.plan("pivot", "kimi")
    answers = await asyncio.gather(*(one.launcher.perform(plan) for _ in range(3)), return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, Refused)]
    assert answers.count(None) == 1
    assert len(refused) == 2
    await one.until("pid", run="0002")
    async with asyncio.timeout(90):
        while (await look(one.transport, one.server)).journal.steps[-1].name != "done":
            pass
    assert not list(one.stand_in.runs.glob("staged.*"))
    assert not list(one.stand_in.runs.glob("actor.*"))


async def test_a_journal_that_cannot_be_written_is_found_before_anything_is_touched(local_bench: Made) -> None:
    one = await local_bench()
    await one.do("launch")
    await one.until_it_listens()
    plan = await one.launcher.plan("stop", "kimi")
    (one.stand_in.runs / "act").unlink()
    (one.stand_in.runs / "act").symlink_to("/dev/full")
    with pytest.raises(TransportError, match="its disk is full, or this user may not write there"):
        await one.launcher.perform(plan)
    assert is_alive(one.pid())
    assert not (one.stand_in.runs / "0001" / "stop").exists()


async def broken_off(one: Bench) -> None:
    """A pivot whose script on the host is killed while it waits for the old server."""
    await one.do("launch")
    await one.until_it_listens()
    await one.launcher.perform(await one.launcher.plan("pivot", "kimi"))
    async with asyncio.timeout(90):
        while "\tterm\t" not in read(one.stand_in.runs / "act"):  # noqa: ASYNC110 - a file tells nobody
            await asyncio.sleep(0.01)
    os.kill(int((one.stand_in.runs / "actor").read_text().split()[0]), signal.SIGKILL)


async def test_an_act_whose_script_was_killed_is_named_and_finished_by_asking_again(
    local_bench: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECDECK_USER", "ann")
    one = await local_bench(mode="stubborn")
    await broken_off(one)
    left = one.stand_in.runs / "staged.abcdef"
    left.mkdir()
    os.utime(left, (1, 1))
    plan = await one.launcher.plan("pivot", "kimi")
    assert plan.notes[0].startswith("the last pivot to two by ann broke off after `")
    assert next(check.detail for check in plan.checks if check.name == "lock").startswith("left by a pivot by ann")
    steps = await one.do("pivot")
    assert names(steps)[:2] == ["asked", "lock"]
    assert names(steps)[-1] == "done"
    assert (one.stand_in.runs / "0002" / "profile").read_text() == "two\n"
    assert (is_alive(one.pid("0001")), is_alive(one.pid("0002"))) == (False, True)
    assert not left.exists()
    audit = parse_audit((one.stand_in.runs / "audit").read_bytes())
    assert [line.detail.rpartition(" ")[0] for line in audit if line.step == "result"][1] == "broke off after"


async def test_a_pivot_that_broke_off_while_nothing_ran_goes_on_to_the_profile_that_was_asked(
    local_bench: Made,
) -> None:
    one = await local_bench()
    await one.do("launch")
    await one.until_it_listens()
    await one.do("stop")
    (one.stand_in.runs / "act").write_text("1\tpivot\tasked\tann one\n2\tpivot\tgone\tpid 4711\n")
    plan = await one.launcher.plan("pivot", "kimi")
    assert plan.new_profile == "one"


async def test_every_act_is_audited_with_who_when_the_command_and_its_result(
    local_bench: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECDECK_USER", "ann")
    one = await local_bench(profile("one", env={"HF_TOKEN": "hf_abcdefghijklmnopqrstu"}), profile("two"))
    await one.do("launch")
    await one.until_it_listens()
    await one.do("stop")
    text = (one.stand_in.runs / "audit").read_text()
    lines = parse_audit(text.encode())
    assert {line.who for line in lines} == {"ann"}
    assert [(line.kind, line.step) for line in lines if line.step in ("asked", "command", "result")] == [
        ("launch", "asked"), ("launch", "command"), ("launch", "result"), ("stop", "asked"), ("stop", "result"),
    ]  # fmt: skip
    command = json.loads(next(line.detail for line in lines if line.step == "command"))
    assert command["argv"][1:3] == ["-m", "sglang.launch_server"]
    assert ["HF_TOKEN", "***"] in command["env"]
    assert "abcdefghijkl" not in text
    assert all(line.detail.startswith("done after ") for line in lines if line.step == "result")
    assert len({line.act for line in lines}) == 2


def test_secrets_of_a_command_are_never_audited_and_everything_else_is_exact() -> None:
    kept = ("--tokenizer-path", "/t", "--num-draft-tokens", "4", "--x", '{"a": "b c"}')
    argv = ("python3", "--api-key", "sk-1", "--hf-token=tk-2", *kept)
    told = json.loads(for_audit(Command(argv, (("OPENAI_API_KEY", "sk-3"), ("MAX_TOKENS", "9")), "/w")))
    assert told["argv"] == ["python3", "--api-key", "***", "--hf-token=***", *kept]
    assert told["env"] == [["OPENAI_API_KEY", "***"], ["MAX_TOKENS", "9"]]


def test_lines_of_the_lock_and_of_presence_entries_may_say_anything() -> None:
    clock = HostClock(ahead_seconds=100.0)
    assert read_port_lock("held 7 9 1000 stop rk@laptop", clock) == PortLock("held", "stop", "rk@laptop", 900.0)
    assert read_port_lock("gone 7 9 1000 pivot rk", clock) == PortLock("gone", "pivot", "rk", 900.0)
    assert read_port_lock("held 7 9 x dance \x1b[2J", clock) == PortLock("strange")
    assert read_port_lock(None, clock) is None
    entries = (
        "7.9 7 9 1000 ro abcd rk@laptop",
        f"8.9 8 9 1000 rw {OWN_TOKEN} me",
        "5.5 7 9 1000 rw aaaa forged",
        "nonsense",
    )
    assert read_watchers(entries, clock) == (Watcher("rk@laptop", 900.0, is_read_only=True),)


def start_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def presence() -> set[str]:
    folder = Path("/tmp/specdeck-watch")
    return {file.read_text() for file in folder.glob("*")} if folder.exists() else set()


def watching(state: FleetState) -> list[str]:
    """Who else watches the first host; tests beside this one may."""
    return [each.words for each in state.hosts[0].watchers]


async def test_a_dashboard_leaves_a_presence_entry_while_it_watches_and_others_see_it(
    local_bench: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await local_bench()
    monkeypatch.setenv("SPECDECK_USER", "rk@laptop")
    other = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True)
    entry = Path(f"/tmp/specdeck-watch/{other.pid}")
    try:
        async with open_deck(Fleet((one.host,), {}), read_only=True, announced=True) as deck:
            async with asyncio.timeout(90):
                while not any(line.endswith(f"ro {OWN_TOKEN} rk@laptop\n") for line in presence()):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            assert "ann@desk" not in watching(await until(deck, lambda state: state.hosts[0].link == "up"))
            start = start_of(other.pid)
            entry = entry.with_name(f"{other.pid}.{start}")
            entry.write_text(f"{other.pid} {start} {int(time.time()) - 60} rw 0a0b0c0d ann@desk\n")
            await until(deck, lambda state: "ann@desk" in watching(state))
            plan = await one.launcher.plan("launch", "kimi")
            assert "ann@desk" in plan.watchers
            other.kill()
            await other.wait()
            state = await until(deck, lambda state: "ann@desk" not in watching(state))
            assert "ann@desk left" in [each.text for each in state.happenings]
        async with asyncio.timeout(90):
            while any(OWN_TOKEN in line for line in presence()):  # noqa: ASYNC110 - a file tells nobody
                await asyncio.sleep(0.02)
    finally:
        entry.unlink(missing_ok=True)
        if other.returncode is None:
            other.kill()
            await other.wait()


async def test_the_act_of_another_user_is_seen_by_its_lock_before_any_key_is_pressed(
    local_bench: Made, lock: list[Path]
) -> None:
    one = await local_bench()
    path = lock_of(one, lock)
    start = start_of(os.getpid())
    async with open_deck(Fleet((one.host,), {})) as deck:
        path.write_text(f"{os.getpid()} {start} {int(time.time())} stop rk@laptop\n")
        state = await until(deck, lambda state: state.servers[0].act)
        seen = state.servers[0]
        assert seen.lock is not None
        assert (seen.lock.state, seen.lock.kind, seen.lock.who) == ("held", "stop", "rk@laptop")
        assert seen.act is not None
        assert (seen.act.kind, seen.act.step, seen.act.who, seen.act.is_over) == (
            "stop",
            "elsewhere",
            "rk@laptop",
            False,
        )
        path.unlink()
        await until(deck, lambda state: state.servers[0].lock is None and state.servers[0].act is None)


def test_the_question_of_a_watcher_says_how_it_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECDECK_USER", "ann lee")
    assert watch_question(is_read_only=True) == f"watch ro {OWN_TOKEN} ann_lee"
    assert watch_question(is_read_only=False) == f"watch rw {OWN_TOKEN} ann_lee"


@pytest.mark.skipif(
    not Path("/bin/busybox").exists() and not Path("/usr/bin/busybox").exists(), reason="busybox is not here"
)
async def test_a_pivot_and_a_stop_work_where_sh_is_busybox(local_bench: Made) -> None:
    one = await local_bench()
    for applet in ("sh", "tail", "find", "tr", "cut", "head", "mktemp", "date", "sed", "wc"):
        path = one.stand_in.folder / "bin" / applet
        path.write_text(f'#!/bin/sh\nexec busybox {applet} "$@"\n')
        path.chmod(0o755)
    await one.do("launch")
    await one.until_it_listens()
    actor = (await one.do("pivot"), await one.do("stop"))
    assert [names(steps)[-1] for steps in actor] == ["done", "done"]
    assert one.holders() == []

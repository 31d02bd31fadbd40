"""The whole deck on this machine: a real server process, real /proc, real HTTP; only the engine is a stand-in."""

import asyncio
import os
import signal
import socket
from pathlib import Path

import pytest
from tests.services.lab import Lab, processes_with
from tests.services.smi_host import GPU, SmiHost
from tests.services.waiting import kimi, until

from specdeck.config.objects import Host
from specdeck.errors import Refused, UsageError
from specdeck.services import host_monitor
from specdeck.services.deck import Plan
from specdeck.services.open_deck import open_deck
from specdeck.state.snapshot import Word


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A host without servers."""
    return Lab(tmp_path)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ticks as the deck takes them while something changes, and shorter."""
    monkeypatch.setattr(host_monitor, "TICK_SECONDS", 0.2)
    monkeypatch.setattr(host_monitor, "FAST_TICK_SECONDS", 0.1)
    monkeypatch.setattr(host_monitor, "LEAST_SURVEY_SECONDS", 0.1)


async def test_a_run_is_ready_by_its_process_port_log_and_health(lab: Lab) -> None:
    with lab.run() as process:
        async with open_deck(lab.local()) as deck:
            server = kimi(await until(deck, lambda state: kimi(state).word == Word.READY))
            await until(deck, lambda _: len(deck.log_lines("kimi", 0)) == 3)
            kept = deck.log_lines("kimi", 0)
            older = await deck.older_lines("kimi", kept[-1])
            (last,) = deck.log_lines("kimi", 2)
    assert (older.lines, older.begin) == (tuple(kept[:-1]), 0)
    assert last.text == "[2026-11-29 15:00:01] The server is fired up and ready to roll!"
    assert server.run is not None
    assert (server.run.run, server.run.pid, server.profile) == ("0001", process.pid, "eagle3-v2")
    assert server.run.command == "python3 -m sglang.launch_server \\\n  --port 1"
    assert (server.evidence.process.state, server.evidence.port.state) == ("alive", "ours")
    assert process.pid in server.evidence.process.family


async def test_a_server_that_others_started_is_found_by_its_port_with_its_log(lab: Lab) -> None:
    with lab.serving() as process:
        async with open_deck(lab.local()) as deck:
            server = kimi(await until(deck, lambda state: kimi(state).word == Word.READY))
    assert server.run is not None
    assert (server.run.run, server.run.pid, server.run.log) == ("", process.pid, str(lab.folder / "server.log"))


async def test_a_start_by_others_is_seen_before_it_listens_and_is_never_called_stopped(lab: Lab) -> None:
    slow = lab.folder / "slow"
    slow.touch()
    with lab.serving() as process:
        async with open_deck(lab.local()) as deck:
            state = await until(deck, lambda state: kimi(state).word == Word.STARTING and kimi(state).run)
            assert [line.text for line in state.happenings if "stopped" in line.text] == []
            slow.unlink()
            server = kimi(await until(deck, lambda state: kimi(state).word == Word.READY))
    assert server.run is not None
    assert (server.run.run, server.run.pid) == ("", process.pid)


async def test_gpu_memory_goes_to_the_server_whose_family_holds_it(lab: Lab) -> None:
    smi = SmiHost(lab.folder)
    with lab.run() as process:
        uuid = str(GPU["uuid"])
        mine = {"gpu_uuid": uuid, "pid": process.pid, "process_name": "python3", "used_gpu_memory": 60000}
        other = {"gpu_uuid": uuid, "pid": 1, "process_name": "init, of all", "used_gpu_memory": 10000}
        smi.say(gpus=[GPU], apps=[mine, other])
        host = Host(
            "lab",
            "localhost",
            env={**smi.host.env, "XDG_STATE_HOME": str(lab.folder / "state")},
            servers=(lab.server(),),
        )
        async with open_deck(lab.fleet(host)) as deck:
            state = await until(deck, lambda now: kimi(now).gpu_memory_mib and now.hosts[0].gpus)
    assert kimi(state).gpu_memory_mib == 60000
    assert [(each.name, each.server) for each in state.hosts[0].gpus[0].processes] == [
        ("python3", "kimi"),
        ("init, of all", None),
    ]


async def test_a_stranger_on_the_port_is_not_the_server(lab: Lab) -> None:
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", lab.port))
        stranger.listen()
        async with open_deck(lab.local()) as deck:
            server = kimi(await until(deck, lambda state: kimi(state).evidence.port.state == "stranger"))
    assert server.run is None
    assert server.evidence.port.pid == os.getpid()


async def test_a_server_that_dies_unasked_has_crashed(lab: Lab) -> None:
    with lab.run() as process:
        async with open_deck(lab.local()) as deck:
            await until(deck, lambda state: kimi(state).word == Word.READY)
            process.kill()
            process.wait(10)
            lab.tell("0001", exit="137 1795968100")
            server = kimi(await until(deck, lambda state: kimi(state).word == Word.CRASHED))
    assert server.evidence.process.exit_status == 137


async def test_a_server_that_was_asked_to_stop_is_stopped_when_it_is_gone(lab: Lab) -> None:
    with lab.run() as process:
        async with open_deck(lab.local()) as deck:
            await until(deck, lambda state: kimi(state).word == Word.READY)
            lab.tell("0001", stop="ann 1795968090")
            process.send_signal(signal.SIGTERM)
            process.wait(10)
            await until(deck, lambda state: kimi(state).word == Word.STOPPED)


async def test_a_new_run_begins_a_new_life(lab: Lab) -> None:
    async with open_deck(lab.local()) as deck:
        await until(deck, lambda state: kimi(state).word == Word.STOPPED)
        with lab.run("0001"):
            await until(deck, lambda state: kimi(state).word == Word.READY)
        with lab.run("0002", "baseline"):
            state = await until(
                deck, lambda state: (run := kimi(state).run) and run.run == "0002" and kimi(state).story
            )
            await until(deck, lambda state: kimi(state).word == Word.READY)
    assert kimi(state).profile == "baseline"


async def test_metrics_that_are_off_are_said_once_and_the_load_comes_from_elsewhere(lab: Lab) -> None:
    with lab.run():
        async with open_deck(lab.local()) as deck:
            state = await until(deck, lambda s: kimi(s).metrics_note and kimi(s).requests_running == 3)
    assert kimi(state).metrics_note == "metrics are off (--enable-metrics)"
    assert [each.text for each in state.happenings].count("metrics are off (--enable-metrics)") == 1
    assert kimi(state).kv_usage == 0.25


async def test_health_is_asked_sparingly_once_it_is_well(lab: Lab) -> None:
    with lab.run():
        async with open_deck(lab.local()) as deck:
            await until(deck, lambda state: kimi(state).word == Word.READY)
            await until(deck, lambda state: kimi(state).requests_running == 3)
            before = [line for line in lab.asked if line.startswith("/health")]
            loads = len([line for line in lab.asked if line.startswith("/v1/loads")])
            await until(deck, lambda _: len([line for line in lab.asked if line.startswith("/v1/loads")]) > loads + 1)
    assert len([line for line in lab.asked if line.startswith("/health")]) <= len(before) + 1 <= 3


async def test_the_api_key_is_sent_and_shown_nowhere(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIMI_KEY", "s3cret-of-kimi")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with lab.run():
        async with open_deck(lab.local(lab.server(api_key_env="KIMI_KEY"))) as deck:
            state = await until(deck, lambda state: kimi(state).word == Word.READY)
    assert "/health Bearer s3cret-of-kimi" in lab.asked
    assert "s3cret" not in repr(state)


async def test_a_refused_key_means_up_and_key_needed(lab: Lab) -> None:
    (lab.folder / "status").write_text("401")
    with lab.run():
        async with open_deck(lab.local()) as deck:
            await until(deck, lambda state: kimi(state).evidence.http.state == "key-needed")


async def test_a_log_of_the_fleet_file_that_is_missing_is_named_and_picked_up(lab: Lab) -> None:
    log = lab.folder / "elsewhere.log"
    async with open_deck(lab.local(lab.server(log=str(log)))) as deck:
        state = await until(deck, lambda state: kimi(state).evidence.log_error)
        assert kimi(state).evidence.log_error == f"no log file at {log}"
        log.write_text("Load weight begin.\n")
        await until(deck, lambda state: kimi(state).story and kimi(state).story.lines == 1)  # type: ignore[union-attr]


async def test_an_act_is_told_step_by_step_with_its_countdown(lab: Lab) -> None:
    with lab.run():
        async with open_deck(lab.local()) as deck:
            await until(deck, lambda state: kimi(state).word == Word.READY)
            lab.act_by(os.getpid())
            (lab.runs / "act").write_text(
                "1795968000\tstop\tasked\tann -\n1795968001\tstop\tterm\tkill_at=1795968061\n"
            )
            state = await until(deck, lambda state: kimi(state).act)
            act = kimi(state).act
            assert act is not None
            assert (act.kind, act.step, act.who, act.is_over) == ("stop", "term", "ann", False)
            assert act.kill_at is not None
            assert act.kill_at - act.began == pytest.approx(61.0)
            (lab.runs / "actor").write_text("4194305 1\n")
            await until(deck, lambda state: (act := kimi(state).act) and act.is_failed and "broke off" in act.detail)


async def test_a_fault_in_one_part_is_told_and_ends_nothing_else(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise ConnectionResetError("log tail")

    monkeypatch.setattr("specdeck.services.log_follower.LogFollower._follow", broken)
    with lab.run():
        async with open_deck(lab.local()) as deck:
            state = await until(deck, lambda state: kimi(state).evidence.http.state == "ok" and state.happenings)
            await until(
                deck, lambda state: any("ConnectionResetError: log tail" in each.text for each in state.happenings)
            )
    assert state.hosts[0].link == "up"


async def test_a_cancelled_error_that_nobody_asked_for_is_a_fault_like_any_other(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr("specdeck.services.probe_loop.ProbeLoop._ask_all", broken)
    with lab.run():
        async with open_deck(lab.local()) as deck:
            await until(deck, lambda state: any("health of kimi" in each.text for each in state.happenings))
            await until(deck, lambda state: kimi(state).evidence.process.state == "alive")


async def test_a_read_only_deck_refuses_to_act_and_an_unknown_server_is_a_usage_error(lab: Lab) -> None:
    async with open_deck(lab.local(), read_only=True) as deck:
        with pytest.raises(Refused):
            await deck.perform(Plan("stop", "kimi", "lab", None, None, None))
        with pytest.raises(UsageError):
            await deck.plan("stop", "nobody")


async def test_servers_of_a_host_without_a_fleet_file_are_discovered(lab: Lab) -> None:
    from specdeck.config.objects import Fleet

    with lab.serving() as process:
        async with open_deck(Fleet((Host("here", "localhost", env=lab.env),), {})) as deck:
            found = await until(
                deck, lambda state: [server for server in state.servers if server.run and server.run.pid == process.pid]
            )
            server = next(server for server in found.servers if server.run and server.run.pid == process.pid)
            await until(deck, lambda state: (now := state.server(server.name)) and now.word == Word.READY)
            known = deck.fleet.server(server.name)
    assert (server.engine, server.port) == ("sglang", lab.port)
    assert server.name.startswith("kimi")
    assert known is not None
    assert known.model == "/data/models/kimi"


async def test_closing_the_deck_ends_its_processes_on_the_host(lab: Lab) -> None:
    mark = f"XDG_STATE_HOME={lab.folder}/state\0".encode()
    with lab.run():
        async with open_deck(lab.local()) as deck:
            await until(deck, lambda state: kimi(state).word == Word.READY)
            assert processes_with(mark)
    assert not processes_with(mark)

"""The verbs that watch, as a user types them, on this machine with a server that really runs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.services.lab import Lab

from specdeck.cli.main import run
from specdeck.cli.verbs import status
from specdeck.errors import ExitCode

FLEET = """\
hosts:
  lab:
    ssh: localhost
    env: {{XDG_STATE_HOME: {state}, PATH: /usr/bin:/bin}}
    servers:
      kimi:
        model: /data/models/kimi
        port: {port}
        profiles: [baseline]
"""
Verb = Callable[..., int]


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A host without servers, and its fleet file."""
    lab = Lab(tmp_path)
    (tmp_path / "fleet.yaml").write_text(FLEET.format(state=tmp_path / "state", port=lab.port))
    return lab


@pytest.fixture
def verb(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Verb:
    """Runs a verb with the fleet; the stand-in's counters never come, so they are not waited for long."""
    monkeypatch.setattr(status, "SETTLE_SECONDS", 1.5)
    return lambda *words: run(["--fleet", str(lab.folder / "fleet.yaml"), *words])


def test_status_says_that_nothing_runs(verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    assert verb("status") == ExitCode.FINE
    shown = capsys.readouterr().out.splitlines()
    assert shown[1].split()[:2] == ["lab", "up"]
    assert shown[4].split()[:4] == ["○", "kimi", "lab", "stopped"]


def test_status_of_one_server_tells_that_one(verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    assert verb("status", "kimi") == ExitCode.FINE
    assert capsys.readouterr().out.splitlines()[4].split()[1] == "kimi"
    assert verb("status", "lab/1") == ExitCode.USAGE
    assert "lab:1 does not run, and no fleet file names it" in capsys.readouterr().err


def test_status_json_has_every_key_of_the_design(lab: Lab, verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    with lab.run() as process:
        verb("wait", "kimi")
        assert verb("status", "--json") == ExitCode.FINE
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == 1
    (host,), (server,) = told["hosts"], told["servers"]
    assert {"name", "ssh", "state", "age_seconds", "error", "gpus"} <= host.keys()
    assert {
        "name", "host", "engine", "engine_version", "profile", "run", "pid", "state", "since_seconds", "evidence", "phase",
        "progress", "eta_ready_seconds", "cause", "throughput_tok_s", "throughput_source", "throughput_window_seconds",
        "requests", "kv_usage", "accept_length", "gpu_memory_mib", "warnings",
    } <= server.keys()  # fmt: skip
    assert {"process", "log_age_seconds", "port", "http", "ssh"} <= server["evidence"].keys()
    assert (server["state"], server["run"], server["pid"]) == ("ready", "0001", process.pid)
    assert server["command"].startswith("python3 -m sglang.launch_server")
    assert server["log"] == str(lab.runs / "0001" / "log")
    assert (host["state"], host["gpus"], server["throughput_tok_s"], server["gpu_memory_mib"]) == ("up", [], None, None)


def test_status_line_is_one_line(lab: Lab, verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    with lab.run():
        verb("wait", "kimi")
        verb("status", "--line")
    assert capsys.readouterr().out == "● kimi ready\n"


def test_status_of_a_host_that_is_away_is_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "fleet.yaml"
    config.write_text("hosts:\n  away:\n    ssh: 127.0.0.1:1\n")
    assert run(["--fleet", str(config), "status"]) == ExitCode.UNREACHABLE
    assert "down" in capsys.readouterr().out


def test_wait_ends_when_the_server_is_ready(lab: Lab, verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    with lab.run():
        assert verb("wait", "kimi", "--timeout", "30") == ExitCode.FINE
    assert "kimi ready" in capsys.readouterr().err


def test_wait_for_stopped_is_over_at_once_where_nothing_runs(verb: Verb) -> None:
    assert verb("wait", "kimi", "--for", "stopped", "--timeout", "30") == ExitCode.FINE


def test_wait_gives_up_after_its_time(verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    assert verb("wait", "kimi", "--timeout", "1") == ExitCode.NOT_AS_ASKED
    assert "kimi is not ready after 1 s" in capsys.readouterr().err


def test_wait_tells_the_first_cause_of_a_crash_and_ends(
    lab: Lab, verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    run_folder = lab.runs / "0001"
    run_folder.mkdir(parents=True)
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    lab.tell("0001", profile="baseline", port=str(lab.port), pid="4194305 7", boot=boot, exit="2 1795968100")
    (run_folder / "log").write_text(
        "usage: sglang serve [-h]\nsglang serve: error: unrecognized arguments: --no-such-flag 3\n"
    )
    assert verb("wait", "kimi", "--timeout", "30") == ExitCode.NOT_AS_ASKED
    assert "unrecognized arguments: --no-such-flag 3" in capsys.readouterr().err


def test_wait_for_an_unknown_server_is_a_usage_error(verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    assert verb("wait", "kimmi") == ExitCode.USAGE
    assert "no server `kimmi`" in capsys.readouterr().err


def test_logs_prints_the_last_lines_that_match(lab: Lab, verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    with lab.run():
        (lab.runs / "0001" / "log").write_text("one\ntwo \x1b[31mred\x1b[0m\nthree\n50%\r100%\n")
        assert verb("logs", "kimi", "--grep", "^t|%", "-n", "3") == ExitCode.FINE
    assert capsys.readouterr().out == "two red\nthree\n100%\n"


def test_logs_of_a_server_without_a_run_says_so(verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    assert verb("logs", "kimi") == ExitCode.NOT_AS_ASKED
    assert "no run" in capsys.readouterr().err


def test_logs_refuses_a_broken_pattern(verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    assert verb("logs", "kimi", "--grep", "(") == ExitCode.USAGE
    assert "--grep" in capsys.readouterr().err


def test_status_watch_tells_an_alert_to_the_users_command(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os
    import subprocess
    import sys
    import time

    config, told = tmp_path / "config/specdeck", tmp_path / "told"
    config.mkdir(parents=True)
    (config / "config.yaml").write_text(
        "alerts:\n  kinds: [crashed]\n"  # on a busy machine it may be seen to become ready
        f"  command: [sh, -c, 'printf %s \"$SPECDECK_ALERT\" >{told}.part && mv {told}.part {told}']\n"
    )
    words = [sys.executable, "-m", "specdeck", "--fleet", str(lab.folder / "fleet.yaml"), "status", "--watch", "--line"]
    env = {**os.environ, "XDG_CONFIG_HOME": str(config.parent)}
    with lab.run() as server:
        watching = subprocess.Popen(words, stdout=subprocess.PIPE, env=env, text=True)
        try:
            assert watching.stdout is not None
            for line in watching.stdout:
                if "kimi ready" in line:
                    break
            server.kill()
            end = time.monotonic() + 60
            while not told.exists():
                assert time.monotonic() < end
                watching.stdout.readline()
        finally:
            watching.terminate()
            watching.communicate()
    assert told.read_text().startswith("kimi crashed: ")

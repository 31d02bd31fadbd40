"""`specdeck adopt` as a user types it: a server that really runs comes into the file, and starting it again is the same command."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.services.desk import text_of
from tests.services.stand_in import StandIn, make_stand_in

from specdeck.cli.main import run
from specdeck.cli.verbs import status
from specdeck.config.fleet import load_fleet
from specdeck.config.objects import Server
from specdeck.errors import ExitCode

FLEET = """\
# the lab's machines, by hand
hosts:
  lab: # our only one
    ssh: {ssh}
    env: {{PATH: "{path}", HOME: "{home}", XDG_STATE_HOME: "{home}/state", GPUS: "{gpus}"}}
    servers:
      other:
        model: /m/other
        port: 1
        profiles: [baseline]
        # drain_seconds: 5

# the end
"""
EAGLE = (
    *("--speculative-algorithm", "EAGLE3", "--speculative-num-steps", "3"),
    *("--speculative-eagle-topk", "8", "--speculative-num-draft-tokens", "16"),
)


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    """A host's tree with an interpreter that has an engine."""
    made = make_stand_in(tmp_path)
    (tmp_path / "draft").mkdir()
    return made


@contextmanager
def running(stand_in: StandIn, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server that somebody started by hand."""
    argv = [str(stand_in.python), "-m", "sglang.launch_server", "--model", str(stand_in.folder / "model")]
    argv += ["--port", str(stand_in.port), "--host", "127.0.0.1", *words]
    env = {**os.environ, **stand_in.env, "SGLANG_ENABLE_SPEC_V2": "False", "HF_TOKEN": "hf_abcdefghijklmnopqrst"}
    env |= {"PYTHONPATH": str(stand_in.folder / "site")}
    argv[0] = sys.executable
    process = subprocess.Popen(
        argv,
        env=env,
        cwd=stand_in.folder / "bin",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert b"fired up" in process.stdout.readline()
        yield process
    finally:
        process.terminate()
        process.wait(20)
        if process.stdout is not None:
            process.stdout.close()


def fleet_file(stand_in: StandIn, ssh: str = "localhost") -> Path:
    path = stand_in.folder / "fleet.yaml"
    env = stand_in.env
    path.write_text(FLEET.format(ssh=ssh, path=env["PATH"], home=env["HOME"], gpus=env["GPUS"]))
    return path


def on_port(path: Path, stand_in: StandIn) -> Server:
    """As the file says; its name has a number where this machine runs other models of that name."""
    return next(server for host in load_fleet(path).hosts for server in host.servers if server.port == stand_in.port)


def test_a_running_server_is_written_and_relaunching_it_is_the_command_that_runs(
    stand_in: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    path = fleet_file(stand_in)
    before = path.read_text()
    words = [
        "--tp",
        "8",
        "--mem-fraction-static",
        "0.90",
        *EAGLE,
        "--speculative-draft-model-path",
        f"{stand_in.folder}/draft",
    ]
    with running(stand_in, *words) as process:
        assert run(["--fleet", str(path), "adopt", f"lab/{stand_in.port}"]) == ExitCode.FINE
        told = capsys.readouterr().err
        assert "eagle3-v1, but topk 8: written to" in told
        after = path.read_text()
        assert [line for line in after.splitlines() if line in before.splitlines()] == before.splitlines()
        server = on_port(path, stand_in)
        assert (server.port, server.model, server.python) == (stand_in.port, f"{stand_in.folder}/model", sys.executable)
        assert (server.workdir, server.draft_model) == (f"{stand_in.folder}/bin", f"{stand_in.folder}/draft")
        assert {name: str(value) for name, value in server.args.items()} == {"tp": "8", "mem-fraction-static": "0.90"}
        assert server.env == {"PYTHONPATH": f"{stand_in.folder}/site"}
        assert server.profiles == (f"{server.name}-found", "eagle3-v1", "eagle3-v2", "baseline")
        assert "hf_abcdefghijklmnopqrst" not in after + told

        assert run(["--fleet", str(path), "relaunch", server.name, "--dry-run"]) == ExitCode.FINE
        shown = capsys.readouterr()
        assert f"ends pid {process.pid} " in shown.err
        assert " -> " not in shown.err.partition("\n")[2]  # no difference
        again = shlex.split(shown.out.replace("\\\n", " "))
        mine = again[again.index(sys.executable) :]
        run(["--fleet", str(path), "pivot", server.name, "--dry-run"])
        assert f"pivot {server.name} on lab: {server.name}-found -> eagle3-v1" in capsys.readouterr().err
    typed = [sys.executable, "-m", "sglang.launch_server", "--model-path", f"{stand_in.folder}/model"]
    typed += ["--port", str(stand_in.port), "--host", "127.0.0.1", *words]
    assert sorted(mine) == sorted(typed)
    assert "SGLANG_ENABLE_SPEC_V2=False" in again


def test_a_dry_run_shows_the_difference_and_writes_nothing(
    stand_in: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    path = fleet_file(stand_in)
    before = path.read_text()
    with running(stand_in):
        assert run(["--fleet", str(path), "adopt", "lab", "--dry-run", str(stand_in.port)]) == ExitCode.FINE
    shown = capsys.readouterr()
    assert "+      model" in shown.out
    assert "+engine: sglang\n" in shown.out
    assert "HF_TOKEN holds a secret, which is never written" in shown.err
    assert path.read_text() == before
    assert not (stand_in.folder / "profiles").exists()


def test_a_new_file_is_made_for_a_host_that_is_in_none(
    stand_in: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new" / "fleet.yaml"
    with running(stand_in, "--api-key", "sk-1234567"):
        words = ["--fleet", str(path), "adopt", "localhost", str(stand_in.port), "--json"]
        assert run(words) == ExitCode.FINE
    (told,) = json.loads(capsys.readouterr().out)["servers"]
    assert (told["profile"], told["engine_version"], told["port"]) == ("baseline", "0.5.12", stand_in.port)
    fleet = load_fleet(path)
    assert [(host.name, host.ssh) for host in fleet.hosts] == [("localhost", "localhost")]
    (server,) = fleet.hosts[0].servers
    assert server.api_key_env == f"{server.name.upper().replace('-', '_')}_API_KEY"
    assert "sk-1234567" not in path.read_text() + text_of(path.parent / "profiles" / f"{server.name}-found.yaml")


def test_a_server_on_a_port_of_the_file_is_not_adopted_again(
    stand_in: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    path = fleet_file(stand_in)
    with running(stand_in):
        assert run(["--fleet", str(path), "adopt", f"lab/{stand_in.port}"]) == ExitCode.FINE
        text = path.read_text()
        assert run(["--fleet", str(path), "adopt", f"lab/{stand_in.port}"]) == ExitCode.USAGE
        assert "in the fleet file already" in capsys.readouterr().err
    assert path.read_text() == text


def test_what_is_not_there_is_said_with_what_is(stand_in: StandIn, capsys: pytest.CaptureFixture[str]) -> None:
    path = fleet_file(stand_in)
    assert run(["--fleet", str(path), "adopt", "lab/1"]) == ExitCode.USAGE
    assert "no server 1 was found on lab" in capsys.readouterr().err
    assert run(["--fleet", str(path), "--read-only", "adopt", "lab"]) == ExitCode.REFUSED


@pytest.mark.sshd
def test_wait_logs_diagnose_and_stop_take_a_server_that_no_file_names(
    stand_in: StandIn, openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(status, "SETTLE_SECONDS", 1.0)
    path = fleet_file(stand_in, "gpu-a")
    path.write_text(path.read_text().replace("ssh: gpu-a", f"ssh: gpu-a\n    ssh_config: {openssh.ssh_config}"))
    place = f"lab:{stand_in.port}"
    with running(stand_in) as process:
        assert run(["--fleet", str(path), "logs", place]) == ExitCode.NOT_AS_ASKED
        assert f"{place}: its output goes into a pipe" in capsys.readouterr().err
        run(["--fleet", str(path), "status", f"lab/{stand_in.port}", "--json"])
        (seen,) = json.loads(capsys.readouterr().out)["servers"]
        assert seen["pid"] == process.pid
        assert run(["--fleet", str(path), "diagnose", place, "--json"]) in (ExitCode.FINE, ExitCode.NOT_AS_ASKED)
        assert json.loads(capsys.readouterr().out)["server"] == seen["name"]
        assert run(["--fleet", str(path), "stop", place, "--yes", "--drain", "1"]) == ExitCode.FINE
        assert f"ends pid {process.pid} " in capsys.readouterr().err
        assert run(["--fleet", str(path), "wait", place, "--for", "stopped", "--timeout", "60"]) == ExitCode.FINE
    assert f"{place} does not run" in capsys.readouterr().err


def test_a_word_that_is_no_server_says_all_spellings(stand_in: StandIn, capsys: pytest.CaptureFixture[str]) -> None:
    path = fleet_file(stand_in)
    assert run(["--fleet", str(path), "wait", "othr"]) == ExitCode.USAGE
    assert "did you mean other?; one that is in no file is HOST:PORT or HOST/NAME" in capsys.readouterr().err
    assert run(["wait", "kimi"]) == ExitCode.USAGE
    assert "there is no fleet file, so no server `kimi`: say HOST:PORT or HOST/NAME" in capsys.readouterr().err

"""`specdeck diagnose`, as a user types it, on this machine; what it says of a log is what `inspect` says."""

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
CASE = Path(__file__).parents[1] / "cases" / "B07_cause_far_above_tail" / "server.log"
Verb = Callable[..., int]


@pytest.fixture
def crashed(tmp_path: Path) -> Path:
    """A run whose process is gone; its log."""
    lab = Lab(tmp_path)
    (tmp_path / "fleet.yaml").write_text(FLEET.format(state=tmp_path / "state", port=lab.port))
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    (lab.runs / "0001").mkdir(parents=True)
    lab.tell(
        "0001", profile="baseline", who="ann", started="1795968000", boot=boot, pid="4194304 17", exit="1 1795968060"
    )
    (lab.runs / "0001" / "log").write_bytes(CASE.read_bytes())
    return lab.runs / "0001" / "log"


@pytest.fixture
def verb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Verb:
    """Runs a verb with the fleet."""
    monkeypatch.setattr(status, "SETTLE_SECONDS", 1.5)
    return lambda *words: run(["--fleet", str(tmp_path / "fleet.yaml"), *words])


def test_diagnose_and_inspect_name_the_same_cause(
    crashed: Path, verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verb("diagnose", "kimi", "--json") == ExitCode.NOT_AS_ASKED
    told = json.loads(capsys.readouterr().out)
    assert verb("inspect", str(crashed), "--json") == ExitCode.NOT_AS_ASKED
    inspected = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["state"], told["ended"], told["log"]) == (1, "crashed", "exit 1", str(crashed))
    assert (told["cause"]["line"], told["cause"]["rank"]) == (59, "EngineCore_DP0")
    assert told["cause"] == inspected["cause"]
    assert [line["line"] for line in told["context"]] == list(range(54, 65))


def test_diagnose_tells_a_person_the_cause_the_place_and_what_to_do(
    crashed: Path, verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verb("diagnose", "kimi") == ExitCode.NOT_AS_ASKED
    first, cause, advice, *_ = capsys.readouterr().out.splitlines()
    assert first == "kimi crashed  (exit 1)"
    assert cause.startswith("  cause: ValueError: To serve at least one request with max seq len 131072")
    assert cause.endswith("[line 59, EngineCore_DP0]")
    assert advice.startswith("  what to do: ")


def test_a_server_that_the_fleet_does_not_have(crashed: Path, verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    assert verb("diagnose", "qwen") == ExitCode.USAGE
    assert "no server `qwen`" in capsys.readouterr().err

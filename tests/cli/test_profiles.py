"""`specdeck profiles`: which of them fit an engine's version, said or asked on the host."""

import json
from pathlib import Path

import pytest
from tests.services.stand_in import StandIn, make_stand_in

from specdeck.cli.main import run
from specdeck.errors import ExitCode


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, bool]:
    """Name and fit of each profile in JSON."""
    return {each["name"]: each["fits"] for each in json.loads(capsys.readouterr().out)["profiles"]}


def test_a_version_says_which_profiles_fit_and_what_it_makes_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["profiles", "--engine", "sglang", "--for", "0.5.12"]) == ExitCode.FINE
    shown = capsys.readouterr()
    rows = [line.split() for line in shown.out.splitlines()]
    assert [(row[0], row[3]) for row in rows[1:]] == [
        ("baseline", "fits"),
        ("eagle3-v1", "fits"),
        ("eagle3-v2", "fits"),
    ]
    assert "eagle3-v1: On SGLang 0.5.12: the v1 worker, a tree of topk 4." in shown.err
    run(["profiles", "--engine", "sglang", "--for", "0.5.20", "--json"])
    assert told(capsys) == {"baseline": True, "eagle3-v1": False, "eagle3-v2": False}


def test_a_version_without_its_engine_means_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["profiles", "--for", "0.5.12"]) == ExitCode.USAGE
    assert "say which with --engine" in capsys.readouterr().err


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    """A host's interpreter with SGLang 0.5.12."""
    return make_stand_in(tmp_path)


def test_the_host_of_a_server_is_asked_for_its_version(stand_in: StandIn, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = stand_in.folder / "fleet.yaml"
    server = f"{{model: /m, port: {stand_in.port}, python: {stand_in.python}, profiles: [baseline]}}"
    fleet.write_text(
        f"hosts:\n  lab:\n    ssh: localhost\n    servers:\n      kimi: {server}\n      bare: {{model: /m, port: 1}}\n"
    )
    assert run(["--fleet", str(fleet), "profiles", "--server", "kimi", "--json"]) == ExitCode.FINE
    assert told(capsys) == {"baseline": True, "eagle3-v1": True, "eagle3-v2": True}
    assert run(["--fleet", str(fleet), "profiles", "--server", "bare"]) == ExitCode.USAGE
    assert "bare has no profile that says which engine it runs" in capsys.readouterr().err

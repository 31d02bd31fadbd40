"""A specdeck that is read-only refuses every verb that acts, before it asks the host anything."""

from pathlib import Path

import pytest

from specdeck.cli.main import run
from specdeck.errors import ExitCode

FLEET = "hosts: {lab: {ssh: nowhere.invalid, servers: {kimi: {model: /m, port: 30000, profiles: [baseline]}}}}\n"


@pytest.mark.parametrize("verb", ["launch", "stop", "relaunch", "pivot"])
@pytest.mark.parametrize("said_by", ["option", "environment"])
def test_every_acting_verb_is_refused(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], verb: str, said_by: str
) -> None:
    (empty_folder / "fleet.yaml").write_text(FLEET)
    if said_by == "environment":
        monkeypatch.setenv("SPECDECK_READ_ONLY", "1")
    options = ["--read-only"] if said_by == "option" else []
    assert run([*options, verb, "kimi", "--yes"]) == ExitCode.REFUSED
    assert capsys.readouterr().err == f"specdeck: specdeck is read-only here: no {verb}\n"

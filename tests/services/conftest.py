"""What all tests of services share."""

import os
from pathlib import Path

import pytest
from tests.services import way
from tests.services.bench import bench, local_bench, stand_in

__all__ = ["bench", "local_bench", "stand_in"]


@pytest.fixture(autouse=True)
def own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """specdeck's own log and runs go under the test's folder, unless a test says otherwise."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own-state"))


@pytest.fixture(autouse=True, scope="session")
def over_openssh(request: pytest.FixtureRequest) -> None:
    """All acts through OpenSSH, where that is asked for."""
    if os.environ.get("SPECDECK_TESTS_OVER") == "ssh":
        way.OPENSSH[:] = [request.getfixturevalue("openssh")]

"""A user's folder with nothing in it, and no configuration of the machine that runs the tests."""

from pathlib import Path

import pytest
from tests.config.writing import Desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """An empty current folder, an empty XDG folder, no `$SPECDECK_FLEET`."""
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("SPECDECK_FLEET", raising=False)
    return Desk(folder)

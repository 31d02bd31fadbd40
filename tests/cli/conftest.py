"""A command line in an empty folder, without the configuration of the machine that runs the tests."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import click
import pytest

AddVerb = Callable[[str, click.Command], None]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of a user who has nothing configured yet."""
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own-state"))
    for name in ("SPECDECK_FLEET", "SPECDECK_READ_ONLY", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def add_verb(monkeypatch: pytest.MonkeyPatch) -> AddVerb:
    """Put a command in the place of a verb's own."""

    def add(module: str, command: click.Command) -> None:
        made = ModuleType(f"specdeck.cli.verbs.{module}")
        made.command = command  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, made.__name__, made)

    return add

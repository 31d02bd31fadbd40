"""The settings that the README shows are ones that specdeck takes."""

import re
from pathlib import Path

import pytest

from specdeck.config.problems import Problems
from specdeck.config.settings import read_settings
from specdeck.ui.keymap import keymap_of

README = Path(__file__).parents[2] / "README.md"


def test_the_config_file_of_the_readme_is_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = re.search(r"```yaml\n(# ~/.config/specdeck/config.yaml.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert shown is not None
    (tmp_path / "specdeck").mkdir()
    (tmp_path / "specdeck/config.yaml").write_text(shown.group(1))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    problems = Problems()
    settings = read_settings(problems)
    assert problems.found == []
    assert keymap_of(settings.keys) == ({"relaunch": ("ctrl+r",)}, [])
    assert settings.alerts.command == ("sh", "-c", 'notify-send specdeck "$SPECDECK_ALERT"')


def test_the_readme_names_the_way_out_that_nothing_can_catch() -> None:
    assert "`kill -9`, which nothing can catch, `reset`" in " ".join(README.read_text("utf-8").split())

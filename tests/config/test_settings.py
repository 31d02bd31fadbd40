"""The user's own config.yaml: defaults, every section, every problem with its place."""

from pathlib import Path

import pytest
from tests.config.writing import Desk

from specdeck.config import schema
from specdeck.config.problems import Problems
from specdeck.config.settings import AlertSettings, Settings, read_settings
from specdeck.state.alert_rules import RULES


@pytest.fixture
def config(desk: Desk, tmp_path: Path) -> Path:
    folder = tmp_path / "xdg/specdeck"
    folder.mkdir(parents=True)
    return folder / "config.yaml"


def test_without_a_file_there_are_defaults(desk: Desk) -> None:
    problems = Problems()
    assert read_settings(problems) == Settings()
    assert problems.found == []


def test_every_section(config: Path) -> None:
    config.write_text(
        "ascii: true\nmouse: false\n"
        "alerts:\n  kinds: [crashed, ready]\n  bell: false\n  command: [notify-send, specdeck]\n"
        "  webhook: https://hooks.example/x\n"
        "keys:\n  relaunch: ctrl+r\n  stop: [K, f9]\n"
    )
    problems = Problems()
    found = read_settings(problems)
    assert problems.found == []
    assert (found.is_ascii, found.has_mouse) == (True, False)
    assert found.alerts == AlertSettings(
        ("crashed", "ready"), False, True, ("notify-send", "specdeck"), "https://hooks.example/x"
    )
    assert {name: choice.keys for name, choice in found.keys.items()} == {"relaunch": ("ctrl+r",), "stop": ("K", "f9")}
    assert str(found.keys["stop"].place) == f"{config}:10:9"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("asci: true\n", "1:1: asci: unknown key, did you mean ascii?"),
        ("alerts:\n  webhook: hooks.example\n", "2:12: alerts.webhook: "),
        ("alerts:\n  kinds: [crashd]\n", "2:11: alerts.kinds[0]: "),
        ("mouse: maybe\n", "1:8: mouse: "),
        ("keys: {7: x}\n", "1:8: keys.7: "),
    ],
)
def test_a_problem_has_its_place_and_the_rest_counts(config: Path, text: str, said: str) -> None:
    config.write_text(f"{text}x-note: 1\n")
    problems = Problems()
    assert read_settings(problems).alerts.bell
    assert [str(problem)[len(str(config)) + 1 :].startswith(said) for problem in problems.found] == [True], (
        problems.found
    )


def test_the_kinds_of_the_file_are_those_of_the_rules() -> None:
    assert tuple(rule.kind for rule in RULES) == schema.ALERT_KINDS

"""`specdeck keys` and what `check` says of the user's keys."""

import json
from pathlib import Path

import pytest

from specdeck.cli.main import run


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("SPECDECK_FLEET", raising=False)
    (tmp_path / "specdeck").mkdir()
    return tmp_path / "specdeck/config.yaml"


def test_keys_lists_names_and_the_users_own_keys(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text("keys:\n  relaunch: ctrl+r\n")
    assert run(["keys"]) == 0
    rows = {line.split()[0]: line.split()[1] for line in capsys.readouterr().out.splitlines()}
    assert (rows["relaunch"], rows["stop"]) == ("ctrl+r", "K")
    assert run(["keys", "--json"]) == 0
    keys = {each["name"]: each["keys"] for each in json.loads(capsys.readouterr().out)["keys"]}
    assert keys["help"] == ["question_mark", "f1"]


@pytest.mark.parametrize("verb", ["keys", "check"])
def test_a_clash_is_named_with_its_place_and_the_exit_code_is_2(
    config: Path, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    config.write_text("keys:\n  relaunch: q\n")
    assert run([verb]) == 2
    assert f"{config}:2:13: keys.relaunch: q is the key of quit already" in capsys.readouterr().err


def test_ascii_prints_no_character_above_127(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import subprocess
    import sys

    for words in (["keys"], ["keys", "--json"]):
        done = subprocess.run([sys.executable, "-m", "specdeck", "--ascii", *words], capture_output=True, check=True)
        assert done.stdout.isascii()
        assert b"scroll-down" in done.stdout
    assert json.loads(done.stdout)["keys"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name: mine\ncolors:\n  primary: "#336699"\n  error: nosuch\n', "4:10: theme mine: error: "),
        ('name: mine\ncolors: {primary: "#369"}\nvariables:\n  foreground: "}{"\n', "4:15: theme mine: foreground: "),
    ],
)
def test_check_names_the_place_of_a_colour_that_cannot_be(
    config: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    theme = config.parent / "themes/mine.yaml"
    theme.parent.mkdir()
    theme.write_text(text)
    assert run(["check"]) == 2
    assert f"{theme}:{said}" in capsys.readouterr().err


def test_check_is_content_with_a_good_theme_of_ones_own(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theme = config.parent / "themes/mine.yaml"
    theme.parent.mkdir()
    theme.write_text('name: mine\ncolors: {primary: "#336699"}\n')
    assert run(["check"]) == 0
    assert "9 themes" in capsys.readouterr().out

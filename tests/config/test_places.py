"""Where files are found, and that what is shipped is there."""

import tomllib
from pathlib import Path

import pytest
import yaml
from tests.config.writing import Desk

from specdeck.config import places, schema
from specdeck.config.json_schema import json_schema
from specdeck.config.problems import Problems
from specdeck.config.profile import load_profiles
from specdeck.config.theme import ThemeSpec, read_themes

TOP = Path(__file__).parents[2]
SHIPPED = ["baseline", "eagle3-v1", "eagle3-v2", "tgi-baseline", "trtllm-baseline", "vllm-baseline", "vllm-ngram"]


def test_shipped_profiles_are_there_and_good() -> None:
    problems = Problems()
    assert list(load_profiles([places.shipped("profiles")], problems)) == SHIPPED
    assert problems.found == []


def test_shipped_themes_are_good() -> None:
    problems = Problems()
    read_themes([places.shipped("themes")], problems)
    assert problems.found == []


def test_wheel_takes_the_shipped_folders_to_where_they_are_looked_for() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))
    moved = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert moved == {"themes": "specdeck/shipped/themes", "profiles": "specdeck/shipped/profiles"}


def test_folders_go_from_the_fleet_s_own_to_the_shipped() -> None:
    folders = places.folders_of("profiles", Path("/lab/fleet.yaml"), {"XDG_CONFIG_HOME": "/xdg"})
    assert folders == (Path("/lab/profiles"), Path("/xdg/specdeck/profiles"), places.shipped("profiles"))


@pytest.mark.parametrize("named", ["", "relative/path"])
def test_xdg_folder_that_does_not_count(named: str) -> None:
    assert places.config_folder({"XDG_CONFIG_HOME": named}) == Path.home() / ".config/specdeck"
    assert places.state_folder({"XDG_STATE_HOME": named}) == Path.home() / ".local/state/specdeck"
    assert places.cache_folder({"XDG_CACHE_HOME": named}) == Path.home() / ".cache/specdeck"


def test_theme_file_with_everything(desk: Desk) -> None:
    text = 'name: plain\ndark: false\ncolors: {primary: "#336699", error: ansi_red}\nvariables: {bar-fill: "#123"}\n'
    path = desk.write("themes/any.yaml", text)
    assert read_themes([desk.folder / "themes"], Problems())["plain"] == ThemeSpec(
        "plain", False, {"primary": "#336699", "error": "ansi_red"}, {"bar-fill": "#123"}, path
    )


def test_theme_with_problems(desk: Desk) -> None:
    desk.write("themes/a.yaml", "name: x\ncolors:\n  primery: red\n  error: '#12345'\n")
    desk.write("themes/b.yaml", "name: x\ncolors: {primary: red}\n")
    problems = Problems()
    read_themes([Path("themes")], problems)
    assert [str(problem) for problem in sorted(problems.found)] == [
        "themes/a.yaml:2:1: colors.primary: is missing",
        "themes/a.yaml:3:3: colors.primery: unknown key, did you mean primary?",
        'themes/a.yaml:4:10: colors.error: `#12345` should be a colour such as "#1e90ff"',
        "themes/b.yaml:1:7: name: x is the name of a.yaml already",
    ]


def test_colour_that_yaml_takes_for_a_comment(desk: Desk) -> None:
    desk.write("themes/a.yaml", "name: x\ncolors:\n  primary: #336699\n")
    problems = Problems()
    read_themes([Path("themes")], problems)
    assert [str(problem) for problem in problems.found] == ["themes/a.yaml:3:3: colors.primary: text is missing"]


@pytest.mark.parametrize("name", sorted(schema.FILES))
def test_json_schema_has_every_key_of_the_table(name: str) -> None:
    made = json_schema(name)
    assert list(made["properties"]) == list(schema.FILES[name].keys)


def test_shipped_files_use_only_keys_of_the_schema() -> None:
    known = json_schema("profile")["properties"]
    for path in places.shipped("profiles").glob("*.yaml"):
        assert set(yaml.safe_load(path.read_text("utf-8"))) <= set(known), path

"""check, profiles, themes and schema, as a user or a script sees them."""

import json
from pathlib import Path

import pytest

from specdeck.cli.main import run
from specdeck.cli.output import print_table
from specdeck.errors import ExitCode

Capture = pytest.CaptureFixture[str]
FLEET = """\
hosts:
  lab:
    ssh: root@gpu-a
    servers:
      kimi: {model: /models/kimi, port: 30000, draft_model: /models/draft, profiles: [eagle3-v1, eagle3-v2]}
      solo: {model: /models/solo, port: 30001, profiles: [baseline]}
"""
THEME = 'name: plain\ndark: false\ncolors: {primary: "#336699", error: red}\nvariables: {bar-fill: "#123456"}\n'


@pytest.fixture
def fleet(empty_folder: Path) -> Path:
    """A good fleet file in the current folder."""
    path = empty_folder / "fleet.yaml"
    path.write_text(FLEET)
    return path


def said(capsys: Capture) -> dict[str, object]:
    """The JSON object on stdout."""
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    assert next(iter(found)) == "schema"
    return found


@pytest.mark.usefixtures("fleet")
def test_check_of_a_good_fleet_counts_and_notes(capsys: Capture) -> None:
    assert run(["check"]) == ExitCode.FINE
    shown = capsys.readouterr()
    assert shown.out.startswith("fleet.yaml: 1 host, 2 servers, 7 profiles, ")
    assert shown.err == "note: server lab/solo has one profile: a pivot needs two\n"


def test_check_without_a_fleet_file_still_checks_profiles(capsys: Capture) -> None:
    assert run(["check"]) == ExitCode.FINE
    assert capsys.readouterr().out.startswith("no fleet file: 0 hosts, 0 servers, 7 profiles, ")


def test_check_shows_the_problems_of_all_files(fleet: Path, capsys: Capture) -> None:
    fleet.write_text("hosts: {lab: {shh: x}}\n")
    for name, text in (("profiles/own", "engine: none\n"), ("themes/own", "name: own\n")):
        path = fleet.parent / f"{name}.yaml"
        path.parent.mkdir()
        path.write_text(text)
    assert run(["check"]) == ExitCode.USAGE
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines()[:3] == [
        "fleet.yaml:1:15: hosts.lab.shh: unknown key, did you mean ssh?",
        "profiles/own.yaml:1:9: engine: `none` is none of sglang, vllm, llamacpp, tgi, trtllm, ollama",
        "themes/own.yaml:1:1: colors: is missing",
    ]
    assert shown.err.splitlines()[-1] == "specdeck: 3 problems"


def test_check_as_json(fleet: Path, capsys: Capture) -> None:
    fleet.write_text("hosts: {lab: {shh: x}}\n")
    assert run(["check", "--json"]) == ExitCode.USAGE
    found = said(capsys)
    assert found["problems"] == [
        {
            "file": "fleet.yaml",
            "line": 1,
            "column": 15,
            "key": "hosts.lab.shh",
            "what": "unknown key, did you mean ssh?",
        }
    ]
    assert (found["schema"], found["hosts"]) == (1, 1)


def test_profiles_are_listed_with_where_they_come_from(capsys: Capture) -> None:
    assert run(["profiles"]) == ExitCode.FINE
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["PROFILE", "ENGINE", "REQUIRES", "FROM", "WHAT", "IT", "IS"]
    assert lines[1].split() == [
        *("baseline", "sglang", "-", "shipped", "SGLang", "without", "speculative", "decoding"),
    ]


def test_profiles_as_json(capsys: Capture) -> None:
    assert run(["profiles", "--json"]) == ExitCode.FINE
    found = said(capsys)["profiles"]
    assert isinstance(found, list)
    assert [entry["name"] for entry in found] == [
        "baseline",
        "eagle3-v1",
        "eagle3-v2",
        "tgi-baseline",
        "trtllm-baseline",
        "vllm-baseline",
        "vllm-ngram",
    ]
    assert found[0]["requires"] is None


@pytest.mark.usefixtures("fleet")
def test_profile_of_a_server_is_its_exact_command(capsys: Capture) -> None:
    assert run(["profiles", "eagle3-v2", "--server", "lab/kimi"]) == ExitCode.FINE
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["env SGLANG_ENABLE_SPEC_V2=True \\", "  python3 -m sglang.launch_server \\"]
    assert "  --speculative-draft-model-path /models/draft \\" in lines
    assert lines[-1] == "  --speculative-num-draft-tokens 4"


@pytest.mark.usefixtures("fleet")
def test_profile_of_a_server_as_json(capsys: Capture) -> None:
    assert run(["profiles", "baseline", "--server", "solo", "--json"]) == ExitCode.FINE
    found = said(capsys)
    assert found["server"] == "solo"
    argv = found["argv"]
    assert isinstance(argv, list)
    assert argv[:3] == ["python3", "-m", "sglang.launch_server"]
    assert "/models/solo" in argv


@pytest.mark.usefixtures("fleet")
@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["launch", "solo", "--profile", "eagle3"], "specdeck: there is no profile eagle3, did you mean eagle3-v2?\n"),
        (
            ["logs", "kimi", "--grep", "(OOM"],
            "specdeck: --grep: `(OOM` is no regular expression: missing ), unterminated subpattern at position 0\n",
        ),
        (["profiles", "eagle3"], "specdeck: there is no profile eagle3, did you mean eagle3-v2?\n"),
        (["profiles", "baseline", "--server", "kimmi"], "specdeck: there is no server kimmi, did you mean kimi?\n"),
        (
            ["profiles", "eagle3-v1", "--server", "solo"],
            "specdeck: `{draft_model}` is used and the server has no `draft_model`: set it in the fleet file\n",
        ),
    ],
)
def test_name_that_does_not_exist(args: list[str], sentence: str, capsys: Capture) -> None:
    assert run(args) == ExitCode.USAGE
    assert capsys.readouterr() == ("", sentence)


def test_themes_beside_the_fleet_file(fleet: Path, capsys: Capture) -> None:
    (fleet.parent / "themes").mkdir()
    (fleet.parent / "themes/plain.yaml").write_text(THEME)
    assert run(["themes", "--json"]) == ExitCode.FINE
    found = said(capsys)["themes"]
    assert isinstance(found, list)
    assert {"name": "plain", "dark": False, "source": "themes/plain.yaml"} in found


def test_schema_is_of_the_fleet_unless_said(capsys: Capture) -> None:
    assert run(["schema"]) == ExitCode.FINE
    found = json.loads(capsys.readouterr().out)
    server = found["properties"]["hosts"]["additionalProperties"]["properties"]["servers"]["additionalProperties"]
    assert server["required"] == ["model", "port"]
    assert server["properties"]["port"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 65535,
        "description": "The port that the server listens on",
    }
    assert server["additionalProperties"] is False


def test_schema_of_a_profile_knows_the_engines(capsys: Capture) -> None:
    assert run(["schema", "profile"]) == ExitCode.FINE
    assert json.loads(capsys.readouterr().out)["properties"]["engine"]["enum"] == [
        "sglang",
        "vllm",
        "llamacpp",
        "tgi",
        "trtllm",
        "ollama",
    ]


def test_on_a_narrow_terminal_the_last_column_goes_on_under_its_beginning(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    print_table(("KEY", "DOES"), [("v", "Stop the server and start it with another"), ("q", "Leave")])
    assert capsys.readouterr().out.splitlines() == [
        "KEY  DOES",
        "v    Stop the server and start",
        "     it with another",
        "q    Leave",
    ]


def test_table_is_aligned_and_shows_control_characters(capsys: Capture) -> None:
    print_table(("A", "B"), [("日本", "x\x1b[31m"), ("é", "y")])
    assert capsys.readouterr().out == "A     B\n日本  x\\x1b[31m\né     y\n"

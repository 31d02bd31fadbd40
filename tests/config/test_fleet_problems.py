"""What is wrong with a fleet file is said with line, column, key and the nearest spelling. Places are counted by eye."""

import pytest
from tests.config.writing import Desk

from specdeck.config.fleet import load_fleet
from specdeck.errors import ConfigError

ONE_SERVER = """\
hosts:
  lab:
    servers:
      kimi:
        model: /models/kimi
        port: 30000
"""


def test_unknown_key_names_the_nearest(desk: Desk) -> None:
    assert desk.problems(ONE_SERVER + "        drain_second: 5\n") == [
        "7:9: hosts.lab.servers.kimi.drain_second: unknown key, did you mean drain_seconds?"
    ]


def test_unknown_key_near_nothing_names_nothing(desk: Desk) -> None:
    assert desk.problems(ONE_SERVER + "        zzz: 5\n") == ["7:9: hosts.lab.servers.kimi.zzz: unknown key"]


def test_duplicate_key_names_the_first_line(desk: Desk) -> None:
    assert desk.problems(ONE_SERVER + "        port: 30001\n") == [
        "7:9: hosts.lab.servers.kimi.port: is there twice, first on line 6"
    ]


def test_missing_keys_are_missing_where_the_server_is_named(desk: Desk) -> None:
    assert desk.problems("hosts:\n  lab:\n    servers:\n      kimi: {}\n") == [
        "4:7: hosts.lab.servers.kimi.model: is missing",
        "4:7: hosts.lab.servers.kimi.port: is missing",
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("port: seven", "6:15: hosts.lab.servers.kimi.port: `seven` should be a whole number"),
        ("port: 0", "6:15: hosts.lab.servers.kimi.port: 0 is out of range, 1 to 65535"),
        ("port: 70000", "6:15: hosts.lab.servers.kimi.port: 70000 is out of range, 1 to 65535"),
        ("port: 1.5", "6:15: hosts.lab.servers.kimi.port: `1.5` should be a whole number"),
        ("port: '30000'", "6:15: hosts.lab.servers.kimi.port: `30000` should be a whole number"),
        ("port: [1]", "6:15: hosts.lab.servers.kimi.port: should be one value, not a list"),
    ],
)
def test_port_that_is_none(desk: Desk, line: str, problem: str) -> None:
    assert desk.problems(ONE_SERVER.replace("port: 30000", line)) == [problem]


def test_port_with_a_leading_zero(desk: Desk) -> None:
    [problem] = desk.problems(ONE_SERVER.replace("port: 30000", "port: 030000"))
    assert problem.startswith("6:15: hosts.lab.servers.kimi.port: `030000` with its leading zero is octal in YAML")


def test_port_twice_on_one_host(desk: Desk) -> None:
    assert desk.problems(ONE_SERVER + "      glm: {model: m, port: 30000}\n") == [
        "7:29: hosts.lab.servers.glm.port: 30000 is the port of kimi on this host already"
    ]


def test_same_port_on_two_hosts_is_fine(desk: Desk) -> None:
    desk.write("fleet.yaml", ONE_SERVER + "  lab2:\n    servers:\n      kimi: {model: m, port: 30000}\n")
    assert [host.name for host in load_fleet(None).hosts] == ["lab", "lab2"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("no", '`no` is true/false in YAML; text must stand in quotes: "no"'),
        ("1.10", '`1.10` is a number in YAML; text must stand in quotes: "1.10"'),
        ("2026-01-01", '`2026-01-01` is a date in YAML; text must stand in quotes: "2026-01-01"'),
        ("null", '`null` is nothing (null) in YAML; text must stand in quotes: "null"'),
        ("!secret x", "the tag `!secret` means nothing here"),
        (r'"a\0b"', "a NUL character cannot be passed to a program"),
        ("''", "`` should be something, not nothing"),
        ("{a: b}", "should be text, not a mapping; a value that begins with { must stand in quotes"),
    ],
)
def test_text_that_yaml_takes_for_something_else(desk: Desk, text: str, what: str) -> None:
    assert desk.problems(ONE_SERVER.replace("/models/kimi", text)) == [f"5:16: hosts.lab.servers.kimi.model: {what}"]


def test_nothing_after_the_colon_is_a_problem_of_the_key(desk: Desk) -> None:
    assert desk.problems(ONE_SERVER.replace("/models/kimi", "")) == [
        "5:9: hosts.lab.servers.kimi.model: text is missing"
    ]


@pytest.mark.parametrize("word", ["yes", "Off"])
def test_yes_and_off_as_an_argument(desk: Desk, word: str) -> None:
    assert desk.problems(ONE_SERVER + f"        args: {{x: {word}}}\n") == [
        f'7:19: hosts.lab.servers.kimi.args.x: `{word}` is true/false in YAML; write true or false, or text in quotes: "{word}"'
    ]


def test_variable_that_yaml_takes_for_a_boolean(desk: Desk) -> None:
    assert desk.problems(ONE_SERVER + "        env: {SGLANG_ENABLE_SPEC_V2: True}\n") == [
        "7:38: hosts.lab.servers.kimi.env.SGLANG_ENABLE_SPEC_V2: "
        '`True` is true/false in YAML; text must stand in quotes: "True"'
    ]


def test_name_of_a_variable_that_no_shell_takes(desk: Desk) -> None:
    assert desk.problems(ONE_SERVER + "        env: {A-B: x}\n") == [
        "7:15: hosts.lab.servers.kimi.env.A-B: `A-B` should be letters, digits and `_`, a digit not first"
    ]


def test_json_without_quotes(desk: Desk) -> None:
    assert desk.problems(ONE_SERVER + '        args: {speculative-config: {"method": "eagle3"}}\n') == [
        "7:36: hosts.lab.servers.kimi.args.speculative-config: should be one value or a list, not a mapping; "
        'JSON must stand in quotes: \'{"key": "value"}\''
    ]


def test_null_in_a_list_of_arguments(desk: Desk) -> None:
    assert desk.problems(ONE_SERVER + "        args: {x: [1, null]}\n") == [
        "7:23: hosts.lab.servers.kimi.args.x[1]: true, false and null have no meaning in a list"
    ]


@pytest.mark.parametrize("flag", ["port", "--port"])
def test_port_among_the_arguments(desk: Desk, flag: str) -> None:
    [problem] = desk.problems(ONE_SERVER + f"        args: {{{flag}: 1}}\n")
    assert problem.endswith(f"hosts.lab.servers.kimi.args.{flag}: the port is the server's `port` in the fleet file")


def test_api_key_among_the_arguments(desk: Desk) -> None:
    [problem] = desk.problems(ONE_SERVER + "        args: {api-key: sesame}\n")
    assert "api_key_env" in problem
    assert "sesame" not in problem


def test_server_names_a_profile_that_does_not_exist(desk: Desk) -> None:
    assert desk.problems(
        ONE_SERVER + "        draft_model: d\n        profiles: [baseline, eagle3-v3, baseline]\n"
    ) == [
        "8:30: hosts.lab.servers.kimi.profiles[1]: there is no profile eagle3-v3, did you mean eagle3-v2?",
        "8:41: hosts.lab.servers.kimi.profiles[2]: baseline is in the list twice",
    ]


def test_profile_needs_a_draft_model_that_the_server_does_not_name(desk: Desk) -> None:
    assert desk.problems(ONE_SERVER + "        profiles: [baseline, eagle3-v2]\n") == [
        "7:30: hosts.lab.servers.kimi.profiles[1]: eagle3-v2 uses {draft_model}, and this server has no draft_model"
    ]


def test_misspelt_placeholder(desk: Desk) -> None:
    assert desk.problems(ONE_SERVER + '        args: {x: "{draft-model}"}\n') == [
        "7:19: hosts.lab.servers.kimi.args.x: unknown placeholder {draft-model}, did you mean {draft_model}?"
    ]


@pytest.mark.parametrize("ssh", ["-oProxyCommand=touch", '"a b"'])
def test_ssh_name_that_is_an_option_or_two_words(desk: Desk, ssh: str) -> None:
    [problem] = desk.problems(f"hosts:\n  lab:\n    ssh: {ssh}\n")
    assert problem.startswith("3:10: hosts.lab.ssh: ")


def test_server_name_that_would_leave_its_folder(desk: Desk) -> None:
    [problem] = desk.problems("hosts:\n  lab:\n    servers:\n      ../x: {model: m, port: 1}\n")
    assert (
        problem
        == "4:7: hosts.lab.servers.../x: `../x` should be letters, digits, `.`, `_` and `-`, a letter or digit first, at most 63"
    )


def test_empty_file(desk: Desk) -> None:
    assert desk.problems("# nothing\n") == ["1:1: file: it is empty"]


def test_list_instead_of_a_mapping(desk: Desk) -> None:
    assert desk.problems("- lab\n") == ["1:1: file: should be a mapping (key: value), not a list"]


def test_hosts_without_a_host(desk: Desk) -> None:
    assert desk.problems("hosts:\n") == ["1:1: hosts: there is no host in it"]


def test_syntax_error_has_its_place_and_a_hint(desk: Desk) -> None:
    [problem] = desk.problems("hosts:\n  lab: {ssh: >=2}\n  x\n")
    assert problem.startswith("2:")
    [problem] = desk.problems("hosts:\n  lab:\n    ssh: a: b\n")
    assert problem.startswith("3:11: YAML: mapping values are not allowed here")
    assert "quotes" in problem


def test_second_document(desk: Desk) -> None:
    [problem] = desk.problems("hosts: {a: }\n---\nhosts: {b: }\n")
    assert problem.startswith("2:1: YAML: expected a single document")


def test_tab(desk: Desk) -> None:
    [problem] = desk.problems("hosts:\n\tlab: x\n")
    assert problem.startswith("2:1: YAML: ")
    assert "a tab" in problem


def test_byte_that_is_not_utf_8(desk: Desk) -> None:
    desk.write("fleet.yaml", "").write_bytes("hosts:\n  é".encode() + b"\xff: x\n")
    with pytest.raises(ConfigError, match=r"^fleet\.yaml:2:4: file: byte 0xff is not UTF-8$"):
        load_fleet(None)


def test_control_character(desk: Desk) -> None:
    [problem] = desk.problems("hosts:\n  a\x1b: x\n")
    assert problem == "2:4: YAML: character '\\\\x1b' is not allowed here"


def test_nested_too_deeply(desk: Desk) -> None:
    assert desk.problems("[" * 5000) == ["1:1: YAML: it is nested too deeply"]


def test_all_problems_are_shown_in_their_order(desk: Desk) -> None:
    text = "hosts:\n  lab:\n    shh: gpu-a\n    servers:\n      kimi: {modle: m, port: 99999}\nhost: x\n"
    assert [problem.partition(": ")[0] for problem in desk.problems(text)] == ["3:5", "5:7", "5:14", "5:30", "6:1"]


def test_named_file_that_is_not_there(desk: Desk) -> None:
    with pytest.raises(ConfigError, match=r"gone\.yaml:1:1: file: there is no such file"):
        load_fleet(desk.folder / "gone.yaml")


def test_folder_instead_of_a_file(desk: Desk) -> None:
    with pytest.raises(ConfigError, match=r"desk:1:1: file: cannot be read: Is a directory"):
        load_fleet(desk.folder)


def test_no_fleet_file_and_no_target(desk: Desk) -> None:
    with pytest.raises(ConfigError, match=r"there is no fleet file .*specdeck root@gpu-a.*specdeck demo"):
        load_fleet(None)

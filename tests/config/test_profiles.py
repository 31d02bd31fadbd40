"""Launch profiles: where they are found, how `extends` merges, and what is wrong with them."""

import pytest
from tests.config.writing import Desk

from specdeck.config.fleet import load_fleet
from specdeck.config.objects import Profile
from specdeck.config.schema import ENGINE_NAMES
from specdeck.engines.command import build_command
from specdeck.engines.registry import ENGINES
from specdeck.errors import ConfigError


def profile(name: str) -> Profile:
    """The profile that a user would get here."""
    return load_fleet(None, ["gpu-a"]).profiles[name]


def problems(desk: Desk) -> list[str]:
    """What is wrong with the profiles beside an otherwise good fleet file."""
    lines = desk.problems("hosts: {a: }\n")
    return [line.removeprefix("profiles/") for line in lines]


def test_shipped_pivot_pair() -> None:
    v1, v2 = profile("eagle3-v1"), profile("eagle3-v2")
    assert v1.requires == v2.requires == ">=0.5.5,<0.5.13"
    assert (v1.env, v2.env) == ({"SGLANG_ENABLE_SPEC_V2": "False"}, {"SGLANG_ENABLE_SPEC_V2": "True"})
    shared = {
        "speculative-algorithm": "EAGLE3",
        "speculative-draft-model-path": "{draft_model}",
        "speculative-num-steps": 3,
    }
    assert v1.args == {**shared, "speculative-eagle-topk": 4, "speculative-num-draft-tokens": 16}
    assert v2.args == {**shared, "speculative-eagle-topk": 1, "speculative-num-draft-tokens": 4}
    assert v1.base_args == v2.base_args == {"enable-metrics": True, "max-running-requests": 48}


def test_shipped_json_is_kept_byte_for_byte() -> None:
    assert profile("vllm-ngram").args == {
        "speculative-config": '{"method":"ngram","num_speculative_tokens":4,"prompt_lookup_max":4,"prompt_lookup_min":1}'
    }


def test_engines_of_the_schema_are_those_of_the_registry() -> None:
    assert set(ENGINE_NAMES) == set(ENGINES)


def test_profile_beside_the_fleet_file_goes_before_xdg_and_that_before_shipped(desk: Desk) -> None:
    desk.write("fleet.yaml", "hosts: {a: }\n")
    assert profile("baseline").describe == "SGLang without speculative decoding"
    desk.write("../xdg/specdeck/profiles/baseline.yaml", "engine: sglang\ndescribe: in xdg\n")
    assert profile("baseline").describe == "in xdg"
    desk.write("profiles/baseline.yaml", "engine: sglang\ndescribe: beside\n")
    assert profile("baseline").describe == "beside"


def test_extends_puts_the_base_arguments_below(desk: Desk) -> None:
    desk.write("fleet.yaml", "hosts: {a: }\n")
    desk.write("profiles/one.yaml", 'engine: vllm\nrequires: ">=0.9"\nenv: {A: one, B: one}\nargs: {x: 1, y: 1}\n')
    desk.write("profiles/two.yaml", "extends: one\nenv: {B: two}\nargs: {y: 2}\n")
    desk.write("profiles/three.yaml", "extends: two\nargs: {z: 3}\n")
    three = profile("three")
    assert (three.engine, three.requires) == ("vllm", ">=0.9")
    assert three.env == {"A": "one", "B": "two"}
    assert three.args == {"z": 3}
    assert three.base_args == {"x": 1, "y": 2}


def test_defaults_lie_above_what_is_extended_and_below_the_servers_arguments(desk: Desk) -> None:
    desk.write("fleet.yaml", "hosts: {a: }\n")
    desk.write("profiles/one.yaml", "engine: vllm\ndefaults: {w: 1, x: 1}\nargs: {y: 1}\n")
    desk.write("profiles/two.yaml", "extends: one\ndefaults: {x: 2, y: 2}\nargs: {z: 2}\n")
    assert (profile("one").args, profile("one").base_args) == ({"y": 1}, {"w": 1, "x": 1})
    assert (profile("two").args, profile("two").base_args) == ({"z": 2}, {"w": 1, "x": 2, "y": 2})


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("baseline", "--max-running-requests 64"),
        ("eagle3-v1", "--max-running-requests 64"),
        ("eagle3-v2", "--max-running-requests 64"),
        ("vllm-baseline", "--max-num-seqs 64"),
        ("vllm-ngram", "--max-num-seqs 64"),
        ("tgi-baseline", "--max-concurrent-requests 64"),
    ],
)
def test_a_limit_of_the_server_holds_whichever_shipped_profile_starts_it(desk: Desk, name: str, limit: str) -> None:
    flag = limit.split()[0].removeprefix("--")
    server = f"{{model: /m, port: 1, draft_model: /d, args: {{{flag}: 64}}}}"
    desk.write("fleet.yaml", f"hosts: {{a: {{servers: {{kimi: {server}}}}}}}\n")
    fleet = load_fleet(None)
    words = " ".join(build_command(fleet.hosts[0].servers[0], fleet.profiles[name]).argv)
    assert limit in words
    assert words.count(f"--{flag}") == 1


def test_profile_may_extend_the_one_that_it_hides(desk: Desk) -> None:
    desk.write("fleet.yaml", "hosts: {a: }\n")
    desk.write("profiles/baseline.yaml", "extends: baseline\nargs: {max-running-requests: 64}\n")
    assert profile("baseline").base_args == {"enable-metrics": True, "max-running-requests": 48}
    assert profile("eagle3-v2").base_args == {"enable-metrics": True, "max-running-requests": 64}


def test_extends_that_goes_in_a_circle(desk: Desk) -> None:
    desk.write("profiles/a.yaml", "engine: sglang\nextends: b\n")
    desk.write("profiles/b.yaml", "engine: sglang\nextends: c\n")
    desk.write("profiles/c.yaml", "engine: sglang\nextends: a\n")
    assert problems(desk) == ["c.yaml:2:10: extends: goes round in a circle: a -> b -> c -> a"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("extends: own", "1:10: extends: own: extends itself, and it hides no other"),
        ("extends: basline", "1:10: extends: basline: there is no such profile, did you mean baseline?"),
        ("describe: x", "1:1: engine: is missing (one of sglang, vllm, llamacpp, tgi, trtllm, ollama)"),
        (
            "engine: sglnag",
            "1:9: engine: `sglnag` is none of sglang, vllm, llamacpp, tgi, trtllm, ollama, did you mean sglang?",
        ),
        ("engine: vllm\nextends: baseline", "2:10: extends: baseline is for sglang, this profile for vllm"),
        ("engine: vllm\nrequires: 0.5", '2:11: requires: `0.5` is a number in YAML; text must stand in quotes: "0.5"'),
        ("engine: vllm\nrequires: '0.5.5'", "2:11: requires: `0.5.5` is no requirement; write it as `>=0.5.5,<0.5.13`"),
        ("engine: vllm\nrequires: '>=x'", "2:11: requires: `>=x` is no requirement; write it as `>=0.5.5,<0.5.13`"),
        ("engine: vllm\narg: {a: 1}", "2:1: arg: unknown key, did you mean args?"),
        ("engine: vllm\ndefaults: {port: 1}", "2:18: defaults.port: the port is the server's `port` in the fleet file"),
        ("engine: vllm\nargs: {port: 1}", "2:14: args.port: the port is the server's `port` in the fleet file"),
        ("engine: vllm\nargs: {m: '{modle}'}", "2:11: args.m: unknown placeholder {modle}, did you mean {model}?"),
    ],
)
def test_profile_with_a_problem(desk: Desk, text: str, problem: str) -> None:
    desk.write("profiles/own.yaml", text + "\n")
    assert problems(desk) == [f"own.yaml:{problem}"]


def test_hidden_files_that_editors_leave_are_no_profiles(desk: Desk) -> None:
    desk.write("fleet.yaml", "hosts: {a: }\n")
    (desk.folder / "profiles").mkdir()
    (desk.folder / "profiles/.#own.yaml").symlink_to("nowhere")
    assert ".#own" not in load_fleet(None).profiles


def test_file_name_that_is_no_profile_s_name(desk: Desk) -> None:
    desk.write("profiles/my own.yaml", "engine: vllm\n")
    assert problems(desk) == [
        "my own.yaml:1:1: name: a profile is called as its file: letters, digits, `.`, `_` and `-`, "
        "a letter or digit first, at most 63"
    ]


def test_requirement_without_quotes_gets_a_hint(desk: Desk) -> None:
    desk.write("profiles/own.yaml", "engine: sglang\nrequires: >=0.5.5,<0.5.13\n")
    [problem] = problems(desk)
    assert problem.startswith("own.yaml:2:12: YAML: while scanning a block scalar")
    assert problem.endswith("(a value that begins with > or | must stand in quotes)")


def test_server_that_names_a_broken_profile_adds_no_second_problem(desk: Desk) -> None:
    desk.write("profiles/own.yaml", "engine: none\n")
    lines = desk.problems("hosts: {a: {servers: {s: {model: m, port: 1, profiles: [own, baseline]}}}}\n")
    assert [line.partition(": ")[0] for line in lines] == ["profiles/own.yaml:1:9"]


def test_problems_of_fleet_and_profiles_come_together(desk: Desk) -> None:
    desk.write("profiles/own.yaml", "engine: none\n")
    desk.write("fleet.yaml", "host: {}\n")
    with pytest.raises(ConfigError) as caught:
        load_fleet(None)
    places = [line.partition(": ")[0] for line in str(caught.value).splitlines()]
    assert places == ["fleet.yaml:1:1", "fleet.yaml:1:1", "profiles/own.yaml:1:9"]

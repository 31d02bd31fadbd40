"""Launch commands: what overrides what, and that every byte arrives at the program that a shell starts from them."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdeck.config.objects import ArgValue, Profile, Server
from specdeck.engines.command import Command, as_launch, as_shell, assemble, build_command, difference
from specdeck.errors import UsageError

NASTY = [
    '{"method":"eagle3"}',
    '{"a":{"b":{}}}',
    "it's",
    'say "x"',
    "$HOME",
    "`id`",
    "$(id)",
    "a b",
    " ",
    "",
    "a\nb\n",
    "back\\slash\\",
    "!!",
    "*.py",
    "~root",
    "a;b&c|d>e<f#g",
    "ünï 日本 🦊",
    "--flag-like",
    "-1",
    "\t\x01\x7f",
]
DUMP = """\
import json, os, sys
json.dump({"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(), "pid": os.getpid()}, open(os.environ["DUMP_TO"], "w"))
"""
Args = Mapping[str, ArgValue]
SERVER = Server(name="kimi", host="lab", model="/models/kimi", port=30000, draft_model="/models/draft")


class Plain:
    """An engine whose server is `PYTHON -m engine`."""

    def entry(self, server: Server) -> tuple[str, ...]:
        """Up to the first flag."""
        return server.python, "-m", "engine"

    def own_args(self, server: Server) -> Mapping[str, ArgValue]:
        """The fleet's own keys as flags."""
        return {"model": server.model, "port": server.port}


def words(server: Server = SERVER, *, args: Args | None = None, base_args: Args | None = None) -> tuple[str, ...]:
    """The argv after `--port 30000` of a profile with these arguments."""
    return assemble(Plain(), server, Profile("p", "plain", args=args or {}, base_args=base_args or {})).argv[7:]


def run_in_shell(
    command: Command, folder: Path, run_env: Mapping[str, str] | None = None
) -> tuple[dict[str, str], list[str], str]:
    """What the program that the shell text starts sees: environment, arguments, folder."""
    dump = folder / "dump.json"
    shell = as_shell(command, {**(run_env or {}), "DUMP_TO": str(dump)})
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    subprocess.run(["sh", "-c", shell], check=True, env=environment, cwd=folder, timeout=30, stdin=subprocess.DEVNULL)
    seen = json.loads(dump.read_text("utf-8"))
    return seen["env"], seen["argv"], seen["cwd"]


def dumping(argv: tuple[str, ...] = (), env: tuple[tuple[str, str], ...] = ()) -> Command:
    """A command whose program writes down what it was given."""
    return Command((sys.executable, "-I", "-c", DUMP, *argv), env)


def test_order_of_what_overrides_what() -> None:
    server = replace(SERVER, args={"b": "server", "c": "server"})
    assert words(server, base_args={"a": "base", "b": "base", "c": "base"}, args={"c": "profile"}) == (
        *("--a", "base"),
        *("--b", "server"),
        *("--c", "profile"),
    )


def test_engine_flags_come_first_and_can_be_overridden() -> None:
    made = assemble(Plain(), SERVER, Profile("p", "plain", args={"model": "other"}))
    assert made.argv == ("python3", "-m", "engine", "--port", "30000", "--model", "other")


def test_true_is_a_bare_flag_and_null_and_false_leave_one_out() -> None:
    server = replace(SERVER, args={"b": 1, "c": 1})
    assert words(server, args={"a": True, "b": None, "c": False}) == ("--a",)


def test_list_repeats_its_flag() -> None:
    assert words(args={"lora": ("a", "b")}) == ("--lora", "a", "--lora", "b")


def test_list_follows_one_flag_where_the_engine_would_keep_only_the_last() -> None:
    assert words(args={"cuda-graph-bs": (1, 2, 4)}) == ("--cuda-graph-bs", "1", "2", "4")


def test_flag_with_its_own_dashes() -> None:
    assert words(args={"-ngl": 99, "--x": 1}) == ("-ngl", "99", "--x", "1")


def test_numbers_are_written_as_numbers() -> None:
    assert words(args={"a": 0.9, "b": -1, "c": 0}) == ("--a", "0.9", "--b", "-1", "--c", "0")


def test_environment_of_the_profile_overrides_that_of_the_server() -> None:
    server = replace(SERVER, env={"A": "server", "B": "server"})
    assert assemble(Plain(), server, Profile("p", "plain", env={"B": "profile"})).env == (
        ("A", "server"),
        ("B", "profile"),
    )


def test_declared_placeholders_expand() -> None:
    text = "{model} {draft_model} {port} {name} {host} {bind} {python}"
    assert words(args={"x": text, "y": ("{port}",)})[1] == "/models/kimi /models/draft 30000 kimi lab 127.0.0.1 python3"
    made = assemble(Plain(), SERVER, Profile("p", "plain", env={"CACHE": "/cache/{name}"}))
    assert made.env == (("CACHE", "/cache/kimi"),)


def test_placeholder_inside_json_expands() -> None:
    assert words(args={"x": '{"model":"{draft_model}"}'}) == ("--x", '{"model":"/models/draft"}')


@pytest.mark.parametrize(
    "text", ['{"method":"eagle3"}', '{"a":{"b":{}}}', "{rank}", "{}", "{{}}", "{{rank}}", "%(model)s", "${model_}"]
)
def test_every_other_brace_stays_as_it_is(text: str) -> None:
    assert words(args={"x": text}) == ("--x", text)


def test_doubled_braces_are_a_literal_placeholder() -> None:
    assert words(args={"x": "{{model}}"}) == ("--x", "{model}")


def test_expanded_value_is_not_expanded_again() -> None:
    assert words(replace(SERVER, draft_model="{model}"), args={"x": "{draft_model}"}) == ("--x", "{model}")


def test_placeholder_without_a_value() -> None:
    with pytest.raises(UsageError, match=r"`\{draft_model\}` is used and the server has no `draft_model`"):
        words(replace(SERVER, draft_model=None), args={"x": "{draft_model}"})


def test_engine_that_does_not_exist() -> None:
    with pytest.raises(UsageError, match="no engine is called plain; there are sglang"):
        build_command(SERVER, Profile("p", "plain"))


def test_real_engine() -> None:
    argv = build_command(SERVER, Profile("p", "sglang", args={"tp-size": 8})).argv
    assert argv[:3] == ("python3", "-m", "sglang.launch_server")
    assert argv[argv.index("--model-path") + 1] == "/models/kimi"
    assert argv[argv.index("--port") + 1] == "30000"
    assert argv[-2:] == ("--tp-size", "8")


def test_nasty_arguments_and_variables_arrive_byte_for_byte(tmp_path: Path) -> None:
    names = [f"V{at}" for at in range(len(NASTY))]
    env, argv, _ = run_in_shell(dumping(tuple(NASTY), tuple(zip(names, NASTY, strict=True))), tmp_path)
    assert argv == NASTY
    assert [env[name] for name in names] == NASTY


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40), max_size=8))
def test_any_argument_arrives_byte_for_byte(tmp_path_factory: pytest.TempPathFactory, argv: list[str]) -> None:
    sent = [word for word in argv if not word.startswith("~/")]
    assert run_in_shell(dumping(tuple(sent)), tmp_path_factory.mktemp("any"))[1] == sent


def test_home_folder_is_that_of_the_user_on_the_host(tmp_path: Path) -> None:
    env, argv, cwd = run_in_shell(replace(dumping(("~/a b", "x=~/c"), (("D", "~/d"),)), workdir="~/"), tmp_path)
    assert argv == [f"{tmp_path}/a b", "x=~/c"]
    assert env["D"] == f"{tmp_path}/d"
    assert cwd == str(tmp_path)


def test_run_environment_comes_before_the_command_s_own(tmp_path: Path) -> None:
    env, _, _ = run_in_shell(dumping(env=(("A", "own"),)), tmp_path, {"A": "run", "SPECDECK_RUN": "kimi/0001"})
    assert (env["A"], env["SPECDECK_RUN"]) == ("own", "kimi/0001")


def test_setup_lines_reach_the_program(tmp_path: Path) -> None:
    setup = ("export A=1 # with a comment", "false; export B=$A$A")
    env, _, _ = run_in_shell(replace(dumping(), setup=setup), tmp_path)
    assert (env["A"], env["B"]) == ("1", "11")


def test_setup_line_that_fails_stops_the_launch(tmp_path: Path) -> None:
    command = replace(dumping(), setup=("echo no such module >&2; false", "true"))
    shell = as_shell(command, {"DUMP_TO": str(tmp_path / "dump")})
    ended = subprocess.run(["sh", "-c", shell], capture_output=True, timeout=30, check=False)
    assert ended.returncode == 1
    assert ended.stderr == b"no such module\n"
    assert not (tmp_path / "dump").exists()


def test_shell_text_is_laid_out_for_reading() -> None:
    command = Command(
        ("python3", "-m", "engine", "--a", "x y", "--b", "-ngl", "9"), (("E", "1"),), "/data", (". ~/env.sh",)
    )
    assert as_shell(command, {"SPECDECK_RUN": "r"}) == (
        "{ . ~/env.sh\n} &&\ncd -- /data &&\n"
        "env SPECDECK_RUN=r E=1 \\\n  python3 -m engine \\\n  --a 'x y' \\\n  --b \\\n  -ngl 9"
    )


def test_difference_of_a_pivot_pair() -> None:
    old = Command(("py", "-m", "e", "--topk", "4", "--same", "1", "--metrics"), (("V2", "False"), ("A", "1")))
    new = Command(("py", "-m", "e", "--same", "1", "--topk", "1", "--sizes", "1", "2"), (("V2", "True"), ("A", "1")))
    assert difference(old, new) == (
        ("V2", "False", "True"),
        ("--topk", "4", "1"),
        ("--metrics", "", None),
        ("--sizes", None, "1 2"),
    )


def test_difference_with_a_command_line_that_others_wrote() -> None:
    old = Command(("/venv/bin/python", "-m", "e", "--topk=4", "--chunk", "-1", "--lora", "a", "--lora", "b"))
    new = Command(("python3", "-m", "e", "--topk", "4", "--chunk", "-1", "--lora", "a"), workdir="/data")
    assert difference(old, new) == (
        ("--lora", "a b", "a"),
        ("command", "/venv/bin/python -m e", "python3 -m e"),
        ("workdir", None, "/data"),
    )


def test_same_command_has_no_difference() -> None:
    assert difference(dumping(), dumping()) == ()


def test_activation_line_decides_which_python_starts(tmp_path: Path) -> None:
    """B38: what a login shell would have set comes from the profile's own words, in the shell that starts the server."""
    conda = tmp_path / "conda dir"
    conda.mkdir()
    (conda / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (conda / "python").chmod(0o755)
    (conda / "activate").write_text(f"PATH='{conda}':$PATH; export HF_HOME=/data/hf\n")
    command = Command(
        ("python", "-I", "-c", DUMP, "--port", "30000"),
        (("SGLANG_ENABLE_SPEC_V2", "1"), ("CUDA_VISIBLE_DEVICES", "0,1")),
        setup=(f". '{conda}/activate'",),
    )
    env, argv, _ = run_in_shell(command, tmp_path)
    assert argv == ["--port", "30000"]
    assert (env["HF_HOME"], env["SGLANG_ENABLE_SPEC_V2"], env["CUDA_VISIBLE_DEVICES"]) == ("/data/hf", "1", "0,1")


def test_launch_script_becomes_the_server(tmp_path: Path) -> None:
    """The pid that was started is the server's own, and every byte arrives."""
    names = [f"V{at}" for at in range(len(NASTY))]
    dump = tmp_path / "dump.json"
    env = (*zip(names, NASTY, strict=True), ("DUMP_TO", str(dump)), ("CACHE", "~/cache"))
    command = replace(dumping(tuple(NASTY), env), workdir=str(tmp_path), setup=("V0=other",))
    script = tmp_path / "launch"
    script.write_text(as_launch(command), "utf-8")
    with subprocess.Popen(["sh", str(script)], env={"PATH": "/usr/bin:/bin", "HOME": "/home/ana"}) as started:
        assert started.wait(timeout=30) == 0
    seen = json.loads(dump.read_text("utf-8"))
    assert (seen["pid"], seen["argv"], seen["cwd"]) == (started.pid, NASTY, str(tmp_path))
    assert [seen["env"][name] for name in names] == NASTY
    assert seen["env"]["CACHE"] == "/home/ana/cache"


def test_launch_script_passes_no_variable_through_an_argument_list() -> None:
    assert (
        as_launch(Command(("python3", "--a"), (("TOKEN", "x y"),))) == "export TOKEN='x y' &&\nexec python3 \\\n  --a"
    )


def test_launch_script_ends_with_the_status_of_a_setup_line_that_fails(tmp_path: Path) -> None:
    script = tmp_path / "launch"
    script.write_text(as_launch(Command(("touch", str(tmp_path / "started")), setup=("( exit 7 )",))), "utf-8")
    assert subprocess.run(["sh", str(script)], timeout=30, check=False).returncode == 7
    assert not (tmp_path / "started").exists()

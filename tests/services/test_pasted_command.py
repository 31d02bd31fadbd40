"""The command on the sheet, pasted into a shell, starts the same server with the same arguments and environment as the launch."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from specdeck.config.objects import Profile, Server
from specdeck.engines.command import Command, as_launch, as_shell, build_command

NASTY = [
    '{"method":"eagle3","n":[1,2]}',
    "it's",
    'say "hi"',
    "$HOME",
    "`id`",
    "!x !!",
    "back\\slash",
    "ünï",
    "two\nlines",
    "",
    "*",
    "~",
    "a;b|c&d",
]
SHELLS = [shell for shell in ("sh", "dash", "bash", "zsh", "ksh") if shutil.which(shell)]
TELL = (
    "import json, os, sys\n"
    "json.dump([sys.argv[1:], {k: v for k, v in os.environ.items() if k.startswith('T_') or k == 'VLLM_API_KEY'}, os.getcwd()],"
    " open(os.environ['HOME'] + '/told', 'w'))"
)


def interpreter(folder: Path) -> str:
    """A program that writes down what it was started with."""
    path = folder / "my env" / "python3"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{TELL}" "$@"\n')
    path.chmod(0o755)
    return "~/my env/python3"


def told(folder: Path, argv: list[str], text: str | None = None, **env: str) -> object:
    """What the program was started with, by these words or by this pasted text."""
    (folder / "told").unlink(missing_ok=True)
    clean = {"HOME": str(folder), "PATH": os.environ["PATH"], **env}
    subprocess.run(argv, input=text, text=True, env=clean, cwd="/", check=True, timeout=20, capture_output=True)
    return json.loads((folder / "told").read_text())


def command(folder: Path, key: dict[str, str] | None = None) -> Command:
    """Every kind of odd word as an argument and as a variable."""
    (folder / "work dir").mkdir()
    server = Server(
        "kimi", "lab", "/m", 30000,
        python=interpreter(folder), workdir="~/work dir", setup=("T_SETUP='a b'; export T_SETUP",),
        api_key_file=(key or {}).get("api_key_file"), api_key_env=(key or {}).get("api_key_env"),
    )  # fmt: skip
    env = {f"T_{number}": value for number, value in enumerate(NASTY)}
    return build_command(server, Profile("one", "vllm", env=env, args={"odd": tuple(NASTY), "enforce-eager": True}))


@pytest.mark.parametrize("shell", SHELLS)
def test_the_pasted_command_and_the_launch_give_the_same_argv_environment_and_folder(
    tmp_path: Path, shell: str
) -> None:
    made = command(tmp_path)
    (tmp_path / "launch").write_text(as_launch(made))
    launched = told(tmp_path, ["sh", str(tmp_path / "launch")])
    assert isinstance(launched, list)
    argv, env, folder = launched
    assert [argv[at + 1] for at, word in enumerate(argv) if word == "--odd"] == NASTY
    assert [env[f"T_{number}"] for number in range(len(NASTY))] == NASTY
    assert (env["T_SETUP"], folder) == ("a b", str(tmp_path / "work dir"))
    assert told(tmp_path, [shell], as_shell(made)) == launched
    assert told(tmp_path, [shell, "-c", as_shell(made)]) == launched


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("source", [{"api_key_file": "~/the key"}, {"api_key_env": "LAB_KEY"}])
def test_a_pasted_command_takes_the_key_from_where_the_fleet_says(
    tmp_path: Path, shell: str, source: dict[str, str]
) -> None:
    (tmp_path / "the key").write_text("s3cret'$x\n")
    made = command(tmp_path, source)
    assert "s3cret" not in as_shell(made)
    pasted = told(tmp_path, [shell], as_shell(made), LAB_KEY="s3cret'$x")
    assert isinstance(pasted, list)
    assert pasted[1]["VLLM_API_KEY"] == "s3cret'$x"
    assert "s3cret'$x" not in pasted[0]

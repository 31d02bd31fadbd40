"""Completion as real shells do it: verbs, servers, hosts, profiles and themes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FLEET = """\
hosts:
  lab: {ssh: localhost, servers: {kimi: {model: /m, port: 30000}, qwen: {model: /m, port: 30001}}}
  other: {ssh: localhost, servers: {qwen: {model: /m, port: 30000}}}
"""
BASH = """\
eval "$(specdeck completion bash)"
complete -p specdeck >/dev/null || exit 9
COMP_WORDS=({words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_specdeck_completion specdeck
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
FISH = """\
specdeck completion fish | source
complete -C {words} | string split -f1 \\t
"""
ZSH = """\
autoload -U compinit; compinit -D -u
eval "$(specdeck completion zsh)"
_describe() {{ print -rl -- ${{${{(P)3}}%%:*}} }}  # -V unsorted NAME -U
compadd() {{ print -rl -- ${{(P)5}} }}  # -U -V unsorted -a NAME
words=({words}) CURRENT=${{#words}}
_specdeck_completion
"""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with a fleet file, and a `specdeck` on the PATH that is this one."""
    (tmp_path / "fleet.yaml").write_text(FLEET)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/specdeck"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m specdeck "$@"\n')
    program.chmod(0o755)
    return tmp_path


def completed(shell: str, desk: Path, *words: str) -> list[str]:
    """What the shell offers for the last word."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    quoted = " ".join(f"'{word}'" for word in ("specdeck", *words))
    script = {
        "bash": BASH.format(words=quoted),
        "fish": FISH.format(words=f"'{' '.join(('specdeck', *words))}'"),
        "zsh": ZSH.format(words=quoted),
    }[shell]
    flags = {"bash": ["--norc", "--noprofile"], "fish": ["--no-config"], "zsh": ["-f"]}[shell]
    done = subprocess.run(
        [program, *flags, "-c", script], cwd=desk, capture_output=True, text=True, timeout=120, check=False,
        env={"PATH": f"{desk / 'bin'}:{os.environ['PATH']}", "HOME": str(desk), "XDG_CONFIG_HOME": str(desk / "xdg")},
    )  # fmt: skip
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_a_shell_completes_verbs_servers_and_profiles(desk: Path, shell: str) -> None:
    assert completed(shell, desk, "sto") == ["stop"]
    assert completed(shell, desk, "stop", "k") == ["kimi"]
    assert completed(shell, desk, "pivot", "kimi", "--profile", "eagle3-v") == ["eagle3-v1", "eagle3-v2"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("wait", ""), ["kimi", "lab/qwen", "other/qwen"]),
        (("o",), ["other"]),
        (("l",), ["launch", "logs", "lab"]),
        (("--theme", "high"), ["high-contrast", "high-contrast-light"]),
        (("status", ""), ["lab", "other"]),
        (("--fleet", "missing.yaml", "stop", ""), []),
    ],
)
def test_bash_completes_names_of_the_fleet_file_and_themes(
    desk: Path, words: tuple[str, ...], offered: list[str]
) -> None:
    assert completed("bash", desk, *words) == offered


def test_a_fleet_file_with_faults_offers_nothing_and_says_nothing(desk: Path) -> None:
    (desk / "fleet.yaml").write_text("hosts: [")
    assert completed("bash", desk, "stop", "") == []

"""Which environment a launched server gets, and how it differs from the user's own terminal on the host (case B38)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.services.desk import desk, program, text_of, until_gone

from specdeck.errors import Refused

BASHRC = (Path(__file__).parents[1] / "cases" / "B38_env_not_loaded" / "bashrc").read_text()
ACTIVATE = '. "$HOME/miniconda3/etc/profile.d/conda.sh" && conda activate sgl'
"""The setup line of the case's profile `activate`."""
BASH = {"SHELL": shutil.which("bash") or "/bin/bash"}


def interactive(folder: Path, bashrc: str = BASHRC) -> None:
    """What Debian gives every user: .profile reads .bashrc, which returns at once where nobody types."""
    (folder / ".profile").write_text('export FROM_PROFILE=yes\n. "$HOME/.bashrc"\n')
    (folder / ".bashrc").write_text(bashrc)


def conda(folder: Path) -> None:
    """A miniconda whose environment `sgl` has the interpreter."""
    program(folder / "miniconda3" / "envs" / "sgl" / "bin" / "python")
    script = folder / "miniconda3" / "etc" / "profile.d" / "conda.sh"
    script.parent.mkdir(parents=True)
    script.write_text(
        'conda() {\n    [ -d "$HOME/miniconda3/envs/$2" ] || { echo "EnvironmentNameNotFound: $2" >&2; return 1; }\n'
        "    PATH=$HOME/miniconda3/envs/$2/bin:$PATH CONDA_PREFIX=$HOME/miniconda3/envs/$2\n    export PATH CONDA_PREFIX\n}\n"
    )


async def test_an_interpreter_without_the_engine_is_named_before_anything_is_launched(tmp_path: Path) -> None:
    python = program(tmp_path / "bin" / "python", "exit 1")
    python.write_text('#!/bin/sh\necho "PackageNotFoundError: No package metadata was found for sglang" >&2\nexit 1\n')
    async with desk(tmp_path, python="python") as one:
        check = await one.check("version")
        assert check.detail == (
            f"SGLang is not installed for {python} (PackageNotFoundError: No package metadata was found for sglang): "
            "set `python` or `setup` of server kimi"
        )
        with pytest.raises(Refused, match="is not installed for"):
            await one.launch()


@pytest.mark.sshd
async def test_the_profiles_variables_reach_the_server_and_nothing_of_the_products_own_does(
    tmp_path: Path, openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "python3")
    for name in ("HTTP_PROXY", "http_proxy", "LC_ALL", "SPECDECK_TEST_MARK"):
        monkeypatch.setenv(name, "http://mine.example:1" if "proxy" in name.lower() else "C.UTF-8")
    env = {"HF_HOME": "/data/hf", "CUDA_VISIBLE_DEVICES": "0,1", "ODD": "a b'c\"d$e`f\\g\nh"}
    async with desk(tmp_path, openssh.host(name="lab"), env=env) as one:
        await one.launch()
        seen = await one.environment()
    assert {name: seen.get(name) for name in env} == env
    assert not {"HTTP_PROXY", "http_proxy", "LC_ALL", "SPECDECK_TEST_MARK"} & seen.keys()
    assert seen["SPECDECK_RUN"].startswith("kimi-")


async def test_a_setup_line_that_fails_stops_the_launch_with_its_own_message(tmp_path: Path) -> None:
    conda(tmp_path)
    async with desk(tmp_path, python="python", setup=(ACTIVATE.replace("sgl", "gone"),)) as one:
        check = await one.check("setup")
        assert check.state == "failed"
        assert check.detail.endswith(": EnvironmentNameNotFound: gone")
        with pytest.raises(Refused, match="EnvironmentNameNotFound"):
            await one.launch()


async def test_a_setup_line_that_ends_the_shell_is_told(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3")
    async with desk(tmp_path, setup=("exit 0",)) as one:
        assert (await one.check("setup")).detail == "the setup lines of kimi end the shell that they run in"


async def test_an_activated_environment_decides_the_interpreter(tmp_path: Path) -> None:
    conda(tmp_path)
    async with desk(tmp_path, python="python", setup=(ACTIVATE,), env={"SGLANG_ENABLE_SPEC_V2": "1"}) as one:
        assert (await one.check("interpreter")).detail == str(tmp_path / "miniconda3/envs/sgl/bin/python")
        await one.launch()
        seen = await one.environment()
    assert seen["CONDA_PREFIX"] == str(tmp_path / "miniconda3/envs/sgl")
    assert seen["SGLANG_ENABLE_SPEC_V2"] == "1"


async def test_what_only_the_users_terminal_has_is_told_in_the_plan(tmp_path: Path) -> None:
    interactive(tmp_path)
    here = program(tmp_path / "bin" / "python")
    there = program(tmp_path / "miniconda3" / "bin" / "python")
    async with desk(tmp_path, python="python", host_env=BASH) as one:
        notes = (await one.plan()).notes
    start = "In your terminal on the host"
    assert f"{start} python is {there}, the server gets {here}: set `python` or `setup`." in notes
    assert any(note.startswith(f"{start} PATH also has {tmp_path}/miniconda3/bin") for note in notes)
    without = "the server starts without: add it to `env` of kimi if it needs it."
    assert f"{start} HF_HOME is /data/hf; {without}" in notes
    assert f"{start} http_proxy is http://proxy.example:3128; {without}" in notes


async def test_a_variable_that_the_profile_sets_itself_is_no_difference(tmp_path: Path) -> None:
    interactive(tmp_path, "export HF_HOME=/data/hf http_proxy=http://user:pass@proxy.example:3128\n")
    program(tmp_path / "bin" / "python3")
    async with desk(tmp_path, host_env=BASH, env={"HF_HOME": "/data/hf"}) as one:
        notes = " ".join((await one.plan()).notes)
    assert "HF_HOME" not in notes
    assert "http://***@proxy.example:3128" in notes


async def test_a_login_shell_that_hangs_is_left_out_in_time_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specdeck.services.preflight.script.LOGIN_SECONDS", 0.5)
    interactive(tmp_path, 'echo $$ >"$HOME/shell"\nexec sleep 600\n')
    program(tmp_path / "bin" / "python3")
    async with desk(tmp_path, host_env=BASH) as one:
        assert (
            "Your interactive login shell on the host does not tell its environment in time: it is not compared."
            in (await one.plan()).notes
        )
    await until_gone(int(text_of(tmp_path / "shell") or 0))


@pytest.mark.parametrize("shell", ["bash", "dash", "sh"])
async def test_a_login_shell_is_read_where_the_fleet_asks_for_it(tmp_path: Path, shell: str) -> None:
    (tmp_path / ".profile").write_text(f"echo welcome\nexport FROM_PROFILE=yes PATH={tmp_path}/miniconda3/bin:$PATH\n")
    program(tmp_path / "miniconda3" / "bin" / "python")
    host_env = {"SHELL": shutil.which(shell) or f"/bin/{shell}"}
    async with desk(
        tmp_path, python="python", login_shell=True, host_env=host_env, setup=('[ "$FROM_PROFILE" = yes ]',)
    ) as one:
        assert (await one.check("interpreter")).detail == str(tmp_path / "miniconda3" / "bin" / "python")
        await one.launch()
        seen = await one.environment()
        cwd = os.readlink(f"/proc/{one.pid()}/cwd")
        session = os.getsid(one.pid())
        assert session == one.pid()
    assert seen["FROM_PROFILE"] == "yes"
    assert "SPECDECK_SCRIPT" not in seen
    assert seen["SPECDECK_RUN"].startswith("kimi-")
    assert cwd == str(tmp_path)


async def test_without_it_no_login_shell_is_read(tmp_path: Path) -> None:
    interactive(tmp_path)
    program(tmp_path / "bin" / "python3")
    async with desk(tmp_path, host_env=BASH, workdir="~/bin") as one:
        await one.launch()
        assert "FROM_PROFILE" not in await one.environment()
        assert os.readlink(f"/proc/{one.pid()}/cwd") == str(tmp_path / "bin")


async def test_a_server_that_others_started_is_told_apart_by_its_variables(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3")
    serve = tmp_path / "launch_server.py"
    serve.write_text(
        "import socket, sys, time\ns = socket.create_server(('127.0.0.1', int(sys.argv[2])))\ntime.sleep(600)\n"
    )
    new = {"SGLANG_ENABLE_SPEC_V2": "True", "HF_HOME": "/data/hf"}
    async with desk(tmp_path, env=new) as one:
        words = ["python3", str(serve), "--port", str(one.server.port)]
        old = {"SGLANG_ENABLE_SPEC_V2": "False", "SGLANG_API_KEY": "s3cret", "HF_HOME": "/data/hf"}
        theirs = subprocess.Popen(  # noqa: ASYNC220 - it is only started
            words, executable=sys.executable, env={**os.environ, **old}
        )
        try:
            await one.until_listening()
            changes = {
                change.name: (change.old, change.new)
                for change in (await one.launcher.plan("relaunch", "kimi")).changes
            }
        finally:
            theirs.kill()
            theirs.wait()
    assert changes["SGLANG_ENABLE_SPEC_V2"] == ("False", "True")
    assert "HF_HOME" not in changes
    assert "SGLANG_API_KEY" not in changes

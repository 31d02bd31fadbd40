"""A launched server gets its API key, and nobody else on the host sees it: not in ps, journal, command or records."""

import os
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.services.desk import Desk, desk, program, text_of

from specdeck.errors import Refused

KEY = "s3cret-of-the-lab"
SHOW = 'for word; do case $before in --config) cat "$word" ;; esac; before=$word; done; exec sleep 600'
"""Prints the configuration file that it was given."""


def command_lines() -> bytes:
    """All argument lists on this machine, as ps shows them."""
    found = b""
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                found += Path("/proc", entry, "cmdline").read_bytes()
            except OSError:
                continue
    return found


def files_with_the_key(one: Desk) -> set[str]:
    """Of all that was written on the host."""
    state = one.folder / "state"
    return {str(file.relative_to(one.runs)) for file in state.rglob("*") if file.is_file() and KEY in text_of(file)}


@pytest.mark.sshd
@pytest.mark.parametrize("engine", ["vllm", "llamacpp"])
async def test_a_key_of_the_users_own_environment_reaches_the_engines_variable_alone(
    tmp_path: Path, openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setenv("LAB_KEY", KEY)
    python = program(tmp_path / "bin" / "server")
    variable = {"vllm": "VLLM_API_KEY", "llamacpp": "LLAMA_API_KEY"}[engine]
    async with desk(
        tmp_path, openssh.host(name="lab"), engine=engine, python=str(python), api_key_env="LAB_KEY"
    ) as one:
        plan = await one.plan()
        assert any(f"as {variable}: not in ps" in note for note in plan.notes)
        assert KEY not in f"{plan}"
        await one.launch()
        assert (await one.environment())[variable] == KEY
        assert KEY.encode() not in command_lines()
        assert files_with_the_key(one) == {"api-key"}
        assert oct((one.runs / "api-key").stat().st_mode & 0o777) == "0o600"


async def test_a_key_in_a_file_on_the_host_is_read_there_and_never_travels(tmp_path: Path) -> None:
    python = program(tmp_path / "bin" / "server")
    (tmp_path / "key").write_text(f"{KEY}\n")
    async with desk(tmp_path, engine="vllm", python=str(python), api_key_file="~/key") as one:
        await one.launch()
        assert (await one.environment())["VLLM_API_KEY"] == KEY
        assert KEY.encode() not in command_lines()
        assert files_with_the_key(one) == set()


async def test_an_engine_that_has_only_a_flag_reads_the_key_from_a_file_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", f"it's {KEY}")
    program(tmp_path / "bin" / "python3", SHOW)
    async with desk(tmp_path, api_key_env="LAB_KEY") as one:
        await one.launch()
        assert await one.until(one.runs / "0001" / "log") == f"api-key: 'it''s {KEY}'\n"
        assert KEY.encode() not in command_lines()
        assert files_with_the_key(one) == {"api-key", "api-key.yaml", "0001/log"}
        modes = {oct((one.runs / name).stat().st_mode & 0o777) for name in ("api-key", "api-key.yaml", "0001/log")}
    assert modes == {"0o600"}


async def test_a_configuration_of_ones_own_is_left_alone_and_the_plan_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", KEY)
    program(tmp_path / "bin" / "python3")
    async with desk(tmp_path, api_key_env="LAB_KEY", args={"config": "/data/mine.yaml"}) as one:
        plan = await one.plan()
    assert plan.command is not None
    assert plan.command.count("--config") == 1
    assert any("not passed on" in note for note in plan.notes)


async def test_a_key_that_is_not_there_fails_before_anything_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAB_KEY", raising=False)
    program(tmp_path / "bin" / "python3")
    async with desk(tmp_path, api_key_env="LAB_KEY") as one:
        with pytest.raises(Refused, match="LAB_KEY is not set where specdeck runs"):
            await one.launch()
    async with desk(tmp_path, api_key_file="~/nowhere") as one:
        assert (await one.check("paths")).detail.startswith(f"not on the host: {tmp_path}/nowhere: ")


async def test_an_engine_without_a_way_past_ps_starts_without_the_key_and_the_plan_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", KEY)
    program(tmp_path / "bin" / "python3")
    async with desk(tmp_path, engine="trtllm", api_key_env="LAB_KEY") as one:
        plan = await one.plan()
    assert any("has no way that keeps it out of ps" in note for note in plan.notes)
    assert plan.command is not None
    assert "--config" not in plan.command

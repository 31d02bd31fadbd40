"""How a launched server gets its key: the words of each way, run by a real shell; what `ps` shows never holds it."""

import subprocess
from pathlib import Path

import pytest
from tests.engines.launched import a_server

from specdeck.engines.api_key import ApiKey, api_key_notes, api_key_of

KEY = "sk-it's secret"


def ran(folder: Path, lines: str, then: str) -> str:
    """What a launch script in `RUN/` prints at its end, with the key of the user's environment beside it."""
    run = folder / "0001"
    run.mkdir()
    (folder / "api-key").write_text(f"{KEY}\n")
    (run / "launch").write_text(f"{lines}{then}\n")
    done = subprocess.run(["/bin/sh", run / "launch"], capture_output=True, text=True, check=True, timeout=20)
    return done.stdout.strip()


def test_an_engine_with_a_variable_of_its_own_finds_the_key_there(tmp_path: Path) -> None:
    key = ApiKey("kimi", "VLLM_API_KEY", env_name="MY_KEY")
    assert ran(tmp_path, key.launch_lines(), "printenv VLLM_API_KEY") == KEY
    assert key.words == ""


def test_an_engine_with_a_flag_alone_reads_a_file_that_nobody_else_can(tmp_path: Path) -> None:
    key = ApiKey("kimi", None, env_name="MY_KEY")
    assert ran(tmp_path, key.launch_lines(), f"echo {key.words}") == f"--config {tmp_path}/0001/../api-key.yaml"
    written = tmp_path / "api-key.yaml"
    assert written.read_text() == "api-key: 'sk-it''s secret'\n"
    assert written.stat().st_mode & 0o777 == 0o600


def test_a_file_on_the_host_is_read_there(tmp_path: Path) -> None:
    (tmp_path / "my key").write_text(f"{KEY}\n")
    key = ApiKey("kimi", "VLLM_API_KEY", file=str(tmp_path / "my key"))
    assert ran(tmp_path, key.launch_lines(), "printenv VLLM_API_KEY") == KEY


@pytest.mark.parametrize("source", [{"env_name": "MY_KEY"}, {"file": "FOLDER/key"}])
@pytest.mark.parametrize(
    ("variable", "then"), [("VLLM_API_KEY", "printenv VLLM_API_KEY"), (None, 'cat "$specdeck_key"')]
)
def test_a_command_that_is_pasted_gets_it_the_same_way(
    tmp_path: Path, source: dict[str, str], variable: str | None, then: str
) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")
    named = {name: value.replace("FOLDER", str(tmp_path)) for name, value in source.items()}
    key = ApiKey("kimi", variable, **named)
    pasted = f"{key.shell_lines()}{key.shell_prefix()}{then}"
    assert KEY not in pasted
    env = {"MY_KEY": KEY, "XDG_STATE_HOME": str(tmp_path / "state"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(["/bin/sh", "-c", pasted], env=env, capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout.strip() == (KEY if variable else "api-key: 'sk-it''s secret'")


def test_a_server_without_a_key_or_with_a_configuration_of_its_own_gets_none() -> None:
    with_key = a_server(api_key_env="MY_KEY", api_key_file="/k")
    assert api_key_of(a_server(), "VLLM_API_KEY", ()) is None
    assert api_key_of(with_key, None, ("--config", "mine.yaml")) is None
    assert api_key_of(with_key, "", ()) is None
    assert api_key_of(with_key, "VLLM_API_KEY", ()) == ApiKey("kimi", "VLLM_API_KEY", "MY_KEY", None)
    assert api_key_of(a_server(api_key_file="/k"), None, ()) == ApiKey("kimi", None, None, "/k")


def test_who_can_see_the_key_is_told() -> None:
    server = a_server(api_key_env="MY_KEY")
    assert api_key_notes(a_server(), None, "vLLM", "VLLM_API_KEY") == ()
    assert (
        "as VLLM_API_KEY: not in ps" in api_key_notes(server, ApiKey("kimi", "VLLM_API_KEY", "MY_KEY"), "vLLM", "V")[0]
    )
    assert (
        "in a file that only you can read" in api_key_notes(server, ApiKey("kimi", None, "MY_KEY"), "SGLang", None)[0]
    )
    assert "have a --config of their own" in api_key_notes(server, None, "SGLang", None)[0]
    assert "has no way that keeps it out of ps" in api_key_notes(server, None, "Ollama", "")[0]

"""Who acts: what the user says, else the tmux client in use, else the login."""

import getpass
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from specdeck.services.who import whoami


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside tmux, and nothing said."""
    for name in ("SPECDECK_USER", "TMUX"):
        monkeypatch.delenv(name, raising=False)


def test_what_the_user_says_comes_first_and_is_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECDECK_USER", "ann lee\n\x1b[2J")
    monkeypatch.setenv("TMUX", "/nowhere,1,0")
    assert whoami() == "ann_lee_2J"


def test_else_it_is_the_login_and_this_machine() -> None:
    assert whoami() == f"{getpass.getuser()}@{os.uname().nodename.partition('.')[0]}"


def test_a_tmux_that_does_not_answer_is_no_harm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMUX", f"{tmp_path}/nowhere,1,0")
    assert whoami().startswith(f"{getpass.getuser()}@")


@pytest.mark.tmux
def test_in_tmux_it_is_the_user_of_the_client_that_is_attached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not shutil.which("tmux") or not shutil.which("script"):
        pytest.skip("tmux or script is not installed")
    socket = tmp_path / "tmux"
    tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
    env = {**os.environ, "TERM": "xterm"}
    subprocess.run([*tmux, "new-session", "-d", "-s", "shared", "sleep 60"], check=True, env=env)
    client = subprocess.Popen(
        ["script", "-qc", " ".join([*tmux, "attach", "-t", "shared"]), "/dev/null"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=env,
    )  # fmt: skip
    try:
        limit = time.monotonic() + 10
        while not subprocess.run([*tmux, "list-clients"], check=True, capture_output=True).stdout:
            assert time.monotonic() < limit, "no client is attached"
        told = subprocess.run([*tmux, "list-clients", "-F", "#{client_user}"], check=True, capture_output=True)
        if not told.stdout.strip():
            pytest.skip("this tmux is too old to tell its client's user")
        server = subprocess.run([*tmux, "display-message", "-p", "#{pid}"], check=True, capture_output=True)
        monkeypatch.setenv("TMUX", f"{socket},{server.stdout.decode().strip()},0")
        assert whoami() == getpass.getuser()
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
        client.wait(10)
        assert client.stdin is not None
        client.stdin.close()

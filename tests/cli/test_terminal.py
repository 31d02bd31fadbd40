"""Questions of logins on a real terminal: secrets are not echoed, stdout stays data."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.openssh import PASSPHRASE, OpenSsh, make_key

pytestmark = pytest.mark.sshd


class OnTerminal:
    """specdeck with a terminal as stdin and stderr, and a pipe as stdout."""

    def __init__(self, fleet: Path, *arguments: str) -> None:
        self.terminal, theirs = pty.openpty()
        env = {**os.environ, "XDG_STATE_HOME": str(fleet.parent / "state")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "specdeck", "--fleet", str(fleet), *arguments],
            stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, env=env, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.seen = ""

    def until(self, words: str) -> None:
        """Read on until the terminal shows these words."""
        end = time.monotonic() + 20
        while words not in self.seen:
            assert time.monotonic() < end, self.seen
            if select.select([self.terminal], [], [], 0.1)[0]:
                self.seen += os.read(self.terminal, 4096).decode()

    def type(self, text: str) -> None:
        """As a user does."""
        os.write(self.terminal, f"{text}\n".encode())

    def end(self) -> str:
        """What was written to stdout."""
        out, _ = self.process.communicate(timeout=30)
        return out.decode()

    def __enter__(self) -> "OnTerminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
        os.close(self.terminal)


@pytest.fixture
def fleet(own_openssh: OpenSsh, tmp_path: Path) -> Path:
    """A host that is new, and a locked key."""
    locked = make_key(own_openssh.folder / "locked", passphrase=PASSPHRASE)
    (own_openssh.folder / "authorized_keys").write_text(own_openssh.public(locked).read_text())
    own_openssh.write_config(identity=locked)
    own_openssh.known_hosts.write_text("")
    path = tmp_path / "fleet.yaml"
    path.write_text(f"hosts:\n  lab:\n    ssh: gpu-a\n    ssh_config: {own_openssh.ssh_config}\n")
    return path


def test_a_verb_asks_on_the_terminal_and_shows_no_secret(fleet: Path) -> None:
    with OnTerminal(fleet, "status", "--json") as verb:
        verb.until("type yes to accept it: ")
        verb.type("yes")
        verb.until("passphrase of the key: ")
        verb.type(PASSPHRASE)
        out = verb.end()
    assert json.loads(out)["hosts"][0]["state"] == "up"
    assert PASSPHRASE not in verb.seen + out
    assert verb.process.returncode in (
        0,
        1,
    )  # 1: the host is this machine, and servers that it finds here may be unwell


def test_without_a_terminal_a_verb_refuses_with_the_sentence(fleet: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "specdeck", "--fleet", str(fleet), "status"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False,
        env={**os.environ, "XDG_STATE_HOME": str(fleet.parent / "state")},
    )  # fmt: skip
    assert done.returncode == 3
    assert "if the fingerprint is right, accept it with: ssh -F" in done.stdout

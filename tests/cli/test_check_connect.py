"""`specdeck check --connect` on real OpenSSH hosts: one line a step, what is wrong and what mends it."""

import getpass
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.openssh import PASSPHRASE, OpenSsh, fingerprint, free_port, make_key

from specdeck.cli.main import run

pytestmark = pytest.mark.sshd
SMI = "#!/bin/sh\necho '0, NVIDIA Example 80GB, 580.65.06'\necho '1, NVIDIA Example 80GB, 580.65.06'\n"


@dataclass(frozen=True)
class Said:
    """What a command line printed, and its exit code."""

    out: str
    code: int


Specdeck = Callable[..., Said]


@pytest.fixture
def specdeck(capsys: pytest.CaptureFixture[str]) -> Specdeck:
    """Run a command line."""

    def specdeck(*words: str) -> Said:
        code = run(words)
        return Said(capsys.readouterr().out, code)

    return specdeck


@pytest.fixture
def fleet(own_openssh: OpenSsh, tmp_path: Path) -> Path:
    """A host with two GPUs and a server whose interpreter and log are there."""
    smi = tmp_path / "bin" / "nvidia-smi"
    smi.parent.mkdir()
    smi.write_text(SMI)
    smi.chmod(0o755)
    (tmp_path / "server.log").write_text("hello\n")
    path = tmp_path / "fleet.yaml"
    path.write_text(
        "hosts:\n"
        "  lab:\n"
        "    ssh: gpu-a\n"
        f"    ssh_config: {own_openssh.ssh_config}\n"
        f"    env: {{PATH: '{smi.parent}:/usr/bin:/bin', XDG_STATE_HOME: '{tmp_path}/state', SHELL: /bin/bash}}\n"
        "    servers:\n"
        "      kimi:\n"
        "        model: /m\n"
        "        port: 30000\n"
        f"        python: {sys.executable}\n"
        f"        log: {tmp_path}/server.log\n"
    )
    return path


def change(fleet: Path, old: str, new: str) -> None:
    text = fleet.read_text()
    assert old in text
    fleet.write_text(text.replace(old, new))


def steps(out: str) -> dict[str, list[str]]:
    """Name to mark and detail, of the lines of one host."""
    rows = [line.removeprefix("lab").strip() for line in out.splitlines()]
    found = {}
    for row in rows:
        name, mark, *detail = [part.strip() for part in row.split("  ") if part.strip()]
        found[name] = [mark, *detail]
    return found


def test_a_host_where_all_is_well(fleet: Path, own_openssh: OpenSsh, specdeck: Specdeck, tmp_path: Path) -> None:
    said = specdeck("--fleet", str(fleet), "check", "--connect")
    assert steps(said.out) == {
        "resolve": ["ok", f"{getpass.getuser()}@gpu-a (127.0.0.1:{own_openssh.port})"],
        "connect": ["ok"],
        "host key": ["ok"],
        "login": ["ok"],
        "shell": ["ok", "/bin/sh from the login shell /bin/bash"],
        "sessions": ["ok"],
        "processes": ["ok"],
        "state folder": ["ok", f"{tmp_path}/state/specdeck"],
        "nvidia-smi": ["ok", "2 GPUs: NVIDIA Example 80GB, 580.65.06"],
        "forwarding": ["ok"],
        "interpreter of kimi": ["ok", sys.executable],
        "log of kimi": ["ok", f"{tmp_path}/server.log"],
    }
    assert said.code == 0
    assert list((tmp_path / "state" / "specdeck").iterdir()) == [], "the probe is gone again"


def test_what_is_missing_on_the_host_is_named_with_what_mends_it(
    fleet: Path, specdeck: Specdeck, tmp_path: Path
) -> None:
    change(fleet, f"python: {sys.executable}", "python: /opt/nowhere/python3")
    change(fleet, f"log: {tmp_path}/server.log", f"log: {tmp_path}/gone.log")
    change(fleet, f"{tmp_path}/bin:", "")
    (tmp_path / "state").write_text("a file where a folder should be")
    said = specdeck("--fleet", str(fleet), "check", "--connect")
    found = steps(said.out)
    assert found["interpreter of kimi"] == [
        "FAILED",
        "/opt/nowhere/python3 is not on the host: set `python` of this server",
    ]
    assert found["log of kimi"] == [
        "FAILED",
        f"{tmp_path}/gone.log is not there: correct `log` of this server, or start it",
    ]
    assert found["nvidia-smi"][0] == "FAILED"
    assert "set PATH in the host's env" in found["nvidia-smi"][1]
    assert found["state folder"][0] == "FAILED"
    assert f"cannot be written: {tmp_path}/state/specdeck: " in found["state folder"][1]
    assert said.code == 1


def test_forwarding_that_is_forbidden_is_a_note_where_curl_is(
    fleet: Path, own_openssh: OpenSsh, specdeck: Specdeck
) -> None:
    own_openssh.reconfigure(AllowTcpForwarding="no")
    said = specdeck("--fleet", str(fleet), "check", "--connect")
    mark, detail = steps(said.out)["forwarding"]
    assert (mark, said.code) == ("note", 0)
    assert "forbids TCP forwarding (AllowTcpForwarding, PermitOpen); curl there asks the servers instead" in detail


@pytest.mark.parametrize("broken", ["resolve", "connect", "host key", "login", "shell"])
def test_the_first_step_that_fails_is_the_last_line(
    fleet: Path, own_openssh: OpenSsh, specdeck: Specdeck, broken: str
) -> None:
    words = BREAK[broken](own_openssh)
    said = specdeck("--fleet", str(fleet), "check", "--connect")
    found = steps(said.out)
    assert list(found) == ["resolve", "connect", "host key", "login", "shell"][: len(found)]
    assert list(found)[-1] == broken
    assert found[broken][0] == "FAILED"
    assert words in found[broken][1]
    assert [mark for mark, *_ in found.values()][:-1] == ["ok"] * (len(found) - 1)
    assert said.code == (1 if broken == "shell" else 3)


def _no_such_word(sshd: OpenSsh) -> str:
    sshd.write_config(extra="NoSuchWord yes\n")
    return "Bad configuration option: nosuchword"


def _nobody_listens(sshd: OpenSsh) -> str:
    text = sshd.ssh_config.read_text().replace(f"Port {sshd.port}", f"Port {free_port()}")
    sshd.ssh_config.write_text(text)
    return "refused the connection; is sshd running on that port?"


def _new_key(sshd: OpenSsh) -> str:
    sshd.known_hosts.write_text("")
    return f"its host key {fingerprint(sshd.host_key)} is in no known_hosts file"


def _locked_key(sshd: OpenSsh) -> str:
    locked = make_key(sshd.folder / "locked", passphrase=PASSPHRASE)
    sshd.write_config(identity=locked)
    return f"run: ssh-add {locked}"


def _no_shell(sshd: OpenSsh) -> str:
    sshd.reconfigure(ForceCommand="/usr/sbin/nologin")
    return "This account is currently not available."


BREAK = {
    "resolve": _no_such_word,
    "connect": _nobody_listens,
    "host key": _new_key,
    "login": _locked_key,
    "shell": _no_shell,
}


def _changed_key(sshd: OpenSsh) -> str:
    sshd.know_host_key(make_key(sshd.folder / "old"))
    return f"ssh-keygen -f {sshd.known_hosts} -R '[127.0.0.1]:{sshd.port}'"


def _unknown_user(sshd: OpenSsh) -> str:
    (sshd.folder / "authorized_keys").write_text("")
    return "refused the login of"


def _bastion_is_down(sshd: OpenSsh) -> str:
    sshd.write_config(extra="  ProxyJump edge\nHost edge\n  HostName 127.0.0.1\n  Port 1\n")
    return "on the way to gpu-a: edge (127.0.0.1:1) refused the connection"


def _proxy_says_nothing(sshd: OpenSsh) -> str:
    sshd.write_config(extra="  ProxyCommand exit 3\n")
    return "its ProxyCommand ended with 127: "


def _sftp_only(sshd: OpenSsh) -> str:
    sshd.reconfigure(ForceCommand="internal-sftp")
    return "This service allows sftp connections only.; the login shell must be able to run `exec /bin/sh`"


def _restricted_shell(sshd: OpenSsh) -> str:
    sshd.reconfigure(ForceCommand='exec rbash -c "$SSH_ORIGINAL_COMMAND"')
    return "exec: restricted; the login shell must be able to run `exec /bin/sh`"


def _no_session(sshd: OpenSsh) -> str:
    sshd.reconfigure(MaxSessions="0")
    return "lets in and allows no session at all (MaxSessions 0): nothing can be run"


@pytest.mark.parametrize(
    ("step", "break_it"),
    [
        ("shell", _no_session),
        ("host key", _changed_key),
        ("login", _unknown_user),
        ("connect", _bastion_is_down),
        ("connect", _proxy_says_nothing),
        ("shell", _sftp_only),
        ("shell", _restricted_shell),
    ],
)
def test_each_fault_is_a_line_that_says_what_mends_it(
    fleet: Path, own_openssh: OpenSsh, specdeck: Specdeck, step: str, break_it: Callable[[OpenSsh], str]
) -> None:
    words = break_it(own_openssh)
    found = steps(specdeck("--fleet", str(fleet), "check", "--connect").out)
    assert list(found)[-1] == step
    assert found[step][0] == "FAILED"
    assert words in found[step][1]


@pytest.mark.parametrize(
    ("allowed", "words"),
    [
        ("1", "one session at a time is allowed (MaxSessions 1): everything takes turns"),
        ("2", "2 sessions at a time are allowed (MaxSessions 2): one is kept for your acts, logs take turns"),
    ],
)
def test_a_host_with_few_sessions_is_walked_to_the_end_and_says_so(
    fleet: Path, own_openssh: OpenSsh, specdeck: Specdeck, allowed: str, words: str
) -> None:
    own_openssh.reconfigure(MaxSessions=allowed)
    said = specdeck("--fleet", str(fleet), "check", "--connect")
    found = steps(said.out)
    assert list(found)[-1] == "log of kimi"
    assert found["sessions"][0] == "note"
    assert words in found["sessions"][1]
    assert said.code == 0


def test_what_of_the_configuration_is_not_supported_is_a_note(
    fleet: Path, own_openssh: OpenSsh, specdeck: Specdeck
) -> None:
    own_openssh.write_config(extra="  PKCS11Provider /usr/lib/card.so\n")
    said = specdeck("--fleet", str(fleet), "check", "--connect")
    mark, words = steps(said.out)["configuration"]
    assert (mark, said.code) == ("note", 0)
    assert words.startswith("PKCS11Provider is not supported: load its keys into the agent with ssh-add -s")


def test_json_holds_the_same_steps(fleet: Path, specdeck: Specdeck) -> None:
    said = specdeck("--fleet", str(fleet), "check", "--connect", "--json")
    host = json.loads(said.out)["connect"][0]
    assert (host["name"], host["ssh"]) == ("lab", "gpu-a")
    assert host["steps"][3] == {"name": "login", "state": "passed", "detail": ""}
    assert said.code == 0


def test_without_connect_no_host_is_asked(fleet: Path, own_openssh: OpenSsh, specdeck: Specdeck) -> None:
    own_openssh.stop()
    assert specdeck("--fleet", str(fleet), "check").code == 0

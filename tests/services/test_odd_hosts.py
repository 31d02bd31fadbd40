"""Hosts as they are, through the whole deck: other login shells, greetings, no forwarding, full disks, hidden processes."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.services.lab import Lab
from tests.services.test_deck_over_ssh import fleet, texts
from tests.services.waiting import kimi, until

from specdeck.services import back_off, host_monitor
from specdeck.services.open_deck import open_deck
from specdeck.state.snapshot import Word

pytestmark = pytest.mark.sshd
CASES = Path(__file__).parents[1] / "cases"
BASHRC = CASES / "B32_noise_on_stdout" / "bashrc"
NO_MOUNTS = (
    os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0
)
may_mount = pytest.mark.skipif(NO_MOUNTS, reason="mounting needs root")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorter ticks."""
    monkeypatch.setattr(host_monitor, "TICK_SECONDS", 0.2)
    monkeypatch.setattr(host_monitor, "LEAST_SURVEY_SECONDS", 0.1)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A host without servers."""
    return Lab(tmp_path)


LOGIN_SHELLS = [
    pytest.param(
        shell, id=Path(shell).name, marks=pytest.mark.skipif(not shutil.which(shell), reason=f"{shell} is not here")
    )
    for shell in ("fish", "tcsh")
]


@pytest.mark.parametrize("shell", LOGIN_SHELLS)
async def test_any_login_shell_will_do(lab: Lab, own_openssh: OpenSsh, shell: str) -> None:
    own_openssh.reconfigure(ForceCommand=f'exec {shell} -c "$SSH_ORIGINAL_COMMAND"')
    with lab.run():
        async with open_deck(fleet(lab, own_openssh)) as deck:
            await until(deck, lambda state: kimi(state).word == Word.READY and len(texts(deck)) == 3)


async def test_greetings_on_both_outputs_are_no_data(lab: Lab, own_openssh: OpenSsh) -> None:
    own_openssh.reconfigure(ForceCommand=f"bash -c '. {BASHRC}; eval \"$SSH_ORIGINAL_COMMAND\"'")
    with lab.run():
        async with open_deck(fleet(lab, own_openssh)) as deck:
            state = await until(deck, lambda state: kimi(state).word == Word.READY and len(texts(deck)) == 3)
    assert state.hosts[0].gpus == ()
    assert not [each for each in state.happenings if each.severity == "error"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        pytest.param("/usr/sbin/nologin", "This account is currently not available.", id="nologin"),
        pytest.param("echo only backups here; exit 1", "it said: only backups here", id="backup"),
        pytest.param("internal-sftp", "it said: This service allows sftp connections only.", id="sftp"),
        pytest.param('exec rbash -c "$SSH_ORIGINAL_COMMAND"', "rbash: line 1: exec: restricted", id="rbash"),
        pytest.param("echo '1) servers'; read choice; exit 0", "it said: 1) servers", id="menu"),
        pytest.param("true", "it said: nothing", id="silent"),
    ],
)
async def test_an_account_that_runs_no_script_is_down_with_its_words_told_once(
    lab: Lab, own_openssh: OpenSsh, command: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(back_off.BackOff, "next_seconds", lambda self: 0.2)
    own_openssh.reconfigure(ForceCommand=command)
    async with open_deck(fleet(lab, own_openssh)) as deck:
        state = await until(deck, lambda state: state.hosts[0].link == "down" and state.hosts[0].error)
        assert words in (state.hosts[0].error or "")
        assert state.hosts[0].retry_at is not None
        await until(deck, lambda _: own_openssh.log.count("Accepted publickey") >= 3)
        told = [each.text for each in deck.store.state.happenings if each.source == "lab"]
    assert len(told) == 1, told
    assert words in told[0]


async def test_a_host_that_allows_no_session_is_down_and_says_so(lab: Lab, own_openssh: OpenSsh) -> None:
    own_openssh.reconfigure(MaxSessions="0")
    async with open_deck(fleet(lab, own_openssh)) as deck:
        state = await until(deck, lambda state: state.hosts[0].link == "down")
    assert "allows no session at all (MaxSessions 0)" in (state.hosts[0].error or "")


async def test_an_account_that_may_run_scripts_again_is_watched(lab: Lab, own_openssh: OpenSsh) -> None:
    """A maintenance that is over."""
    own_openssh.reconfigure(ForceCommand="echo maintenance until noon; exit 1")
    with lab.run():
        async with open_deck(fleet(lab, own_openssh)) as deck:
            await until(deck, lambda state: state.hosts[0].link == "down")
            own_openssh.reconfigure()
            await deck.refresh()
            await until(deck, lambda state: kimi(state).word == Word.READY)


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not here")
@pytest.mark.parametrize("sessions", ["10", "1"])
async def test_without_forwarding_the_servers_are_asked_by_curl(lab: Lab, own_openssh: OpenSsh, sessions: str) -> None:
    own_openssh.reconfigure(AllowTcpForwarding="no", MaxSessions=sessions)
    with lab.run():
        async with open_deck(fleet(lab, own_openssh)) as deck:
            state = await until(deck, lambda state: kimi(state).word == Word.READY, 60)
    assert kimi(state).evidence.http.state == "ok"


@may_mount
async def test_a_full_disk_refuses_an_act_in_words_and_watching_goes_on(lab: Lab, own_openssh: OpenSsh) -> None:
    full = lab.folder / "state"
    full.mkdir()
    with small_disk(full), lab.run():
        async with open_deck(fleet(lab, own_openssh)) as deck:
            await until(deck, lambda state: kimi(state).word == Word.READY)
            fill(full / "filler")
            plan = await asyncio.wait_for(deck.plan("relaunch", "kimi", "baseline"), 60)
    assert [check for check in plan.checks if check.name == "disk" and check.state == "failed"]
    assert not plan.is_allowed
    assert kimi(deck.store.state).word == Word.READY


class small_disk:  # noqa: N801 - reads as a verb where it is used
    """A tmpfs of 256 KiB at a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(self._folder)], check=True)

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", "-l", str(self._folder)], check=True)


def fill(file: Path) -> None:
    """Write until nothing more fits."""
    with file.open("wb", buffering=0) as out:
        try:
            while True:
                out.write(b"x" * 4096)
        except OSError:
            return


@may_mount
async def test_hidden_processes_of_others_do_not_make_a_server_a_stranger_or_dead(
    lab: Lab, own_openssh: OpenSsh
) -> None:
    """Another user's login on a host whose /proc hides what is not theirs; the server is root's."""
    prepare = "mount -t proc -o hidepid=2 proc /proc; exec setpriv --reuid 65534 --regid 65534 --clear-groups"
    own_openssh.reconfigure(ForceCommand=f"exec unshare -m sh -c '{prepare} sh -c \"$SSH_ORIGINAL_COMMAND\"'")
    lab.folder.chmod(0o755)
    with lab.run():
        async with open_deck(fleet(lab, own_openssh)) as deck:
            state = await until(deck, lambda state: kimi(state).evidence.http.state == "ok", 30)
    assert kimi(state).word not in (Word.CRASHED, Word.BLOCKED)


async def test_two_hosts_and_one_without_nvidia_smi_is_one_line(lab: Lab, own_openssh: OpenSsh) -> None:
    with lab.run():
        async with open_deck(fleet(lab, own_openssh)) as deck:
            state = await until(deck, lambda state: state.hosts[0].gpu_error and kimi(state).word == Word.READY)
    assert state.hosts[0].gpu_error == (
        "nvidia-smi is not in the PATH of a non-interactive shell: set PATH in the host's env"
    )
    assert len([each for each in state.happenings if "nvidia-smi" in each.text]) == 1

"""services/scripts/nvidia_smi.sh in every shell of a host: rows within a time, and no second call beside one that hangs."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.services.hung_smi import hung_nvidia_smi
from tests.services.smi_host import GPU, SmiHost
from tests.services.test_monitor_script import SHELLS

from specdeck.transport.script import script_text

ASK = 'set -f; smi_patience=1; smi_rows --query-gpu=index,memory.used; echo "$? [$smi_text] [$hung] $-"'


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """How to start one of the shells."""
    words: tuple[str, ...] = request.param
    return words


@pytest.fixture
def smi(tmp_path: Path) -> SmiHost:
    """A host with two GPUs."""
    host = SmiHost(tmp_path)
    host.say(gpus=[GPU, {**GPU, "index": 1}])
    return host


def said(shell: Sequence[str], host: SmiHost, *, text: str = ASK) -> str:
    """What a script says that uses these functions."""
    done = subprocess.run(
        [*shell, "-c", f"{script_text('nvidia_smi')}\n{text}"],
        capture_output=True,
        env=dict(host.host.env),
        timeout=30,
        check=False,
    )
    assert done.stderr == b""
    return done.stdout.decode()


def test_rows_come_as_they_are_and_globbing_is_as_it_was(shell: tuple[str, ...], smi: SmiHost) -> None:
    answer = said(shell, smi)
    assert answer.startswith("0 [0, 70110\n1, 70110] [] ")
    assert "f" in answer.rsplit(" ", 1)[1]


def test_its_own_failure_is_the_scripts(shell: tuple[str, ...], smi: SmiHost) -> None:
    smi.say(stdout="No devices were found\n", rc=6)
    assert said(shell, smi).startswith("6 [No devices were found] ")


def test_one_that_does_not_answer_is_given_up_in_time_and_told_to_end(shell: tuple[str, ...], smi: SmiHost) -> None:
    smi.say(gpus=[GPU], delay=600)
    assert said(shell, smi).startswith("124 [] ")


def test_beside_one_that_hangs_none_is_started(shell: tuple[str, ...], smi: SmiHost) -> None:
    with hung_nvidia_smi(smi.folder) as pid:
        answer = said(shell, smi)
    assert answer.startswith(f"1 [] [{pid} ")
    assert not smi.starts.exists()


def test_a_host_without_nvidia_smi_answers_nothing(shell: tuple[str, ...], smi: SmiHost) -> None:
    (smi.folder / "bin" / "nvidia-smi").unlink()
    assert said(shell, smi).startswith("127 [] ")

"""Owners by the text of /proc/PID/cgroup, as each of them writes it. No test machine has them all: this is recorded text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdeck.parsing.cgroup import Owner, owner_of

LOGIN = "0::/user.slice/user-1000.slice/session-7.scope\n"
C64 = "3f1c9a0de4b25c6677889900aabbccddeeff00112233445566778899aabbccdd"
SLICE = "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"
POD = "8b3f5c1e-0d2a-4c7e-9a51-6f0e2d4c8b7a"


@pytest.mark.parametrize(
    ("cgroup", "owner"),
    [
        ("0::/system.slice/vllm.service\n", Owner("systemd", "vllm.service")),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/kimi.service\n", Owner("systemd", "kimi.service")),
        (f"0::/system.slice/docker-{C64}.scope\n", Owner("docker", C64)),
        (f"12:cpuset:/docker/{C64}\n11:memory:/docker/{C64}\n0::/\n", Owner("docker", C64)),
        (f"0::/machine.slice/libpod-{C64}.scope/container\n", Owner("podman", C64)),
        (
            f"0::/{SLICE}{POD.replace('-', '_')}.slice/cri-containerd-{C64}.scope\n",
            Owner("kubernetes", POD),
        ),
        (f"4:memory:/kubepods/burstable/pod{POD}/{C64}\n", Owner("kubernetes", POD)),
        ("0::/system.slice/slurmstepd.scope/job_48213/step_0/user/task_0\n", Owner("slurm", "48213")),
        ("9:freezer:/slurm/uid_1000/job_48213/step_batch\n", Owner("slurm", "48213")),
        (f"0::/lxc/{C64}\n", Owner("container", C64)),
    ],
)
def test_each_owner_is_read_from_its_own_way_to_name_groups(cgroup: str, owner: Owner) -> None:
    assert owner_of(cgroup, LOGIN) == owner


@pytest.mark.parametrize(
    "cgroup",
    [
        "0::/user.slice/user-1000.slice/session-3.scope\n",
        "0::/system.slice/ssh.service\n",
        "0::/system.slice/sshd@4-192.0.2.7:22-192.0.2.9:51000.service\n",
        "0::/user.slice/user-1000.slice/user@1000.service/tmux-spawn-1.scope\n",
        "0::/\n",
        "",
    ],
)
def test_a_login_is_no_owner(cgroup: str) -> None:
    assert owner_of(cgroup, LOGIN) is None


def test_inside_a_container_what_shares_our_own_group_has_no_owner() -> None:
    inside = f"0::/docker/{C64}\n"
    assert owner_of(inside, inside) is None


def test_each_owner_that_can_stop_says_how_and_the_others_do_not() -> None:
    assert Owner("systemd", "vllm.service").stop_argv == ("systemctl", "stop", "vllm.service")
    assert Owner("docker", C64).stop_argv == ("docker", "stop", C64)
    assert Owner("slurm", "48213").stop_argv == ("scancel", "48213")
    assert Owner("kubernetes", POD).stop_argv is None
    assert Owner("systemd", "-x.service").stop_argv is None


@given(st.text(), st.text())
def test_no_text_is_too_odd(cgroup: str, ours: str) -> None:
    owner = owner_of(cgroup, ours)
    assert owner is None or owner.words


def test_each_owner_has_its_words_and_the_way_to_its_log() -> None:
    told = {
        Owner("systemd", "vllm.service"): ("systemd unit vllm.service", "journalctl -u vllm.service"),
        Owner("docker", C64): (f"Docker container {C64[:12]}", f"docker logs {C64[:12]}"),
        Owner("podman", C64): (f"Podman container {C64[:12]}", f"podman logs {C64[:12]}"),
        Owner("kubernetes", POD): (f"Kubernetes pod {POD}", "kubectl logs"),
        Owner("slurm", "48213"): ("Slurm job 48213", None),
        Owner("container", C64): (f"container {C64[:12]}", None),
    }
    assert {owner: (owner.words, owner.log_command) for owner in told} == told


def test_a_name_that_a_shell_could_take_for_more_gets_no_command() -> None:
    odd = Owner("systemd", "x; reboot.service")
    assert (odd.stop_argv, odd.log_command) == (None, None)

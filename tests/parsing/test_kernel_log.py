"""The kernel's words on processes that it killed for memory."""

from pathlib import Path

from specdeck.parsing.kernel_log import KernelKill, is_denied, kernel_kills

CASE = Path(__file__).parents[1] / "cases" / "B10_silent_death"


def test_a_kill_by_the_limit_of_a_control_group_is_no_lack_of_the_whole_machine() -> None:
    (kill,) = kernel_kills((CASE / "dmesg_ok.txt").read_text())
    assert (kill.pid, kill.name, kill.seconds, kill.group) == (
        70211,
        "sglang::schedul",
        88412.311,
        "/system.slice/example.service",
    )
    assert kill.words == (
        "killed by the kernel: memory limit of example.service (cgroup), pid 70211 (sglang::schedul), about 94 GiB resident"
    )


def test_a_kill_for_the_whole_machine_is_told_so() -> None:
    (kill,) = kernel_kills(
        "[  12.5] Out of memory: Killed process 41 (python3) total-vm:1kB, anon-rss:2097152kB, file-rss:1048576kB, shmem-rss:0kB"
    )
    assert kill.words == "killed by the kernel: the host's memory was full, pid 41 (python3), about 3 GiB resident"


def test_a_log_that_may_not_be_read_is_told_from_one_without_kills() -> None:
    denied = (CASE / "dmesg_denied.txt").read_text()
    assert (is_denied(denied), kernel_kills(denied)) == (True, ())
    assert (is_denied("[1.0] usb 1-1: new device"), kernel_kills("[1.0] usb 1-1: new device")) == (False, ())


def test_lines_without_a_stamp_or_sizes_are_read_as_far_as_they_go() -> None:
    assert kernel_kills("Memory cgroup out of memory: Killed process 7 (a b)") == (KernelKill(7, "a b", group=""),)

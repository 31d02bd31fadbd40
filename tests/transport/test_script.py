"""The frame around a script works in every shell that may be /bin/sh."""

import shutil
import subprocess

import pytest

from specdeck.transport.marks import MarkCutter
from specdeck.transport.script import Script

MARK = "specdeck-0123"
SHELLS = [["dash"], ["bash", "--posix"], ["busybox", "sh"]]


@pytest.fixture(params=SHELLS, ids=" ".join)
def shell(request: pytest.FixtureRequest) -> list[str]:
    argv: list[str] = request.param
    if shutil.which(argv[0]) is None:
        pytest.skip(f"{argv[0]} is not installed")
    return argv


def start(shell: list[str], script: bytes) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stdin is not None
    process.stdin.write(script)
    process.stdin.flush()
    return process


@pytest.mark.parametrize("form", ["run", "channel"])
def test_output_and_status_arrive_and_the_shell_ends_while_stdin_stays_open(shell: list[str], form: str) -> None:
    script = Script('printf "%s|" "$@"; echo oops >&2; exit 5', ("a'b $x\n`", "*"))
    render = script.render if form == "run" else script.render_channel
    with start(shell, render(MARK, env={"A": "b"})) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        stdout, stderr = MarkCutter(MARK), MarkCutter(MARK)
        assert stdout.feed(process.stdout.read()) == b"a'b $x\n`|*|"
        assert stderr.feed(process.stderr.read()) == b"oops\n"
        process.wait(5)
    assert stdout.exit_status == stderr.exit_status == 5
    assert stdout.leader is not None
    assert stdout.leader.pid == process.pid


def test_what_is_written_after_the_begin_mark_reaches_the_script(shell: list[str]) -> None:
    with start(shell, Script('while read -r word; do echo "got $word"; done').render_channel(MARK)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"\x1especdeck-0123 ")
        process.stdin.write(b"one\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"got one\n"
        process.stdin.close()
        process.wait(5)


def test_the_end_of_stdin_ends_a_script_that_does_not_read(shell: list[str]) -> None:
    with start(shell, Script("echo up; sleep 600").render(MARK)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        assert process.stdout.readline() == b"up\n"
        process.stdin.close()
        process.wait(5)

"""services/scripts/monitor.sh in every shell that a host may have as /bin/sh, against this machine's own /proc."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from specdeck.parsing.proc import process_stat
from specdeck.services.answers import AnswerReader, Answers
from specdeck.transport.script import script_text

SHELLS = [
    pytest.param(
        shell,
        id=" ".join(shell),
        marks=pytest.mark.skipif(not shutil.which(shell[0]), reason=f"{shell[0]} is not here"),
    )
    for shell in (("dash",), ("bash", "--posix"), ("busybox", "ash"))
]


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """How to start one of the shells."""
    words: tuple[str, ...] = request.param
    return words


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket in LISTEN on loopback."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server


def ask(shell: Sequence[str], *questions: str, state: Path | None = None) -> Answers:
    """The answers of a monitor that ends with its stdin."""
    env = {**os.environ, "XDG_STATE_HOME": str(state or "/nonexistent")}
    asked = "".join(f"{question}\n" for question in questions)
    done = subprocess.run(
        [*shell, "-c", script_text("monitor")],
        input=asked.encode(),
        stdout=subprocess.PIPE,
        env=env,
        timeout=20,
        check=False,
    )
    reader = AnswerReader()
    for line in done.stdout.decode().split("\n"):
        if line.startswith("@"):
            reader.read(line)
    return reader.answers


def test_a_process_is_told_by_its_stat_line(shell: tuple[str, ...]) -> None:
    stat = process_stat(ask(shell, f"pid {os.getpid()}").stats[os.getpid()].encode())
    assert stat is not None
    assert (stat.pid, stat.parent) == (os.getpid(), os.getppid())


def test_a_process_that_is_not_there_has_an_empty_line(shell: tuple[str, ...]) -> None:
    assert ask(shell, "pid 4194305").stats == {4194305: ""}


def test_a_listening_port_is_told_with_its_inode_and_address(shell: tuple[str, ...], listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    rows = ask(shell, f"ports {port:04X}").listening[port]
    inode = os.readlink(f"/proc/self/fd/{listener.fileno()}").removeprefix("socket:[").removesuffix("]")
    assert [(row.inode, row.address) for row in rows] == [(inode, "0100007F")]


def test_a_port_in_time_wait_or_with_clients_only_is_not_listening(
    shell: tuple[str, ...], listener: socket.socket
) -> None:
    with socket.create_connection(listener.getsockname()) as client:
        port = client.getsockname()[1]
        assert port not in ask(shell, f"ports {port:04X}").listening


def test_the_newest_run_is_the_highest_number_and_its_files_are_told(shell: tuple[str, ...], tmp_path: Path) -> None:
    for number, profile in (("0009", "old"), ("0010", "eagle3-v2")):
        run = tmp_path / "specdeck" / "kimi" / number
        run.mkdir(parents=True)
        (run / "profile").write_text(f"{profile}\n")
        (run / "pid").write_text("4711 99\n")
    (tmp_path / "specdeck" / "kimi" / "staged.Ab3").mkdir()
    (tmp_path / "specdeck" / "kimi" / "act").write_text("5\tlaunch\tasked\tann eagle3-v2\n6\tlaunch\tdone\t\n")
    files = ask(shell, "run 0 kimi", state=tmp_path).runs["0"]
    assert files.run == "0010"
    assert files.items == {"profile": "eagle3-v2", "pid": "4711 99"}
    assert files.journal == ("5\tlaunch\tasked\tann eagle3-v2", "6\tlaunch\tdone\t")


def test_a_server_without_a_folder_has_no_run(shell: tuple[str, ...], tmp_path: Path) -> None:
    assert ask(shell, "run 0 kimi", state=tmp_path).runs["0"].run is None


def test_files_are_told_apart(shell: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "with space").touch()
    asked = (f"file a {tmp_path / 'with space'}", f"file b {tmp_path}", f"file c {tmp_path / 'nope'}")
    assert ask(shell, *asked).files == {"a": "readable", "b": "folder", "c": "missing"}


def test_a_text_of_many_lines_comes_whole(shell: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "command").write_text("FOO=1 \\\n  python3 -m x \\\n  --flag '%s $HOME'")
    text = ask(shell, f"text 0 {tmp_path / 'command'}").texts["0"]
    assert text == "FOO=1 \\\n  python3 -m x \\\n  --flag '%s $HOME'"


def test_the_questions_may_come_as_arguments_where_only_one_session_is_allowed(shell: tuple[str, ...]) -> None:
    done = subprocess.run(
        [*shell, "-c", script_text("monitor"), "sh", f"pid {os.getpid()}", "beat 7"],
        stdout=subprocess.PIPE,
        timeout=20,
        check=True,
    )
    lines = done.stdout.decode().splitlines()
    assert lines[-1] == "@beat 7"
    assert lines[-2].startswith(f"@pid {os.getpid()} {os.getpid()} (")


def test_what_a_host_writes_into_files_is_never_run(shell: tuple[str, ...], tmp_path: Path) -> None:
    run = tmp_path / "specdeck" / "kimi" / "0001"
    run.mkdir(parents=True)
    trap = tmp_path / "trapped"
    (run / "profile").write_text(f"$(touch {trap})`touch {trap}`;touch {trap}\n")
    files = ask(shell, "run 0 kimi", state=tmp_path).runs["0"]
    assert files.items["profile"] == f"$(touch {trap})`touch {trap}`;touch {trap}"
    assert not trap.exists()


def test_no_process_is_started_for_questions(shell: tuple[str, ...], tmp_path: Path) -> None:
    """Five rounds, each system call that starts a process on record."""
    if not shutil.which("strace"):
        pytest.skip("strace is not here")
    rounds = "pid 1\nports 7530\nrun 0 kimi\nfile 0 /etc/passwd\nborn 1 500 sglang vllm\nbeat 1\n" * 5
    trace = tmp_path / "trace"
    subprocess.run(
        ["strace", "-f", "-e", "trace=process", "-o", str(trace), *shell, "-c", script_text("monitor")],
        input=rounds.encode(), stdout=subprocess.DEVNULL, timeout=60, check=False,
    )  # fmt: skip
    forks = [line for line in trace.read_text().splitlines() if "fork(" in line or "clone" in line]
    assert len(forks) == 1, "only the greeting asks `date`"


def test_a_process_is_told_that_was_born_since_and_looks_like_a_server(shell: tuple[str, ...]) -> None:
    before = ask(shell, "born 0 500 sglang vllm").newest_pid
    assert before
    words = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with (
        subprocess.Popen([*words, "-m", "sglang.launch_server", "--port", "30000"], stdin=subprocess.PIPE) as server,
        subprocess.Popen([*words, "another"], stdin=subprocess.PIPE) as other,
    ):
        told = ask(shell, f"born {before} 500 sglang vllm")
    assert server.pid in told.born
    assert other.pid not in told.born


def test_a_thread_of_a_server_is_no_process_that_was_born(shell: tuple[str, ...]) -> None:
    program = (
        "import sys, threading; t = threading.Thread(target=sys.stdin.read); t.start(); print(t.native_id, flush=True)"
    )
    words = [sys.executable, "-c", program, "-m", "sglang.launch_server"]
    before = ask(shell, "born 0 500 sglang").newest_pid
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        thread = int(server.stdout.readline())
        told = ask(shell, f"born {before} 500 sglang")
    assert server.pid in told.born
    assert thread not in told.born

"""What one look with processes says, by eye from the lines."""

from specdeck.services.described import read_descriptions
from specdeck.services.survey import read_survey

TAIL = "0 -1 4194560 1 1 0 0 1 1 0 0 20 0 1 0 {start} 1 1"


def stat(pid: int, name: str, parent: int, session: int, start: int = 5) -> str:
    return f"@stat {pid} ({name}) S {parent} {pid} {session} {TAIL.format(start=start)}\n"


PROCESSES = (
    stat(100, "python3", 1, 100)
    + stat(101, "sglang::schedul", 100, 100)
    + stat(102, "odd) name (x", 101, 102)
    + stat(103, "cicc", 1, 100)
    + stat(200, "bash", 1, 200)
)


def test_a_family_is_the_session_and_all_descendants_also_in_other_sessions() -> None:
    assert read_survey(PROCESSES.encode()).family(100) == (100, 101, 102, 103)


def test_a_process_that_is_gone_has_no_family() -> None:
    assert read_survey(PROCESSES.encode()).family(999) == ()


def test_holders_of_a_socket_and_the_clock_are_read() -> None:
    survey = read_survey(b"@clock 1795968000\n@socket 77 100\n@socket 77 101\n")
    assert survey.owners == {"77": (100, 101)}
    assert survey.host_time == 1795968000.0


def test_a_process_list_that_did_not_end_is_no_list() -> None:
    assert read_survey(b"@app GPU-1, 100, python3, 500\n").gpu_rows is None
    assert read_survey(b"@app GPU-1, 100, python3, 500\n@apps-end\n").gpu_rows == ("GPU-1, 100, python3, 500",)


def test_the_log_of_a_process_is_its_first_output_that_is_a_file() -> None:
    answer = b"@arg 5 python3\n@arg 5 -m\n@arg 5 a b\n@cwd 5 /srv/x y\n@out 5 pipe:[9]\n@err 5 /var/log/my server.log\n"
    process = read_descriptions(answer)[5]
    assert process.argv == ("python3", "-m", "a b")
    assert (process.workdir, process.log) == ("/srv/x y", "/var/log/my server.log")


def test_a_terminal_or_a_deleted_file_is_no_log() -> None:
    assert read_descriptions(b"@out 5 /dev/pts/1\n@err 5 /tmp/x (deleted)\n")[5].log is None

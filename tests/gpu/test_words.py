"""The observer's rule and the report, on rows that were written by hand: one for each thing that may happen to a server."""

import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.gpu.report import Sample, compare, lines_of, read_asked
from tests.gpu.words import Asked, Row, read_rows, words_of
from tests.openssh import free_port

FREE_MIB, HELD_MIB = 500, 130_000


def row(at: float, alive: int, code: str = "refused", *, owner: int = 0, own: bool = True, mem: int = FREE_MIB) -> Row:
    return Row(at, alive, owner, owner > 0 and own, code, mem)


def serving(at: float, code: str = "200") -> Row:
    return row(at, 4, code, owner=77, mem=HELD_MIB)


def sample(at: float, word: str, *, eta: float | None = None, tok_s: float | None = None) -> Sample:
    return Sample(at, word, eta, tok_s, None, "eagle3-v2")


def told(rows: Sequence[Row], *stops: float, load: Sequence[tuple[float, int, int]] = ()) -> list[str]:
    """The words, each change once; two that are both right are joined."""
    words = [" or ".join(sorted(each.words)) for each in words_of(rows, [Asked(at, "stop") for at in stops], load)]
    return [word for place, word in enumerate(words) if words[place - 1 : place] != [word]]


LIFE = [row(0, 0), row(10, 1), row(20, 4, mem=HELD_MIB), serving(30, "503"), serving(31), serving(40)]


def test_a_life_is_starting_until_the_first_200_of_its_own_socket() -> None:
    assert told(LIFE) == ["stopped", "starting or stopped", "starting", "ready"]


def test_a_200_of_another_server_makes_nobody_ready() -> None:
    others = [row(0, 0), row(10, 1), row(20, 4, "200", owner=99, own=False), row(30, 4, "200", owner=99, own=False)]
    assert told(others)[-1] == "starting"


def test_a_stop_is_stopping_from_its_first_sign_until_the_memory_is_back() -> None:
    ending = [serving(50), serving(51, "503"), row(52, 1, mem=HELD_MIB), row(53, 0, mem=HELD_MIB), row(54, 0)]
    assert told([*LIFE, *ending], 49.0)[3:] == ["ready", "ready or stopping", "stopping", "stopped"]


def test_an_end_that_nobody_asked_for_is_a_crash_and_a_new_run_begins_anew() -> None:
    later = [row(50, 0), row(60, 3), serving(70)]
    assert told([*LIFE, *later])[3:] == ["ready", "crashed", "crashed or starting", "ready"]


def test_what_a_dead_parent_left_behind_is_a_crash_until_somebody_asks_for_its_end() -> None:
    orphans = [
        Row(50, 2, 0, False, "refused", HELD_MIB, leads=False),
        Row(60, 2, 0, False, "refused", HELD_MIB, leads=False),
    ]
    assert told([*LIFE, *orphans])[3:] == ["ready", "crashed"]
    assert told([*LIFE, *orphans, row(70, 0)], 65.0)[3:] == ["ready", "crashed", "stopping", "stopped"]


def test_a_server_that_says_503_or_nothing_for_long_is_unhealthy() -> None:
    assert told([*LIFE, serving(50, "503"), serving(60)])[3:] == ["ready", "unhealthy", "ready"]
    silent = [serving(at, "timeout") for at in (50, 60, 70, 81)]
    assert told([*LIFE, *silent])[3:] == ["ready", "unhealthy"]
    assert told([*LIFE, *silent[:3]])[3:] == ["ready"]


def test_open_requests_that_get_no_token_for_half_a_minute_are_a_stall() -> None:
    load = [(float(at), 4, 100) for at in range(35, 90)]
    stalls = [serving(at) for at in (50, 66, 80)]
    assert told([*LIFE, *stalls], load=load)[3:] == ["ready", "stalled"]
    busy = [(at, opened, tokens + number) for number, (at, opened, tokens) in enumerate(load)]
    assert told([*LIFE, *stalls], load=busy)[3:] == ["ready"]


def every_second(rows: Sequence[Row], end: int) -> list[Row]:
    """The state of the last row holds until the next."""
    return [
        Row(at, last.alive, last.owner, last.is_own, last.code, last.mem_mib, tokens=(at * 100.0, float(at)), decoys=1)
        for at in range(end)
        for last in [[each for each in rows if each.at <= at][-1]]
    ]


def test_words_that_agree_within_a_second_of_grace_do_not_differ() -> None:
    rows = every_second(LIFE, 60)
    said = [sample(at, "stopped" if at < 11 else "starting" if at < 32 else "ready") for at in range(1, 60)]
    report = compare(said, rows, [])
    assert report.differences == []
    assert report.seconds == pytest.approx(58, abs=0.5)


def test_a_ready_that_is_too_early_is_told_as_false_with_its_seconds() -> None:
    rows = every_second(LIFE, 60)
    said = [sample(at, "stopped" if at < 11 else "starting" if at < 25 else "ready") for at in range(1, 60)]
    report = compare(said, rows, [])
    assert [(each.said, each.right) for each in report.differences] == [("ready", "starting")]
    assert report.differing_seconds == pytest.approx(5, abs=0.5)  # from 25 to 31, less a second of grace
    assert report.false_ready == [25, 26, 27, 28, 29]


def test_a_server_that_the_driver_holds_still_is_rightly_called_stalled_at_once(tmp_path: Path) -> None:
    (tmp_path / "stages.tsv").write_text("5.0\tlaunch p\n40.0\tSIGSTOP of the scheduler\n50.0\tSIGCONT\n55.0\tstop\n")
    asked = read_asked(tmp_path / "stages.tsv")
    assert [(each.at, each.what) for each in asked] == [(55.0, "stop"), (40.0, "SIGSTOP"), (50.0, "SIGCONT")]
    said = [sample(at, "stalled" if 41 <= at < 51 else "ready") for at in range(33, 54)]
    assert compare(said, every_second(LIFE, 60), asked).differences == []
    assert compare(said, every_second(LIFE, 60), asked[:1]).differences != []


def test_a_port_that_somebody_else_holds_is_rightly_called_blocked() -> None:
    thief = [replace(each, owner=77, is_own=False) if 12 <= each.at < 20 else each for each in every_second(LIFE, 30)]
    said = [sample(at, "blocked" if 13 <= at < 21 else "starting") for at in range(12, 30)]
    assert compare(said, thief, []).differences == []
    assert compare(said, every_second(LIFE, 30), []).differences != []


def test_a_launch_before_the_memory_is_back_is_counted() -> None:
    early = [*LIFE, row(50, 0, mem=HELD_MIB), row(51, 1, mem=HELD_MIB)]
    late = [*LIFE, row(50, 0, mem=HELD_MIB), row(51, 0), row(52, 1)]
    assert compare([], early, [Asked(45, "stop")]).early_launches == [51]
    assert compare([], late, [Asked(45, "stop")]).early_launches == []


def test_the_eta_at_the_half_of_a_start_and_the_rate_stand_beside_what_came() -> None:
    rows = every_second(LIFE, 60)
    said = [sample(at, "starting", eta=12.0) if at < 31 else sample(at, "ready", tok_s=103.0) for at in range(10, 60)]
    load = [(at / 2, 8, at * 50) for at in range(20, 120)]
    report = compare(said, rows, [], load)
    profile, length, eta, left = report.etas[0]
    assert (profile, length, eta) == ("eagle3-v2", 21, 12.0)
    assert left == pytest.approx(10.5, abs=0.6)
    assert report.rate_error_percent == pytest.approx(3.0)
    changing = [(at, 8 if at % 10 else 1, tokens) for at, _, tokens in load]
    assert compare(said, rows, [], changing).rates == []
    lines = "\n".join(lines_of(report))
    assert "false ready: 0" in lines
    assert "strangers that a signal ended: 0" in lines


def test_the_observer_sees_a_process_of_the_port_its_socket_and_its_answers(tmp_path: Path) -> None:
    port = free_port()
    engine = tmp_path / "sglang.py"
    engine.write_text(
        "import http.server, sys\n"
        "class Page(http.server.BaseHTTPRequestHandler):\n"
        "    def do_GET(self):\n"
        '        body = b\'sglang:realtime_tokens_total{mode="decode",x="y"} 42.0\\n\'\n'
        "        self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers()\n"
        "        self.wfile.write(body)\n"
        "    def log_message(self, *words): pass\n"
        "http.server.HTTPServer(('127.0.0.1', int(sys.argv[2])), Page).serve_forever()\n"
    )
    observer = Path(__file__).with_name("observer.py")
    with (tmp_path / "rows").open("w") as rows:
        watching = subprocess.Popen([sys.executable, str(observer), str(port)], stdout=rows)
        serving = subprocess.Popen([sys.executable, str(engine), "--port", str(port)], start_new_session=True)
        try:
            seen = _rows_until(tmp_path / "rows", lambda each: each.code == "200" and each.tokens is not None)
            serving.terminate()
            serving.wait(30)
            gone = _rows_until(tmp_path / "rows", lambda each: not each.alive and each.at > seen.at)
        finally:
            for process in (serving, watching):
                process.kill()
                process.wait(30)
    assert (seen.alive, seen.owner, seen.is_own, seen.runs) == (1, serving.pid, True, 1)
    assert seen.tokens is not None
    assert seen.tokens[0] == 42.0
    assert (gone.owner, gone.runs) == (0, 1)


def _rows_until(path: Path, is_so: object) -> Row:
    import time

    assert callable(is_so)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        found = [each for each in (read_rows(path) if path.stat().st_size else []) if is_so(each)]
        if found:
            return found[-1]
        time.sleep(0.1)
    raise AssertionError(f"it was not seen: {path.read_text()[-500:]}")


def test_a_port_of_a_stranger_is_no_run(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        observer = Path(__file__).with_name("observer.py")
        with (tmp_path / "rows").open("w") as rows:
            watching = subprocess.Popen([sys.executable, str(observer), str(port)], stdout=rows)
            try:
                seen = _rows_until(tmp_path / "rows", lambda each: each.owner != 0)
            finally:
                watching.kill()
                watching.wait(30)
    assert (seen.alive, seen.is_own, seen.runs) == (0, False, 0)

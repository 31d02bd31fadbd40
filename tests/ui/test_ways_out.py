"""Every way out that can be caught leaves the terminal as it was, and says in a few words why (case B56)."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.ui.falling_program import TOKEN
from tests.ui.real_terminal import RealTerminal

RESTORED = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?1006l", b"\x1b[?2004l", b"\x1b[23;2t")
"""Main screen, cursor, no mouse in three protocols, no bracketed paste (want.txt of case B56), the title of before."""

ODD = (b"\xf6", b"\xc3(", b"\x1b[99999999999~", b"\x1b[::um", b"\x1b[1114112u")
"""An eight-bit Meta key, half a character, numbers that no key has."""


@contextmanager
def dashboard(folder: Path) -> Iterator[RealTerminal]:
    fleet = folder / "fleet.yaml"
    fleet.write_text("hosts: {here: {ssh: localhost}}\n")
    with running(folder, "-m", "specdeck", "--fleet", str(fleet)) as terminal:
        terminal.until(b"\x1b]2;")
        yield terminal


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[RealTerminal]:
    terminal = RealTerminal(arguments, folder)
    try:
        yield terminal
    finally:
        terminal.close()


def missing(written: bytes) -> list[bytes]:
    """What was not undone after the last frame."""
    last = written.rfind(b"\x1b[?1049l")
    return [each for each in RESTORED if each not in written[max(0, last - 4000) :]]


def rest(terminal: RealTerminal) -> str:
    """What stands on the main screen afterwards."""
    return terminal.written.rpartition(b"\x1b[?1049l")[2].decode()


@pytest.mark.parametrize(
    ("way", "code"),
    [("q", 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)],
    ids=["q", "SIGTERM", "SIGHUP", "SIGINT"],
)
def test_a_key_or_a_signal_restores_the_terminal(tmp_path: Path, way: str | int, code: int) -> None:
    with dashboard(tmp_path) as terminal:
        if isinstance(way, str):
            terminal.press(way)
        else:
            terminal.send(way)
        assert terminal.end() == code
        assert missing(terminal.written) == []
        assert "Traceback" not in rest(terminal)


def test_a_demo_that_is_hung_up_says_so_by_its_code(tmp_path: Path) -> None:
    with running(tmp_path, "-m", "specdeck", "demo", "--speed", "1000", "--traffic", "0") as terminal:
        terminal.until(b"\x1b]2;")
        terminal.send(signal.SIGHUP)
        assert terminal.end() == 129
        assert missing(terminal.written) == []


@pytest.mark.parametrize(("where", "key"), [("TIMER", ""), ("HANDLER", "r")])
def test_an_exception_outside_of_a_key_restores_the_terminal_and_names_its_report(
    tmp_path: Path, where: str, key: str
) -> None:
    with running(tmp_path, "-m", "tests.ui.falling_program", where) as terminal:
        terminal.until(b"\x1b]2;")
        terminal.press(key)
        assert terminal.end() == 1
        assert missing(terminal.written) == []
        said = rest(terminal)
    (report,) = (tmp_path / "state/specdeck/reports").iterdir()
    flat = "".join(said.split())
    assert f"report:{report}" in flat
    assert "NoserverwasstoppedbythisIftheterminallooksoddnow:reset" in flat.replace("this.", "this")
    assert "Traceback" not in said
    assert "\x1b[2J" not in said
    assert len([line for line in said.splitlines() if line.strip()]) <= 6
    text = report.read_text()
    assert "in falls" in text
    assert "Traceback" in text
    assert [secret for secret in (TOKEN, "geheim99") if secret in text or secret in flat] == []
    assert report.stat().st_mode & 0o077 == 0


def test_a_key_that_fails_is_said_with_its_report_and_ends_nothing(tmp_path: Path) -> None:
    with running(tmp_path, "-m", "tests.ui.falling_program", "KEY") as terminal:
        terminal.until(b"\x1b]2;")
        terminal.press("  ")
        terminal.until(b"pause failed: ValueError: it fell")
        terminal.until(b"report:")
        terminal.press("q")
        assert terminal.end() == 0
    (report,) = (tmp_path / "state/specdeck/reports").iterdir()
    assert "in falls" in report.read_text()
    assert TOKEN not in report.read_text() + terminal.written.decode()


def test_bytes_that_are_no_keys_end_nothing(tmp_path: Path) -> None:
    with dashboard(tmp_path) as terminal:
        for odd in ODD:
            terminal.type(odd)
            terminal.written = b""
            while b"\x1b[?1000" not in terminal.written:  # the mouse changes hands; a key in the same read may be lost
                terminal.press("M")
                terminal.look(1.0)
        terminal.press("q")
        assert terminal.end() == 0
    assert not (tmp_path / "state/specdeck/reports").exists()


def test_a_recording_that_cannot_be_written_is_a_sentence_on_the_restored_terminal(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet.yaml"
    fleet.write_text("hosts: {here: {ssh: localhost}}\n")
    with running(tmp_path, "-m", "specdeck", "--fleet", str(fleet), "--record", "/no/such/folder/x.rec") as terminal:
        assert terminal.end() == 2
        assert missing(terminal.written) == []
        assert (
            rest(terminal).rpartition("\x1b[23;2t")[2].strip()
            == "specdeck: /no/such/folder/x.rec cannot be written: No such file or directory"
        )


def test_an_exception_of_a_verb_is_one_sentence_and_a_report(tmp_path: Path) -> None:
    with running(tmp_path, "-m", "tests.ui.falling_program", "VERB") as terminal:
        assert terminal.end() == 1
    said = terminal.written.decode()
    assert said.startswith("specdeck ended by an error of its own: ValueError: it fell")
    assert "report: " in said
    assert "Traceback" not in said
    assert "\x1b[2J" not in said


def test_only_the_newest_reports_are_kept(tmp_path: Path) -> None:
    from specdeck.services.crash_report import MOST, write_report

    for number in range(100, 130):
        (tmp_path / f"20260101-000{number}.txt").write_text("old")
    newest = write_report(ValueError("x"), tmp_path)
    assert len(list(tmp_path.iterdir())) == MOST
    assert newest.exists()

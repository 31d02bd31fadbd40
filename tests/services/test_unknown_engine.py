"""A server of an engine that specdeck does not know is watched all the same: process, port, HTTP, log."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.services.lab import Lab
from tests.services.test_deck import quick
from tests.services.waiting import kimi, until

from specdeck.services.open_deck import open_deck
from specdeck.state.snapshot import Word

__all__ = ["quick"]


@contextmanager
def plain_server(lab: Lab, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Python's own web server: no engine that anybody knows."""
    command = [
        sys.executable,
        "-u",
        "-m",
        "http.server",
        str(lab.port),
        "--bind",
        "127.0.0.1",
        "--directory",
        str(lab.folder),
    ]
    with log.open("ab") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


async def test_it_is_ready_by_its_process_port_and_any_answer(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    log = tmp_path / "web.log"
    with plain_server(lab, log) as process:
        async with open_deck(lab.local(lab.server(profiles=()))) as deck:
            state = await until(deck, lambda state: kimi(state).word == Word.READY)
            server = kimi(state)
            assert (server.engine, server.run and server.run.pid) == ("", process.pid)
            assert (server.evidence.port.state, server.evidence.http.status) == ("ours", 404)
            await until(deck, lambda _: any("GET /health" in line.text for line in deck.log_lines("kimi", 0)))
            process.kill()
            process.wait(10)
            gone = await until(deck, lambda state: kimi(state).word not in (Word.READY, Word.UNHEALTHY))
    assert kimi(gone).word == Word.CRASHED


async def test_where_a_profile_says_what_it_should_be_a_stranger_stays_one(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    with plain_server(lab, tmp_path / "web.log"):
        async with open_deck(lab.local()) as deck:
            state = await until(deck, lambda state: kimi(state).word == Word.BLOCKED)
    assert kimi(state).evidence.port.state == "stranger"


@pytest.mark.parametrize("word", ["GET", "Serving"])
def test_a_log_of_nobody_is_no_start(word: str) -> None:
    from specdeck.engines.unknown import UNKNOWN

    assert not UNKNOWN.recognises_line(f"{word} x")
    assert not UNKNOWN.recognises_command([word])

"""The line for tmux's status bar: short, the worst first, kept by a dashboard, never an old one."""

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.ui import fleets
from tests.ui.fake_deck import configured

from specdeck.cli.main import run
from specdeck.services import line_file
from specdeck.services.line_file import fresh_line, keep_line, line_path, write_line
from specdeck.services.store import Store
from specdeck.state.line import one_line, title
from specdeck.state.reduce import reduce
from specdeck.state.snapshot import FleetState, Word


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return line_path(configured())


def test_a_small_fleet_is_told_in_its_own_order() -> None:
    assert one_line(fleets.only(fleets.kimi())) == "◐ kimi starting 34%"


def test_a_large_fleet_is_told_worst_first_and_the_rest_is_counted() -> None:
    ready = tuple(fleets.qwen(f"q{number}") for number in range(60))
    state = replace(fleets.fleet(), servers=(*ready, *fleets.fleet().servers))
    assert one_line(state) == (
        "✖ glm crashed | ◌ llama unreachable | ◐ kimi starting 34% | ● q0 ready 773 tok/s | ● 61 ready | old-box down"
    )


def test_a_name_is_no_style_of_tmux_and_no_escape_sequence() -> None:
    state = fleets.only(replace(fleets.qwen(), name="a#[fg=red]\x1b]0;x\x07"))
    assert "#" not in one_line(state) + title(state)
    assert one_line(state).isprintable()
    assert title(state).isprintable()


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (fleets.fleet(), "✖ glm crashed +2 - specdeck"),
        (fleets.only(fleets.kimi()), "◐ kimi starting 34% - specdeck"),
        (replace(fleets.fleet(), servers=(fleets.qwen(), fleets.qwen("b"), replace(fleets.qwen("c"), word=Word.STOPPED))),
         "● 2 ready, ○ 1 stopped - specdeck"),
        (FleetState(0.0), "specdeck"),
    ],
)  # fmt: skip
def test_the_title_has_the_worst_state(state: FleetState, said: str) -> None:
    assert title(state) == said


def test_a_line_is_read_back_while_it_is_fresh(path: Path) -> None:
    assert fresh_line(path) is None
    write_line(path, 1, "✖ glm crashed")
    assert fresh_line(path) == (1, "✖ glm crashed")
    old = path.stat().st_mtime - 11
    os.utime(path, (old, old))
    assert fresh_line(path) is None


@pytest.mark.parametrize("content", [b"", b"x y\n", b"\xff", b"1\n"])
def test_a_spoilt_file_is_no_line(path: Path, content: bytes) -> None:
    write_line(path, 0, "x")
    path.write_bytes(content)
    assert fresh_line(path) is None


async def test_a_dashboard_keeps_it_and_takes_it_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_file, "KEEP_SECONDS", 0.01)
    store = Store(fleets.fleet(), reduce, lambda: fleets.NOW)
    task = asyncio.create_task(keep_line(store, configured()))
    async with asyncio.timeout(20):
        while fresh_line(path) is None:  # noqa: ASYNC110 - a file tells nobody
            await asyncio.sleep(0.01)
    known = fresh_line(path)
    assert known is not None
    assert known[0] == 3
    assert known[1].startswith("✖ glm crashed")
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert fresh_line(path) is None


def test_status_line_prints_what_the_dashboard_keeps_and_asks_no_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from specdeck.config.fleet import load_fleet

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    fleet = tmp_path / "fleet.yaml"
    fleet.write_text("hosts: {away: {ssh: 127.0.0.1:1}}\n")
    write_line(line_path(load_fleet(fleet)), 1, "✖ glm crashed")
    assert run(["--fleet", str(fleet), "status", "--line"]) == 1
    assert capsys.readouterr().out == "✖ glm crashed\n"

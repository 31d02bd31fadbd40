"""Profiles and the fleet file from within the dashboard: pick, edit, adopt, add; problems cost nothing that runs."""

import asyncio
import contextlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.services.desk import text_of
from tests.ui import fleets
from tests.ui.fake_deck import FakeDeck
from tests.ui.playing import Play, playing

from specdeck.config.fleet import load_fleet, read_fleet
from specdeck.config.objects import Fleet
from specdeck.config.problems import Problems
from specdeck.services.discovery import as_server, read_discovery
from specdeck.ui.app import SpecdeckApp
from specdeck.ui.editor import editor_words
from specdeck.ui.screens.chooser import Chooser
from specdeck.ui.screens.form import Form
from specdeck.ui.screens.overview import OverviewScreen
from specdeck.ui.screens.picker import ProfilePicker
from specdeck.ui.screens.text_sheet import TextSheet

FLEET = "# mine\nhosts:\n  blackwell:\n    ssh: root@blackwell  # the big one\n"
FOUND = b"""\
@arg 5 /opt/bin/python3
@arg 5 -m
@arg 5 sglang.launch_server
@arg 5 --model-path
@arg 5 /m/glm
@arg 5 --port
@arg 5 30001
@arg 5 --speculative-algorithm
@arg 5 NGRAM
@program 5 /opt/bin/python3
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The user's fleet file."""
    file = tmp_path / "fleet.yaml"
    file.write_text(FLEET)
    return file


@pytest.fixture
def deck(path: Path) -> FakeDeck:
    """The scripted states, with the shipped profiles and a found server."""
    deck = FakeDeck()
    profiles = read_fleet(None, Problems()).profiles
    hosts = tuple(
        replace(host, servers=tuple(replace(server, draft_model="/m/draft") for server in host.servers))
        for host in deck.fleet.hosts
    )
    deck.fleet = Fleet(hosts, profiles, path)
    deck.strangers = [as_server(read_discovery(FOUND)[0], "blackwell", (), profiles)]
    return deck


def put(path: Path, text: str) -> None:
    """What the editor will leave."""
    path.write_text(text)


async def eventually(play: Play, is_so: Callable[[], bool]) -> None:
    """Files are read and written beside the dashboard, which may take its time."""
    async with asyncio.timeout(60):
        while not is_so():
            await play.pilot.pause()
            await asyncio.sleep(0.01)


def rows(play: Play) -> list[str]:
    return play.text("#choices").splitlines()


async def test_the_picker_says_what_fits_and_what_would_change(deck: FakeDeck) -> None:
    async with playing(deck) as play:
        await play.press("p")
        assert isinstance(play.app.screen, ProfilePicker)
        assert [row.split()[0] for row in rows(play)] == ["eagle3-v1", "▸", "baseline"]
        assert "▸ ● eagle3-v2" in rows(play)[1]
        assert "the same command as eagle3-v2" in play.text("#detail")
        await play.press("up")
        detail = play.text("#detail")
        assert "needs >=0.5.5,<0.5.13, there is 0.5.12" in detail
        assert "against eagle3-v2:" in detail
        assert [line.split() for line in detail.splitlines() if "topk" in line] == [
            ["--speculative-eagle-topk", "1", "→", "4"]
        ]


async def test_the_picker_filters_by_typing_and_enter_leads_to_the_sheet(deck: FakeDeck) -> None:
    async with playing(deck) as play:
        await play.press("p", *"worker v1")
        assert len(rows(play)) == 1
        await play.press("enter")
        assert deck.asked == [("pivot", "kimi", "eagle3-v1")]


async def test_a_filter_that_fits_nothing_chooses_nothing(deck: FakeDeck) -> None:
    async with playing(deck) as play:
        await play.press("p", *"zzz", "enter")
        assert play.text("#choices").strip() == "nothing fits"
        await play.press("escape")
        assert deck.asked == []


async def test_a_version_that_does_not_fit_is_said_with_both(deck: FakeDeck) -> None:
    newer = replace(fleets.kimi(), engine_version="0.5.20", profile="baseline")
    deck.publish(fleets.with_server(fleets.fleet(), newer))
    async with playing(deck) as play:
        await play.press("p", "up", "up")
        assert "✗ 0.5.20" in rows(play)[0]
        assert "does not fit: needs >=0.5.5,<0.5.13, there is 0.5.20" in play.text("#detail")


async def test_a_found_server_is_adopted_with_what_is_shown(deck: FakeDeck, path: Path) -> None:
    async with playing(deck) as play:
        await play.press("plus")
        assert isinstance(play.app.screen, Chooser)
        assert "adopt glm" in rows(play)[0]
        await play.press("enter")
        sheet = play.text("#text")
        assert f"{path.parent}/profiles/glm-found.yaml  new" in sheet
        assert "+        model: /m/glm" in sheet
        assert text_of(path) == FLEET
        await play.press("enter")
        await eventually(play, lambda: bool(deck.taken))
    assert text_of(path).startswith(FLEET)
    server = load_fleet(path).server("glm")
    assert server is not None
    assert (server.port, server.profiles) == (30001, ("glm-found", "baseline"))
    assert deck.taken[0].server("glm") == server


async def test_a_new_host_is_asked_for_checked_and_written(deck: FakeDeck, path: Path) -> None:
    async with playing(deck) as play:
        await play.press("plus", "down", "enter", "enter")
        assert isinstance(play.app.screen, Form)
        assert "ssh: a word that ssh takes" in play.text("#wrong")
        await play.press(*"root@gpu-b:2222", "enter")
        assert "+    ssh: root@gpu-b:2222" in play.text("#text")
        await play.press("enter")
        await eventually(play, lambda: "the host gpu-b is in fleet.yaml now, and watched" in play.toasts)
        assert deck.taken
    assert text_of(path) == FLEET + "  gpu-b:\n    ssh: root@gpu-b:2222\n"


@pytest.mark.parametrize("keys", [("plus", "enter"), ("plus", "down", "enter", *"root@gpu-b", "enter")])
async def test_where_the_fleet_file_is_gone_none_is_begun_in_its_place(
    deck: FakeDeck, path: Path, keys: tuple[str, ...]
) -> None:
    async with playing(deck) as play:
        os.unlink(path)
        await play.press(*keys)
        assert "the fleet file is not there any more" in " ".join(play.screen_text.split())
        await play.press("enter", "escape")
        assert deck.taken == []
    assert os.listdir(path.parent) == []


async def test_a_new_server_is_checked_field_by_field_and_as_a_whole(deck: FakeDeck, path: Path) -> None:
    async with playing(deck) as play:
        await play.press("plus", *"server blackwell", "enter")
        await play.press(*"new", "tab", *"/m/new", "tab", *"99999")
        assert play.text("#wrong") == "port: a number from 1 to 65535"
        await play.press("backspace", "tab", "tab", "tab", *"eagle3-v3")
        assert play.text("#wrong") == "profiles: there is no profile eagle3-v3, did you mean eagle3-v2?"
        await play.press("backspace", *"1", "enter")
        assert "uses {draft_model}, and this server has no draft_model" in play.text("#wrong").replace("\n", " ")
        assert text_of(path) == FLEET
        await play.press("shift+tab", *"/m/d", "enter", "enter")
        await eventually(play, lambda: bool(deck.taken))
    server = load_fleet(path).server("new")
    assert server is not None
    assert (server.port, server.draft_model, server.profiles) == (9999, "/m/d", ("eagle3-v1",))


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that puts the text of a file there; the terminal is left to it without more ado."""
    monkeypatch.setattr(SpecdeckApp, "suspend", lambda _: contextlib.nullcontext())
    text, script = tmp_path / "typed", tmp_path / "ed it"
    script.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/opened\ncat {text} >"$2"\n')
    script.chmod(0o755)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"'{script}' -w")
    return text


async def test_problems_after_editing_are_shown_by_their_places_and_what_runs_goes_on(
    deck: FakeDeck, path: Path, editor: Path
) -> None:
    put(editor, "hosts:\n  blackwell:\n    shs: root@blackwell\n")
    async with playing(deck) as play:
        await play.press("E", *"fleet", "enter")
        await eventually(play, lambda: isinstance(play.app.screen, TextSheet))
        assert f"{path}:3:5: hosts.blackwell.shs: unknown key, did you mean ssh?" in play.text("#text").replace(
            "\n", " "
        )
        assert deck.taken == []
        put(editor, FLEET + "  more:\n    ssh: gpu-c\n")
        await play.press("enter")
        await eventually(play, lambda: bool(deck.taken))
        assert isinstance(play.app.screen, OverviewScreen)
    assert [host.name for host in deck.taken[0].hosts][:2] == ["blackwell", "more"]


async def test_a_shipped_profile_is_edited_as_a_copy_of_the_users_own(deck: FakeDeck, path: Path, editor: Path) -> None:
    put(editor, "engine: sglang\ndescribe: mine\n")
    async with playing(deck) as play:
        await play.press("p", *"overlap", "ctrl+e")
        await eventually(play, lambda: bool(deck.taken))
    mine = path.parent / "profiles" / "eagle3-v2.yaml"
    assert deck.taken[0].profiles["eagle3-v2"].describe == "mine"
    assert text_of(editor.parent / "opened") == f"-w {mine}\n"


async def test_a_copy_in_which_nothing_was_changed_does_not_stay(deck: FakeDeck, path: Path, editor: Path) -> None:
    shipped = deck.fleet.profiles["eagle3-v2"].source
    assert shipped is not None
    put(editor, text_of(shipped))
    async with playing(deck) as play:
        await play.press("p", *"overlap", "ctrl+e")
        await eventually(play, lambda: text_of(editor.parent / "opened") != "")
        await eventually(play, lambda: "edit" not in [worker.name for worker in play.app.workers])
    assert not os.path.exists(path.parent / "profiles" / "eagle3-v2.yaml")  # noqa: ASYNC240 - a stat
    assert deck.taken == []


async def test_read_only_hides_and_refuses_them(path: Path) -> None:
    async with playing(FakeDeck(is_read_only=True)) as play:
        titles = [command.title for command in play.app.get_system_commands(play.app.screen)]
        assert not [title for title in titles if title.startswith(("Add", "Edit"))]
        await play.press("plus", "E")
        assert isinstance(play.app.screen, OverviewScreen)
    assert text_of(path) == FLEET


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"VISUAL": "code --wait", "EDITOR": "nano"}, ["code", "--wait"]),
        ({"VISUAL": " ", "EDITOR": "nano"}, ["nano"]),
        ({}, ["vi"]),
        ({"EDITOR": "it's"}, ["it's"]),
    ],
)
def test_the_editor_is_the_users(environment: dict[str, str], words: list[str]) -> None:
    assert editor_words(environment) == words


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own configuration is not read."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

"""Case B55: whatever a host sends is shown as it is, never parsed, and moves neither cursor nor borders."""

from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.ui import fleets
from tests.ui.fake_deck import FakeDeck, lines
from tests.ui.playing import Play, playing

from specdeck.state.alert_book import Alert, AlertBook, Track
from specdeck.state.log_story import Cause
from specdeck.state.snapshot import Happening
from specdeck.ui.drawing.spans import clean, fit

NASTY = (
    (Path(__file__).parents[1] / "cases" / "B55_log_text_as_markup" / "nasty_lines.txt")
    .read_text("utf-8")
    .split("\n")[:-1]
)


QUICK = 4
"""So many of the lines are tried in every run, all of them in CI."""
LINES = [*NASTY[:QUICK], *(pytest.param(text, marks=pytest.mark.long) for text in NASTY[QUICK:])]


@pytest.mark.parametrize("text", LINES, ids=range(len(NASTY)))
async def test_a_line_is_harmless_everywhere(text: str) -> None:
    process = replace(fleets.blackwell().gpus[0].processes[0], name=text, server=None)
    host = fleets.blackwell()
    gpus = (replace(host.gpus[0], processes=(process,), throttle=(text,)), *host.gpus[1:])
    story = replace(
        fleets.ready_story(), word="crashed", cause=Cause("exception", text, 3, hint=text), warnings=(text,)
    )
    glm = fleets.glm()
    crashed = replace(glm, because=(text,), evidence=replace(glm.evidence, story=story, log_error=text))
    state = fleets.with_server(fleets.fleet(), crashed)
    old = replace(state.hosts[3], error=text)
    state = replace(
        state,
        hosts=(replace(host, gpus=gpus), *state.hosts[1:3], old),
        happenings=(Happening(fleets.NOW, text, text, "error"),),
    )
    deck = FakeDeck(state)
    deck.logs["glm"] = lines([text])
    async with playing(deck) as play:
        play.app.say(text, title=text, severity="error")
        await play.press("j", "j", "j", "d", "escape", "enter")
        await play.pilot.pause()
        shown = clean(text)
        assert shown[:60] in play.screen_text
        assert all("\x1b" not in row and "\x07" not in row for row in play.screen_text.split("\n"))
        await play.press("d")
        await play.until(lambda: "cause: " in play.screen_text)
        assert all("\x1b" not in row and "\x07" not in row for row in play.screen_text.split("\n"))
        assert play.app.is_running


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[TP0] bare rank tag", "[TP0] bare rank tag"),
        ("[@click=app.quit]press me[/]", "[@click=app.quit]press me[/]"),
        ("a\x1b[2Jb\x07c", "a·[2Jb·c"),
        ("tab\there", "tab here"),
        ("ends\u202eright to left", "endsright to left"),
        ("हिन्दी, ฟ้าผ่า, Việt", "हिन्दी, ฟ้าผ่า, Việt"),
        ("e" + "\u0301" * 500 + "nd", "e\u0301\u0301\u0301\u0301nd"),
    ],
)
def test_cleaned_text_keeps_every_visible_character(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_wide_characters_keep_borders_straight() -> None:
    assert cell_len(fit("东京 サーバ 起動", 9)) == 9
    assert cell_len(fit("👩\u200d💻 ⚠\ufe0f", 12)) == 12


async def test_clicking_a_line_that_looks_like_a_link_does_nothing() -> None:
    deck = FakeDeck()
    deck.logs["kimi"] = lines(["[@click=app.quit]press me[/]"])
    async with playing(deck) as play:
        await play.press("enter")
        await play.pilot.click("LogTail", offset=(20, 0))
        await play.pilot.pause()
        assert play.app.is_running
        assert play.app.return_code is None


async def test_hostile_names_in_palette_silence_and_title() -> None:
    names = ["[/x]", "[@click=app.quit]press[/]", "a\x1b]0;t\x07", "[bold red]b", "[TP0]", *NASTY]
    servers = tuple(replace(fleets.glm(), name=name, host=name) for name in names)
    alerts = tuple(Alert(n, "crashed", name, name, "error", fleets.NOW) for n, name in enumerate(names, start=1))
    book = AlertBook(tracks={("crashed", name): Track(True) for name in names}, recent=alerts, told=len(names))
    deck = FakeDeck(replace(fleets.fleet(), servers=servers, alerts=book))
    async with playing(deck, size=(200, 50)) as play:
        await play.press("ctrl+p", *"open")
        await play.until(lambda: "Open [/x]" in whole(play))
        assert "Open [@click=app.quit]press[/]" in whole(play)
        assert "Open [TP0]" in whole(play)
        assert "\x1b" not in whole(play)
        await play.press("escape", "exclamation_mark")
        assert "until it clears: [/x] crashed, [@click=app.quit]press[/] crashed" in whole(play)
        assert play.app.is_running


def whole(play: Play) -> str:
    """What the terminal shows."""
    return "\n".join(strip.text for strip in play.app.screen._compositor.render_strips())

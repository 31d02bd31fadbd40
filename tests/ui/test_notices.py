"""What is told to the terminal itself: titles and notifications that no text of a host can break out of."""

import pytest

from specdeck.ui.notices import Notices, passed_through


@pytest.fixture
def written() -> list[str]:
    return []


def test_a_notification_is_one_osc_9(written: list[str]) -> None:
    Notices(written.append, {}).notify("kimi is ready")
    assert written == ["\x1b]9;specdeck: kimi is ready\x07"]


def test_tmux_gets_it_wrapped_with_doubled_escapes(written: list[str]) -> None:
    Notices(written.append, {"TMUX": "/tmp/tmux-0/default,1,0"}).notify("kimi is ready")
    assert written == ["\x1bPtmux;\x1b\x1b]9;specdeck: kimi is ready\x07\x1b\\"]


def test_the_clipboard_is_told_to_tmux_and_through_it(written: list[str]) -> None:
    Notices(written.append, {}).copy("héllo\nthere")
    Notices(written.append, {"TMUX": "/tmp/tmux-0/default,1,0"}).copy("héllo\nthere")
    plain = "\x1b]52;c;aMOpbGxvCnRoZXJl\x07"
    assert written == [plain, f"{plain}\x1bPtmux;\x1b{plain}\x1b\\"]


def test_screen_gets_it_in_a_device_control_string() -> None:
    assert passed_through("\x1b]9;x\x07", {"STY": "1.pts"}) == "\x1bP\x1b]9;x\x07\x1b\\"


@pytest.mark.parametrize("hostile", ["a\x07\x1b[2Jb", "a\x1b\\b", "a\x9cb", "a\nb", "a\x1b]0;title\x07b"])
def test_text_of_a_host_ends_no_sequence(written: list[str], hostile: str) -> None:
    notices = Notices(written.append, {})
    notices.notify(hostile)
    notices.title(hostile)
    for sequence in written:
        inner = sequence.removeprefix("\x1b[22;2t")
        assert inner.startswith("\x1b]")
        assert inner.endswith("\x07")
        assert all(char.isprintable() for char in inner[2:-1])


def test_a_title_is_written_where_it_changed_and_given_back(written: list[str]) -> None:
    notices = Notices(written.append, {})
    for text in ("kimi starting", "kimi starting", "kimi ready"):
        notices.title(text)
    notices.give_title_back()
    notices.give_title_back()
    assert written == ["\x1b[22;2t\x1b]2;kimi starting\x07", "\x1b]2;kimi ready\x07", "\x1b[23;2t"]


def test_a_very_long_text_is_cut(written: list[str]) -> None:
    Notices(written.append, {}).notify("x" * 5000)
    assert len(written[0]) < 230

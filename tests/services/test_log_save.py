"""Saved logs: names of hosts become plain file names, nothing is written over, faults are one sentence."""

from pathlib import Path

import pytest

from specdeck.errors import UsageError
from specdeck.parsing.lines import Line
from specdeck.services.log_save import file_name, save_lines


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("kimi", "0042", "20261129-140211"), "kimi-0042-20261129-140211.log"),
        (("../../etc/passwd", "x"), "etc_passwd-x.log"),
        (("-rf ~", "$(reboot)"), "rf-reboot.log"),
        (("a\x1b]0;title\x07b\nc", "[/x]"), "a_0_title_b_c-x.log"),
        (("", "..", "x" * 300), "x" * 60 + ".log"),
    ],
)
def test_a_name_is_letters_digits_and_a_few_signs(parts: tuple[str, ...], name: str) -> None:
    assert file_name(*parts) == name


def test_a_folder_gets_a_file_of_the_usual_name(tmp_path: Path) -> None:
    assert save_lines([Line("one", 1, 0)], f"{tmp_path}", "kimi.log") == tmp_path / "kimi.log"
    assert save_lines([Line("one", 1, 0)], f"{tmp_path}/new/", "kimi.log") == tmp_path / "new" / "kimi.log"
    assert (tmp_path / "new" / "kimi.log").read_text() == "one\n"


@pytest.mark.parametrize("wanted", ["/proc/nothing/here.log", "a\0b"])
def test_what_cannot_be_written_is_one_sentence(wanted: str) -> None:
    with pytest.raises(UsageError, match="was not written: "):
        save_lines([], wanted, "kimi.log")

"""specdeck's own log."""

import logging
from pathlib import Path

import pytest

from specdeck.services.own_log import keep_own_log, own_log_path


def test_a_fault_is_written_with_its_traceback_once() -> None:
    keep_own_log()
    keep_own_log()
    try:
        raise ValueError("odd row")
    except ValueError:
        logging.getLogger("specdeck.services.test").exception("lab: nvidia-smi failed")
    text = own_log_path().read_text()
    assert text.count("lab: nvidia-smi failed") == 1
    assert "ValueError: odd row" in text


def test_a_folder_that_cannot_be_made_costs_only_the_log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    keep_own_log()
    logging.getLogger("specdeck.services.test").error("nobody reads this")

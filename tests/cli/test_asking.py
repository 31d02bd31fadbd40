"""A verb that ends something asks first, and nothing but a yes is one."""

import io
import sys
from pathlib import Path

import click
import pytest
from tests.cli.test_adopt import fleet_file, running
from tests.cli.test_adopt import stand_in as stand_in
from tests.services.stand_in import StandIn

from specdeck.cli.main import run
from specdeck.cli.verbs import end
from specdeck.errors import ExitCode, Refused, UsageError


class Typed(io.StringIO):
    """A terminal at which this was typed."""

    def isatty(self) -> bool:
        return True


def beside(path: Path, stand_in: StandIn) -> None:
    """The running server, under a name of the file."""
    text = path.read_text().replace("model: /m/other\n        port: 1\n", f"model: /m\n        port: {stand_in.port}\n")
    path.write_text(text)


def test_no_server_is_ended_without_a_yes(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = fleet_file(stand_in)
    beside(path, stand_in)
    stop = ["--fleet", str(path), "stop", "other"]
    with running(stand_in) as server:
        assert run(stop) == ExitCode.USAGE
        assert "stop asks before it acts, and there is no terminal to ask: say --yes" in capsys.readouterr().err
        monkeypatch.setattr(sys, "stdin", Typed("\n"))
        assert run(stop) == ExitCode.REFUSED
        asked = capsys.readouterr().err
        assert f"stop other on lab (ends pid {server.pid})? [y/N]" in asked
        assert "nothing was done" in asked
        assert server.poll() is None
        monkeypatch.setattr(sys, "stdin", Typed("y\n"))
        assert run(stop) == ExitCode.FINE
        assert server.wait(30) is not None


@pytest.mark.parametrize("answer", ["\n", "n\n", "no\n"])
def test_no_process_is_ended_without_a_yes(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="end asks before it acts, and there is no terminal to ask: say --yes"):
        end._agree("end pid 4711 on lab?", is_agreed=False)
    monkeypatch.setattr(sys, "stdin", Typed(answer))
    with pytest.raises(Refused, match="nothing was done"):
        end._agree("end pid 4711 on lab?", is_agreed=False)
    monkeypatch.setattr(sys, "stdin", Typed(""))
    with pytest.raises(click.Abort):
        end._agree("end pid 4711 on lab?", is_agreed=False)
    monkeypatch.setattr(sys, "stdin", Typed("y\n"))
    end._agree("end pid 4711 on lab?", is_agreed=False)

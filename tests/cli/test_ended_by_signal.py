"""A signal that ends specdeck leaves the terminal as it was, and no process of ours on any host."""

import signal
import termios
from pathlib import Path

import pytest
from tests.cli.test_terminal import OnTerminal
from tests.cli.test_terminal import fleet as fleet
from tests.openssh import OpenSsh, free_port
from tests.services.lab import is_alive, processes_below
from tests.transport.processes import until
from tests.ui.real_terminal import RealTerminal

pytestmark = pytest.mark.sshd


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_verb_that_is_ended_while_it_asks_lets_the_terminal_echo_again(fleet: Path, number: int) -> None:
    with OnTerminal(fleet, "status") as verb:
        verb.until("type yes to accept it: ")
        verb.type("yes")
        verb.until("passphrase of the key: ")
        assert not termios.tcgetattr(verb.terminal)[3] & termios.ECHO
        verb.process.send_signal(number)
        verb.end()
        assert termios.tcgetattr(verb.terminal)[3] & termios.ECHO
    assert verb.process.returncode == 128 + number


@pytest.mark.parametrize(
    ("words", "shown", "number"),
    [(["status", "--watch"], b"\n", signal.SIGTERM), ([], b"\x1b]2;", signal.SIGHUP)],
    ids=["status --watch", "dashboard"],
)
async def test_what_ran_on_the_host_is_gone(
    own_openssh: OpenSsh, tmp_path: Path, words: list[str], shown: bytes, number: int
) -> None:
    path = tmp_path / "fleet.yaml"
    server = f"kimi: {{model: /m, port: {free_port()}}}"
    path.write_text(f"hosts: {{lab: {{ssh: gpu-a, ssh_config: {own_openssh.ssh_config}, servers: {{{server}}}}}}}\n")
    terminal = RealTerminal(["-m", "specdeck", "--fleet", str(path), *words], tmp_path)
    try:
        terminal.until(shown)
        await until(lambda: len(processes_below(own_openssh.sessions())) >= 2)
        there = processes_below(own_openssh.sessions())
        terminal.send(number)
        assert terminal.end() == 128 + number
        await until(lambda: not [pid for pid in there if is_alive(pid)])
        await until(lambda: not own_openssh.sessions())
    finally:
        terminal.close()

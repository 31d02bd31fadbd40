"""A network that swallows everything: the loss is noticed, and the scripts of the old connection are ended."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.transport.processes import children, end, is_alive, only_the_last_survives, pids_in, until
from tests.transport.relay import running_relay
from tests.transport.test_login import connected

from specdeck.demo.identity import start_time
from specdeck.errors import ConnectionLost
from specdeck.transport.leftovers import end_leftovers
from specdeck.transport.marks import Leader
from specdeck.transport.script import Script

pytestmark = pytest.mark.sshd


@pytest.fixture(autouse=True)
def quick_keepalive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdeck.transport.login.KEEPALIVE_SECONDS", 0.1)


async def test_scripts_of_a_swallowed_connection_are_ended_after_the_next_login(
    own_openssh: OpenSsh, tmp_path: Path
) -> None:
    async with running_relay(own_openssh.port) as relay:
        go_through(own_openssh, relay.port)
        async with connected(own_openssh) as transport:
            for number in range(3):
                file = tmp_path / f"pids{number}"
                async with transport.open(children(file, stubborn=False)) as channel:
                    await until(lambda file=file: bool(pids_in(file)))  # type: ignore[misc]
                    relay.swallow()
                    async with asyncio.timeout(90):
                        with pytest.raises(ConnectionLost):
                            assert [chunk async for chunk in channel.chunks()]
                        assert "keepalive" in (await transport.wait_lost()).lower()
                assert all(map(is_alive, pids_in(file))), "the host did not notice, so this proves something"
                await transport.connect()
                await only_the_last_survives(file)


async def test_scripts_given_up_before_the_loss_was_noticed_are_ended_too(own_openssh: OpenSsh, tmp_path: Path) -> None:
    """A monitor has less patience than the connection: its script may still run when the next login comes."""
    async with running_relay(own_openssh.port) as relay:
        go_through(own_openssh, relay.port)
        async with connected(own_openssh) as transport:
            file = tmp_path / "pids"
            async with transport.open(children(file, stubborn=False)):
                await until(lambda: bool(pids_in(file)))
                relay.swallow()
            assert all(map(is_alive, pids_in(file))), "the host did not hear of it, so this proves something"
            await transport.connect()
            await only_the_last_survives(file)


@pytest.mark.parametrize("goes_on", [True, False])
async def test_a_script_whose_first_word_got_lost_is_ended_too(
    own_openssh: OpenSsh, tmp_path: Path, goes_on: bool
) -> None:
    """The host reads the script and runs it, and nobody here knows its pid."""
    async with running_relay(own_openssh.port) as relay:
        go_through(own_openssh, relay.port)
        file = tmp_path / "pids"

        class Unheard(Script):
            """The line goes deaf when the script is on its way."""

            def render(self, mark: str, *, env: Mapping[str, str] | None = None) -> bytes:
                relay.mute()
                return super().render(mark, env=env)

            def render_channel(self, mark: str, *, env: Mapping[str, str] | None = None) -> bytes:
                relay.mute()
                return super().render_channel(mark, env=env)

        script = children(file, stubborn=False)
        unheard = Unheard(script.text, script.args)
        async with connected(own_openssh) as transport:
            with pytest.raises(ConnectionLost):
                await (transport.open(unheard).__aenter__() if goes_on else transport.run(unheard))
            await until(lambda: bool(pids_in(file)))
            assert all(map(is_alive, pids_in(file))), "the host did not notice, so this proves something"
            await transport.connect()
            await only_the_last_survives(file)


async def test_a_script_whose_end_the_host_has_confirmed_is_not_ended_again(
    own_openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr("specdeck.transport.ssh.end_leftovers", lambda *words: asked.append(words))
    async with connected(own_openssh) as transport:
        async with transport.open(Script("echo up; cat")) as channel:
            assert await anext(channel.chunks()) == b"up\n"
        await transport.run(Script("true"))
        await transport.connect()
    assert asked == []


async def test_a_stranger_who_got_the_pid_of_a_leftover_is_left_alone(own_openssh: OpenSsh) -> None:
    async with connected(own_openssh) as transport:
        begin = Script("setsid sleep 60 >/dev/null 2>&1 & echo $!")
        stranger, ours = [int((await transport.run(begin)).stdout) for _ in range(2)]
        try:
            await until(lambda: os.getsid(stranger) == stranger and os.getsid(ours) == ours)
            leaders = [Leader(stranger, 1), Leader(2**22 - 1, 1), Leader(ours, start_time(ours) or 0)]
            outcome = await transport.run(end_leftovers(leaders))
            assert (outcome.exit_status, outcome.stderr) == (0, b"")
            await until(lambda: not is_alive(ours))  # who was asked to end before it would have ended as well
            assert is_alive(stranger)
        finally:
            end(stranger)
            end(ours)


def go_through(server: OpenSsh, port: int) -> None:
    """The client connects to the relay, and expects the host's key there."""
    text = server.ssh_config.read_text().replace(f"Port {server.port}", f"Port {port}")
    server.ssh_config.write_text(text)
    server.known_hosts.write_text(server.known_hosts.read_text().replace(f":{server.port}", f":{port}"))

"""Hosts whose login shells talk, hang or refuse."""

from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.transport.test_login import connected

from specdeck.errors import ConnectionLost, ScriptTimeout, TransportError
from specdeck.transport.channel import ScriptChannel
from specdeck.transport.script import Script

pytestmark = pytest.mark.sshd
BASHRC = Path(__file__).parents[1] / "cases" / "B32_noise_on_stdout" / "bashrc"


async def test_a_greeting_that_looks_like_data_is_no_data(own_openssh: OpenSsh) -> None:
    own_openssh.reconfigure(ForceCommand=f"bash -c '. {BASHRC}; eval \"$SSH_ORIGINAL_COMMAND\"'")
    async with connected(own_openssh) as transport:
        outcome = await transport.run(Script("echo '0, GPU'; echo '1, GPU'; exit 9"))
    assert (outcome.stdout, outcome.exit_status) == (b"0, GPU\n1, GPU\n", 9)


async def test_noise_around_a_script_is_dropped_on_both_outputs(own_openssh: OpenSsh) -> None:
    own_openssh.reconfigure(
        ForceCommand='printf activating; echo warm >&2; (eval "$SSH_ORIGINAL_COMMAND"); echo bye; echo bye >&2; exit 1'
    )
    async with connected(own_openssh) as transport:
        outcome = await transport.run(Script("echo out; echo err >&2"))
        assert (outcome.stdout, outcome.stderr, outcome.exit_status) == (b"out\n", b"err\n", 0)
        async with transport.open(Script("echo out; exit 2")) as channel:
            assert b"".join([chunk async for chunk in channel.chunks()]) == b"out\n"
            assert channel.exit_status == 2


async def test_an_account_without_a_shell_gives_the_hosts_words(own_openssh: OpenSsh) -> None:
    own_openssh.reconfigure(ForceCommand="echo This account is currently not available.; exit 1")
    async with connected(own_openssh) as transport:
        with pytest.raises(TransportError, match=r"\(status 1\).*it said: This account is currently not available"):
            await transport.run(Script("true"))


async def test_escape_codes_of_a_host_never_get_into_a_sentence(own_openssh: OpenSsh) -> None:
    own_openssh.reconfigure(ForceCommand="printf '\\033[31mred\\033]0;title\\007 \\r[@click=x]alert\\n'; exit 1")
    async with connected(own_openssh) as transport:
        with pytest.raises(TransportError) as caught:
            await transport.run(Script("true"))
    assert str(caught.value).endswith("it said: red [@click=x]alert")


async def test_a_login_shell_that_hangs_is_a_time_out(own_openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdeck.transport.ssh.BEGIN_SECONDS", 0.5)
    own_openssh.reconfigure(ForceCommand="cat >/dev/null")
    async with connected(own_openssh) as transport:
        with pytest.raises(ScriptTimeout, match="no shell began the script within"):
            async with transport.open(Script("true")):
                pass
        with pytest.raises(ScriptTimeout):
            await transport.run(Script("true"), limit_seconds=0.5)


class EndedStream:
    """A login shell that said something and ended before the script was sent."""

    place, exit_status = "gpu-a", 1

    def __init__(self) -> None:
        self.said = [(b"only backups here\n", b""), (b"", b"")]

    async def read(self) -> tuple[bytes, bytes]:
        """What it said, then the end."""
        return self.said.pop(0)

    async def write(self, data: bytes) -> None:
        """Too late."""
        raise ConnectionLost("gpu-a: the script has ended; nothing can be written to it")

    async def close(self) -> None:
        """Nothing is left."""


async def test_a_shell_that_ended_before_it_was_told_a_word_is_quoted_all_the_same() -> None:
    with pytest.raises(TransportError, match="it said: only backups here"):
        await ScriptChannel(EndedStream(), "specdeck-1").begin(b"echo hi\n")

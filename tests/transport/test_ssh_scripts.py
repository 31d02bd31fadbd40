"""Scripts over a real OpenSSH server."""

import pytest
from tests.openssh import OpenSsh

from specdeck.transport.script import Script
from specdeck.transport.ssh import SshTransport

pytestmark = pytest.mark.sshd


async def test_run_gives_output_and_status(openssh: OpenSsh) -> None:
    transport = SshTransport(openssh.host())
    await transport.connect()
    try:
        outcome = await transport.run(Script('echo "$1"; echo oops >&2; exit 3', ("it's",)))
    finally:
        await transport.close()
    assert outcome.stdout == b"it's\n"
    assert outcome.stderr == b"oops\n"
    assert outcome.exit_status == 3

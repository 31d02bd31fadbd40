"""A connected transport of each kind."""

from collections.abc import AsyncIterator

import pytest
from tests.openssh import OpenSsh

from specdeck.config.objects import Host
from specdeck.transport.base import Transport
from specdeck.transport.connect import transport_for


@pytest.fixture(params=[pytest.param("ssh", marks=pytest.mark.sshd), "local"])
def kind(request: pytest.FixtureRequest) -> str:
    """Over a real OpenSSH server, or without SSH."""
    return str(request.param)


@pytest.fixture
def host(kind: str, request: pytest.FixtureRequest) -> Host:
    """A host of that kind."""
    if kind == "local":
        return Host(name="lab", ssh="localhost")
    server: OpenSsh = request.getfixturevalue("openssh")
    return server.host()


@pytest.fixture
async def transport(host: Host) -> AsyncIterator[Transport]:
    """Connected to that host."""
    transport = transport_for(host)
    await transport.connect()
    yield transport
    await transport.close()

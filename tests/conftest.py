"""Fixtures that several test folders share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.openssh import SSHD, OpenSsh


@pytest.fixture(scope="session")
def openssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSsh]:
    """One private sshd for the whole test session; a test that reconfigures it uses `own_openssh`."""
    yield from _running(tmp_path_factory.mktemp("openssh"))


@pytest.fixture
def own_openssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSsh]:
    """A private sshd for one test, to be stopped, reconfigured or broken."""
    yield from _running(tmp_path_factory.mktemp("openssh"))


def _running(folder: Path) -> Iterator[OpenSsh]:
    if SSHD is None:
        pytest.skip("sshd is not installed")
    server = OpenSsh(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()

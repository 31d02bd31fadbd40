"""The way to the host of a test: this machine, or with `SPECDECK_TESTS_OVER=ssh` a real OpenSSH server on it."""

from tests.openssh import OpenSsh

from specdeck.config.objects import Host

OPENSSH: list[OpenSsh] = []
"""The one server of a test session that goes through OpenSSH."""


def host(name: str = "lab") -> Host:
    """A host without servers."""
    return OPENSSH[0].host(name=name) if OPENSSH else Host(name, "localhost")

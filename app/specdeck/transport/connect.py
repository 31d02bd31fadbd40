"""The transport that a host needs."""

from specdeck.config.objects import Host
from specdeck.transport.base import Transport
from specdeck.transport.local import LocalTransport


def transport_for(host: Host) -> Transport:
    """Local for `localhost`, SSH for everything else. Nothing is connected yet."""
    if host.ssh == "localhost":
        return LocalTransport(host)
    from specdeck.transport.ssh import SshTransport  # asyncssh takes long to import: only where it is needed

    return SshTransport(host)

"""The transport that a host needs."""

from typing import TYPE_CHECKING

from specdeck.config.objects import Host
from specdeck.transport.base import Transport
from specdeck.transport.local import LocalTransport

if TYPE_CHECKING:
    from specdeck.transport.questions import Questions  # asyncssh takes long to import


def transport_for(host: Host, questions: "Questions | None" = None) -> Transport:
    """Local for `localhost`, SSH for everything else. Nothing is connected yet.

    `questions`: who is asked what a login needs; None: nobody, such a login is refused with a sentence.
    """
    if host.ssh == "localhost":
        return LocalTransport(host)
    from specdeck.transport.ssh import SshTransport  # asyncssh takes long to import: only where it is needed

    return SshTransport(host, questions)

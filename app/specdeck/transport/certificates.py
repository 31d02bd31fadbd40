"""Certificates of users: which key they are of, and whether they still count."""

import base64
import time
from pathlib import Path

import asyncssh

from specdeck.quick_dataclass import dataclass
from specdeck.transport.resolve import Route

_SUFFIX = b"-cert-v01@openssh.com"


@dataclass(frozen=True, slots=True)
class Certificate:
    """One that was read from a file."""

    path: Path
    value: asyncssh.SSHCertificate

    def is_of(self, public: bytes) -> bool:
        """It certifies this key."""
        return bool(self.value.key.public_data == public)

    def why_not(self, now: float) -> str | None:
        """Why a host will not take it; None: it may, as far as the time goes."""
        after, before = (getattr(self.value, name, None) for name in ("_valid_after", "_valid_before"))
        if isinstance(before, int) and now >= before:
            return f"the certificate {self.path} ran out on {_day(before)}: get a new one"
        if isinstance(after, int) and now < after:
            return f"the certificate {self.path} counts from {_day(after)} on: is the clock of this machine right?"
        return None


def certificates_of(route: Route) -> tuple[Certificate, ...]:
    """Those that the configuration names, then those beside its keys (`KEY-cert.pub`); what is none is passed over."""
    beside = [path.with_name(f"{path.name}-cert.pub") for path in route.identity_files]
    found = []
    for path in (*route.certificate_files, *beside):
        try:
            found.append(Certificate(path, asyncssh.read_certificate(str(path))))
        except (OSError, asyncssh.KeyImportError, ValueError):
            continue
    return tuple(found)


def bare_key(pair: asyncssh.SSHKeyPair) -> bytes:
    """The public key; of a certificate that the agent holds, the key that it certifies."""
    if not pair.algorithm.endswith(_SUFFIX):
        return bytes(pair.public_data)
    try:
        line = pair.algorithm + b" " + base64.b64encode(pair.public_data)
        return bytes(asyncssh.import_certificate(line).key.public_data)
    except (asyncssh.KeyImportError, ValueError):
        return bytes(pair.public_data)


def _day(seconds: int) -> str:
    """`2026-11-29 15:00`, in the time of this machine."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))

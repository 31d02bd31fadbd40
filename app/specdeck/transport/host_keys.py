"""What the known_hosts files say of a host's key: known, new, changed or revoked."""

import shlex
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import asyncssh

from specdeck.errors import HostKeyChanged, HostKeyUnknown, HostUnreachable, TransportError
from specdeck.transport.resolve import Route
from specdeck.transport.words import said


class NewHostKey(HostKeyUnknown):
    """As HostKeyUnknown, with what is needed to accept the key."""

    known: "KnownHosts | None" = None


class Standing(Enum):
    """How a key that a host showed stands to the known ones."""

    NEW = "new"
    CHANGED = "changed"


@dataclass(slots=True)
class KnownHosts:
    """The keys of one route's host; remembers the key that was refused."""

    route: Route
    refused: asyncssh.SSHKey | None = None
    _known: asyncssh.SSHKnownHosts = field(init=False)

    def __post_init__(self) -> None:
        self._known = _read(self.route.known_hosts_files)

    def match(
        self, host: str, address: str, port: int | None
    ) -> tuple[list[asyncssh.SSHKey], list[asyncssh.SSHKey], list[asyncssh.SSHKey]]:
        """Trusted, CA and revoked keys, by the name only (as OpenSSH does): an address proves nothing."""
        keys, authorities, revoked, *_ = self._known.match(host, "", None if self.route.host_key_alias else port)
        return list(keys), list(authorities), list(revoked)

    def standing(self) -> Standing:
        """How a key that is not among the trusted ones stands."""
        return Standing.CHANGED if self._exact() else Standing.NEW

    def accept(self, key: asyncssh.SSHKey) -> None:
        """Write a new key down, in the first known_hosts file."""
        path = self.route.known_hosts_files[0]
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        old = path.read_bytes() if path.exists() else b""
        gap = b"\n" if old and not old.endswith(b"\n") else b""
        with path.open("ab") as file:
            file.write(gap + self.route.known_as.encode() + b" " + key.export_public_key("openssh"))

    def error(self, err: Exception) -> TransportError:
        """The sentence for a connection that ended because of the key."""
        if "revoked" in str(err):
            return HostKeyChanged(
                f"{self.route.place} shows a host key that known_hosts marks as revoked; do not connect"
            )
        if self.refused is None:
            return HostUnreachable(f"{self.route.place}: its host key cannot be checked: {said(err)}")
        shown = self.refused.get_fingerprint()
        if self.standing() is Standing.CHANGED:
            return HostKeyChanged(self._changed(shown))
        new = NewHostKey(
            f"{self.route.place} is new: its host key {shown} is in no known_hosts file; "
            f"if the fingerprint is right, accept it with: {self._accept_command()}"
        )
        new.known = self
        return new

    def _changed(self, shown: str) -> str:
        known = ", ".join(sorted({key.get_fingerprint() for key in self._exact()}))
        file = next((path for path in self.route.known_hosts_files if path.exists()), None)
        return (
            f"the host key of {self.route.place} CHANGED: known {known}, shown {shown}; somebody may be listening. "
            f"If it was installed anew: {shlex.join(['ssh-keygen', '-f', str(file), '-R', self.route.known_as])}"
        )

    def _accept_command(self) -> str:
        """OpenSSH asks, compares and writes the key where the user's configuration says."""
        config = ["-F", str(self.route.config)] if self.route.config else []
        place = ["-p", str(self.route.port), f"{self.route.user}@{self.route.name}"]
        return shlex.join(["ssh", *config, "-o", "StrictHostKeyChecking=ask", *place, "true"])

    def _exact(self) -> list[asyncssh.SSHKey]:
        """The keys known under this very name and port; one of another port does not make a key a changed one."""
        keys, *_ = self._known.match(self.route.known_as, "", None)
        return list(keys)


def _read(paths: tuple[Path, ...]) -> asyncssh.SSHKnownHosts:
    """All entries that can be read; one that cannot does not cost the others."""
    known = asyncssh.import_known_hosts("")
    for path in paths:
        for line in _lines(path):
            with suppress(ValueError):
                known.load(line)
    return known


def _lines(path: Path) -> list[str]:
    """None for a file that is missing or not ours to read: its hosts are then unknown."""
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []

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

_ALL_KINDS = (
    "ssh-ed25519", "sk-ssh-ed25519@openssh.com", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
    "sk-ecdsa-sha2-nistp256@openssh.com", "rsa-sha2-512", "rsa-sha2-256",
)  # fmt: skip
"""Also asked for beside the kinds of the known keys: a host that has none of them is then "changed", not "no match"."""
_CERTIFICATE = "-cert-v01@openssh.com"
_OF_CERTIFICATES = tuple(f"{kind.removesuffix('@openssh.com')}{_CERTIFICATE}" for kind in _ALL_KINDS)
_CERTIFICATE_WORDS = {
    "Certificate principal mismatch": "its host certificate is not for {name}: who runs it must sign that name too",
    "Certificate expired": "its host certificate has run out: who runs it must renew it",
    "Certificate not yet valid": "its host certificate does not count yet: is the clock of this machine right?",
}
_KRL = b"SSHKRL\n\x00"
_NO_AUTHORITY = "Host CA key is not trusted"


ACCEPTED: dict[str, list[asyncssh.SSHKey]] = {}
"""Of users who keep no known_hosts file (`UserKnownHostsFile /dev/null`): a key that changes while specdeck runs is noticed."""


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
    takes_certificates: bool = True
    """False: the host has one of an authority that is not known, so its key itself must be."""
    _known: asyncssh.SSHKnownHosts = field(init=False)
    _revoked: tuple[asyncssh.SSHKey, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._known = _read(self.route.known_hosts_files)
        self._revoked = revoked_keys(self.route)

    def match(
        self, host: str, address: str, port: int | None
    ) -> tuple[list[asyncssh.SSHKey], list[asyncssh.SSHKey], list[asyncssh.SSHKey]]:
        """Trusted, CA and revoked keys, by the name only (as OpenSSH does): an address proves nothing."""
        keys, authorities, revoked, *_ = self._known.match(host, "", None if self.route.host_key_alias else port)
        keys = [*keys, *ACCEPTED.get(self.route.known_as, [])]
        return keys, list(authorities) if self.takes_certificates else [], [*revoked, *self._revoked]

    def kinds(self) -> list[str]:
        """Of keys that the host is asked for: known ones first; certificates only where an authority is known."""
        port = None if self.route.port == 22 else self.route.port
        keys, authorities, _ = self.match(self.route.host_key_alias or self.route.host, "", port)
        wanted = self.route.algorithms.host_keys or (*_OF_CERTIFICATES, *_ALL_KINDS)
        plain = [kind for kind in wanted if not kind.endswith(_CERTIFICATE)]
        certificates = [kind for kind in wanted if kind.endswith(_CERTIFICATE)] if authorities else []
        known = [kind.decode() for key in keys for kind in key.sig_algorithms if kind.decode() in plain]
        return list(dict.fromkeys([*certificates, *known, *plain]))

    def is_of_an_unknown_authority(self, err: Exception) -> bool:
        """OpenSSH takes the key without its certificate then."""
        return self.takes_certificates and _NO_AUTHORITY in str(err)

    def standing(self) -> Standing:
        """How a key that is not among the trusted ones stands."""
        return Standing.CHANGED if self._exact() else Standing.NEW

    def accept(self, key: asyncssh.SSHKey) -> None:
        """Write a new key down, in the user's first known_hosts file; without one it is known until specdeck ends."""
        path = self.route.new_keys_file
        if path is None:
            ACCEPTED.setdefault(self.route.known_as, []).append(key)
            return
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
        for words, sentence in _CERTIFICATE_WORDS.items():
            if words in str(err):
                name = self.route.host_key_alias or self.route.host
                return HostKeyUnknown(f"{self.route.place}: {sentence.format(name=name)}")
        if self.refused is None:
            return HostUnreachable(f"{self.route.place}: its host key cannot be checked: {said(err)}")
        shown = self.refused.get_fingerprint()
        if self.standing() is Standing.CHANGED:
            return HostKeyChanged(self._changed(shown))
        new = NewHostKey(
            f"{self.route.place} is new: its host key {shown} is in no known_hosts file; "
            f"if the fingerprint is right, accept it with: {self._accept_command()}"
            f"{''.join(f'; {each}' for each in self.route.beyond.host_key)}"
        )
        new.known = self
        return new

    def _changed(self, shown: str) -> str:
        known = ", ".join(sorted({key.get_fingerprint() for key in self._exact()}))
        removals = [
            shlex.join(["ssh-keygen", "-f", str(file), "-R", self.route.known_as])
            for file in self.route.known_hosts_files
            if _exact_in(_read((file,)), self.route)
        ]
        return (
            f"the host key of {self.route.place} CHANGED: known {known}, shown {shown}; somebody may be listening. "
            f"If it was installed anew: {' && '.join(removals) or 'start specdeck again'}"
        )

    def _accept_command(self) -> str:
        """OpenSSH asks, compares and writes the key where the user's configuration says."""
        config = ["-F", str(self.route.config)] if self.route.config else []
        place = ["-p", str(self.route.port), f"{self.route.user}@{self.route.name}"]
        return shlex.join(["ssh", *config, "-o", "StrictHostKeyChecking=ask", *place, "true"])

    def _exact(self) -> list[asyncssh.SSHKey]:
        """The keys known under this very name and port; one of another port does not make a key a changed one."""
        return [*_exact_in(self._known, self.route), *ACCEPTED.get(self.route.known_as, [])]


def _exact_in(known: asyncssh.SSHKnownHosts, route: Route) -> list[asyncssh.SSHKey]:
    keys, *_ = known.match(route.known_as, "", None)
    return list(keys)


def _read(paths: tuple[Path, ...]) -> asyncssh.SSHKnownHosts:
    """All entries that can be read; one that cannot does not cost the others."""
    known = asyncssh.import_known_hosts("")
    for path in paths:
        for line in _lines(path):
            with suppress(ValueError):
                known.load(line)
    return known


def revoked_keys(route: Route) -> tuple[asyncssh.SSHKey, ...]:
    """Of RevokedHostKeys, a key a line. Raises HostUnreachable where it cannot be read: as in OpenSSH, nothing is trusted then."""
    path = route.revoked_keys_file
    if path is None:
        return ()
    try:
        content = path.read_bytes()
    except OSError as err:
        raise HostUnreachable(f"{route.place}: RevokedHostKeys {path} cannot be read: {err.strerror}") from err
    if content.startswith(_KRL):
        raise HostUnreachable(
            f"{route.place}: RevokedHostKeys {path} is binary (a KRL), which is not supported: list the keys"
        )
    found = []
    for line in content.splitlines():
        with suppress(asyncssh.KeyImportError, ValueError):
            found.append(asyncssh.import_public_key(line))
    return tuple(found)


def _lines(path: Path) -> list[str]:
    """None for a file that is missing or not ours to read: its hosts are then unknown."""
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []

"""Which algorithms a connection may use: those of the user's configuration that asyncssh knows, the quick ciphers first."""

from collections.abc import Callable, Mapping, Sequence

from asyncssh.compression import get_compression_algs
from asyncssh.encryption import get_encryption_algs
from asyncssh.kex import get_kex_algs
from asyncssh.mac import get_mac_algs
from asyncssh.public_key import get_certificate_algs, get_public_key_algs

from specdeck.quick_dataclass import dataclass


def _get_key_algs() -> list[bytes]:
    return [*get_public_key_algs(), *get_certificate_algs()]


_KNOWN: Mapping[str, Callable[[], list[bytes]]] = {
    "Ciphers": get_encryption_algs,
    "KexAlgorithms": get_kex_algs,
    "MACs": get_mac_algs,
    "HostKeyAlgorithms": _get_key_algs,
    "PubkeyAcceptedAlgorithms": _get_key_algs,
}
_SLOW, _QUICK = "chacha20-poly1305@openssh.com", ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com")
"""ssh takes the slow one first where nothing is configured; in Python a packet costs five times as much with it."""
_CERTIFICATES = "-cert-v01@openssh.com"
_OFFERED_UNASKED = (
    "sntrup761x25519-sha512", "mlkem768x25519-sha256", "chacha20-poly1305@", "umac-", "sk-", "webauthn-sk-",
)  # fmt: skip
"""OpenSSH offers these beside others without being told to, and asyncssh knows them only with a further library, if at all."""


@dataclass(frozen=True, slots=True)
class Algorithms:
    """Names, the preferred ones first; none: what asyncssh offers by itself."""

    ciphers: tuple[str, ...] = ()
    key_exchanges: tuple[str, ...] = ()
    macs: tuple[str, ...] = ()
    host_keys: tuple[str, ...] = ()
    """With the names of certificates."""
    signatures: tuple[str, ...] = ()
    """With the user's own keys."""
    compressions: tuple[str, ...] = ()


ANY = Algorithms()


def algorithms_of(words: Mapping[str, Sequence[str]]) -> Algorithms:
    """Of the words of `ssh -G`, which has spelled out `+`, `-` and `^`."""
    accepted = _known(words, "PubkeyAcceptedAlgorithms")
    is_compressed = words.get("compression", ["no"])[0] == "yes"
    return Algorithms(
        ciphers=_quick_first(_known(words, "Ciphers")),
        key_exchanges=_known(words, "KexAlgorithms"),
        macs=_known(words, "MACs"),
        host_keys=_known(words, "HostKeyAlgorithms"),
        signatures=tuple(name for name in accepted if not name.endswith(_CERTIFICATES)),
        compressions=("zlib@openssh.com", "none")
        if is_compressed and b"zlib@openssh.com" in get_compression_algs()
        else (),
    )


def none_known(words: Mapping[str, Sequence[str]]) -> str | None:
    """No connection can be made, since asyncssh knows nothing of what is asked for."""
    for key in _KNOWN:
        if (names := _names(words, key)) and not _known(words, key):
            return f"{key} {','.join(names)}: specdeck knows none of them, add one that it knows with {key} +NAME"
    return None


def unknown_ones(words: Mapping[str, Sequence[str]]) -> str | None:
    """What is asked for and cannot be offered, beside what can."""
    found = {
        key: [
            name
            for name in _names(words, key)
            if name not in _names_known(key) and not name.startswith(_OFFERED_UNASKED)
        ]
        for key in _KNOWN
    }
    said = "; ".join(f"{key} {', '.join(names)}" for key, names in found.items() if names)
    return f"not known to specdeck and not offered: {said}" if said else None


def known_of(key: str, names: Sequence[str]) -> Sequence[str]:
    """Those of a host's names that asyncssh knows; `key` as ssh_config(5) writes it."""
    known = _names_known(key)
    return [name for name in names if name in known]


def _quick_first(ciphers: tuple[str, ...]) -> tuple[str, ...]:
    is_usual = ciphers[:1] == (_SLOW,)
    return tuple(sorted(ciphers, key=lambda name: name not in _QUICK)) if is_usual else ciphers


def _known(words: Mapping[str, Sequence[str]], key: str) -> tuple[str, ...]:
    known = _names_known(key)
    return tuple(name for name in _names(words, key) if name in known)


def _names(words: Mapping[str, Sequence[str]], key: str) -> Sequence[str]:
    return [name for name in words.get(key.lower(), [""])[0].split(",") if name]


def _names_known(key: str) -> frozenset[str]:
    return frozenset(name.decode("ascii") for name in _KNOWN[key]())

"""What OpenSSH would do with the user's configuration and asyncssh cannot: one sentence each, for where it is missed."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from specdeck.quick_dataclass import dataclass
from specdeck.transport.algorithms import none_known, unknown_ones

Words = Mapping[str, Sequence[str]]
"""Of `ssh -G`: keys in lower case."""


@dataclass(frozen=True, slots=True)
class Beyond:
    """Sentences without an end, grouped by what may fail for it."""

    way: str | None = None
    """No connection can be made at all."""
    reach: tuple[str, ...] = ()
    """The host may not be reached."""
    host_key: tuple[str, ...] = ()
    """The host's key may not be known."""
    login: tuple[str, ...] = ()
    """The login may be refused."""

    @property
    def everything(self) -> tuple[str, ...]:
        """For `check --connect`."""
        return (*((self.way,) if self.way else ()), *self.reach, *self.host_key, *self.login)


NOTHING = Beyond()


def beyond(words: Words) -> Beyond:
    """What of these words is beyond asyncssh."""
    return Beyond(
        way=_way(words) or none_known(words),
        reach=tuple(filter(None, (_interface(words), unknown_ones(words)))),
        host_key=tuple(filter(None, (_known_hosts_command(words), _dns(words), _unchecked_here(words)))),
        login=tuple(filter(None, (_smart_card(words), _kerberos(words), _host_based(words), _master(words)))),
    )


def _first(words: Words, key: str) -> str:
    """Empty where it is not set."""
    value = words.get(key, [""])[0]
    return "" if value.lower() in ("none", "no", "false") else value


def _way(words: Words) -> str | None:
    command = words.get("proxycommand", ["none"])[0]
    if _first(words, "proxyusefdpass") and command.lower() != "none":
        return "ProxyUseFdpass is not supported: let the ProxyCommand pass the bytes itself (as `nc %h %p` without -F does)"
    return None


def _interface(words: Words) -> str | None:
    name = _first(words, "bindinterface")
    return f"BindInterface {name} is not supported: name the address in BindAddress instead" if name else None


def _known_hosts_command(words: Words) -> str | None:
    command = _first(words, "knownhostscommand")
    return "KnownHostsCommand is not run: write what it prints into a known_hosts file" if command else None


def _dns(words: Words) -> str | None:
    return "VerifyHostKeyDNS is not supported" if _first(words, "verifyhostkeydns") == "true" else None


def _unchecked_here(words: Words) -> str | None:
    """Somebody with tunnels of their own, behind whose one port now this host is and now that."""
    if not _first(words, "nohostauthenticationforlocalhost"):
        return None
    return "NoHostAuthenticationForLocalhost is not supported: name what is behind the port in HostKeyAlias"


def _smart_card(words: Words) -> str | None:
    provider = _first(words, "pkcs11provider")
    return (
        f"PKCS11Provider is not supported: load its keys into the agent with ssh-add -s {provider}"
        if provider
        else None
    )


def _kerberos(words: Words) -> str | None:
    """Debian sets GSSAPIAuthentication for everybody; only who holds a ticket will miss it."""
    if not _first(words, "gssapiauthentication") or not _holds_ticket():
        return None
    return "GSSAPIAuthentication (Kerberos) is not supported: use a key"


def _holds_ticket() -> bool:
    cache = os.environ.get("KRB5CCNAME", f"/tmp/krb5cc_{os.getuid()}")  # noqa: S108 - where Kerberos keeps them
    kind, _, place = cache.rpartition(":")
    return kind not in ("", "FILE") or Path(place).exists()


def _host_based(words: Words) -> str | None:
    return "HostbasedAuthentication is not supported: use a key" if _first(words, "hostbasedauthentication") else None


def _master(words: Words) -> str | None:
    """Somebody who logs in once by hand and lets all else go over that connection."""
    path = _first(words, "controlpath")
    if not path or not Path(path).is_socket():
        return None
    return f"the master connection at {path} is not used, since specdeck makes one of its own"

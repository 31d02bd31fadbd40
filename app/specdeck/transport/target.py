"""A host's name as it is typed: alias, user@host, host:port, ssh://user@host:port."""

import re

from specdeck.errors import ConfigError
from specdeck.quick_dataclass import dataclass

_BRACKETS = re.compile(r"\[([^\]]+)\](?::(\d+))?")
_WITH_PORT = re.compile(r"([^:]+):(\d+)")


@dataclass(frozen=True, slots=True)
class Target:
    """A name as it is typed, taken apart."""

    name: str
    user: str | None = None
    port: int | None = None


def parse_target(text: str) -> Target:
    """Take `alias`, `user@host`, `host:port`, `[::1]:port` or `ssh://user@host:port` apart. Raises ConfigError."""
    bare = text.strip().removeprefix("ssh://").rstrip("/")
    user, _, place = bare.rpartition("@")
    port: str | None = None
    if match := _BRACKETS.fullmatch(place) or _WITH_PORT.fullmatch(place):
        place, port = match[1], match[2]
    if not place or place.startswith("-") or user.startswith("-") or re.search(r"[\s\x00-\x1f\x7f]", bare):
        raise ConfigError(f"{text!r} is no name of a host; write alias, user@host or host:port")
    if port is not None and not 0 < int(port) < 65536:
        raise ConfigError(f"{text!r}: a port is a number from 1 to 65535")
    return Target(place, user or None, int(port) if port else None)

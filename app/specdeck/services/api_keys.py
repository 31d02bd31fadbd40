"""The API key of a server: read where the fleet file says, handed to nobody but the server, shown nowhere."""

import os
from pathlib import Path

from specdeck.config.objects import Server
from specdeck.errors import TransportError
from specdeck.quick_dataclass import dataclass
from specdeck.transport.base import Transport
from specdeck.transport.script import Script

_READ = 'case $1 in "~/"*) set -- "$HOME/${1#"~/"}";; esac\ncat -- "$1"'
_LONGEST = 4096


@dataclass(frozen=True, slots=True)
class Key:
    """What was found of a key."""

    value: str | None = None
    trouble: str = ""
    """Why there is none, or what the user can do where the server refuses it; never holds the key."""

    def __repr__(self) -> str:
        """Without the key: a repr ends in logs."""
        return f"Key({'***' if self.value else None}, {self.trouble!r})"


async def read_key(transport: Transport, server: Server) -> Key:
    """The key from this machine's environment, or from a file of the host (else of this machine); no error stops a probe."""
    if server.api_key_env:
        return _checked(os.environ.get(server.api_key_env), f"${server.api_key_env} of this machine")
    if server.api_key_file:
        words = await _of_host(transport, server.api_key_file) or _of_this_machine(server.api_key_file)
        return _checked(words, server.api_key_file)
    return Key(trouble="set api_key_env or api_key_file of this server")


def _checked(words: str | None, place: str) -> Key:
    """Only what an HTTP header can carry: an error about the rest would show it."""
    key = (words or "").strip()
    if not key:
        return Key(trouble=f"no key in {place}")
    if not (key.isascii() and key.isprintable() and len(key) <= _LONGEST):
        return Key(trouble=f"what is in {place} is no key: one line of plain characters")
    return Key(key, f"the key in {place} is refused")


async def _of_host(transport: Transport, path: str) -> str | None:
    try:
        outcome = await transport.run(Script(_READ, (path,)), limit_seconds=10.0)
    except TransportError:
        return None
    return outcome.stdout[: 2 * _LONGEST].decode("utf-8", "replace") if outcome.exit_status == 0 else None


def _of_this_machine(path: str) -> str | None:
    try:
        return Path(path).expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError, RuntimeError):
        return None

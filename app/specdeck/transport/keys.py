"""What we can prove who we are with: identity files, their certificates and the agent; missing and locked files are skipped."""

import asyncio
import copy
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import field
from importlib.util import find_spec
from pathlib import Path

import asyncssh

from specdeck.quick_dataclass import dataclass
from specdeck.transport.certificates import Certificate, bare_key, certificates_of
from specdeck.transport.resolve import Route


@dataclass(slots=True)
class Keys:
    """What we can prove who we are with."""

    pairs: list[asyncssh.SSHKeyPair] = field(default_factory=list)
    locked: list[Path] = field(default_factory=list)
    """Files with a passphrase whose key the agent does not hold."""
    touched: list[Path] = field(default_factory=list)
    """Files of security keys whose key the agent does not hold; only the agent can use them."""
    left_out: int = 0
    """Keys that PubkeyAcceptedAlgorithms does not let sign."""
    notes: list[str] = field(default_factory=list)
    certificates: tuple[Certificate, ...] = ()
    """Of files that the configuration names, or that lie beside the keys."""

    def open(self, path: Path, passphrase: str) -> list[asyncssh.SSHKeyPair]:
        """The key of a locked file; none if that is not its passphrase."""
        try:
            return _pairs(path, self.certificates, passphrase)
        except (asyncssh.KeyEncryptionError, asyncssh.KeyImportError, OSError):
            return []

    def take_opened(self, opened: Mapping[Path, Sequence[asyncssh.SSHKeyPair]]) -> None:
        """Use the keys of locked files whose passphrase was told."""
        for path in [path for path in self.locked if path in opened]:
            self.locked.remove(path)
            self.pairs += opened[path]


@asynccontextmanager
async def keys_of(route: Route) -> AsyncIterator[Keys]:
    """The keys of the files and of the agent; missing and locked files are skipped."""
    if not route.may_use_keys:
        yield Keys()
        return
    keys = Keys(certificates=certificates_of(route))
    for path in route.identity_files:
        _load(path, keys)
    socket_path = os.environ.get("SSH_AUTH_SOCK", "") if route.agent is None else route.agent
    agent = await _agent(socket_path, keys) if socket_path else None
    try:
        if agent is not None:
            await _add_agent_keys(agent, route, keys)
        _leave_out(keys, route)
        yield keys
    finally:
        if agent is not None:
            agent.close()


def _load(path: Path, keys: Keys) -> None:
    try:
        pairs = _pairs(path, keys.certificates)
        if needs_a_touch(pairs[-1]):
            keys.touched.append(path)
        else:
            keys.pairs += pairs
    except (asyncssh.KeyEncryptionError, asyncssh.KeyImportError) as err:
        if isinstance(err, asyncssh.KeyEncryptionError) or "passphrase" in str(err).lower():
            keys.locked.append(path)
        elif not path.with_name(f"{path.name}.pub").exists() and path.suffix != ".pub":
            keys.notes.append(f"{path}: {err}")
    except FileNotFoundError:
        return
    except OSError as err:
        keys.notes.append(f"{path}: {err.strerror}")


def _pairs(path: Path, certificates: Sequence[Certificate], passphrase: str | None = None) -> list[asyncssh.SSHKeyPair]:
    """The key of a file with each of its certificates, then without one."""
    key = asyncssh.read_private_key(str(path), passphrase)
    certified = [(key, each.value) for each in certificates if each.is_of(key.public_data)]
    return [*(asyncssh.load_keypairs(each)[0] for each in certified), *asyncssh.load_keypairs(key)]


async def _agent(path: str, keys: Keys) -> asyncssh.SSHAgentClient | None:
    try:
        async with asyncio.timeout(5):
            return await asyncssh.connect_agent(path)
    except (OSError, TimeoutError) as err:
        keys.notes.append(f"no agent at {path}: {err}")
        return None


async def _add_agent_keys(agent: asyncssh.SSHAgentClient, route: Route, keys: Keys) -> None:
    """The agent's keys that the configuration names come first; the others last, unless IdentitiesOnly."""
    try:
        async with asyncio.timeout(5):
            held = list(await agent.get_keys())
    except (ValueError, OSError, TimeoutError) as err:
        keys.notes.append(f"the agent does not answer: {err}")
        return
    named = {public: path for path in route.identity_files if (public := _public(path)) is not None}
    first = [pair for pair in held if bare_key(pair) in named]
    rest = [] if route.identities_only else [pair for pair in held if bare_key(pair) not in named]
    in_agent = {named[bare_key(pair)] for pair in first}
    keys.locked = [path for path in keys.locked if path not in in_agent]
    keys.touched = [path for path in keys.touched if path not in in_agent]
    keys.pairs = [*_certified(first, keys), *keys.pairs, *rest]


def _leave_out(keys: Keys, route: Route) -> None:
    """Those that the user's configuration does not let sign."""
    may_sign = {name.encode("ascii") for name in route.algorithms.signatures}
    left = [pair for pair in keys.pairs if not may_sign or may_sign & set(pair.sig_algorithms)]
    keys.left_out = len(keys.pairs) - len(left)
    keys.pairs = left


def needs_a_touch(pair: asyncssh.SSHKeyPair) -> bool:
    """It lies on a security key, and asyncssh cannot ask for the touch without the library for it."""
    return bytes(pair.algorithm).startswith(b"sk-") and find_spec("fido2") is None


def _certified(pairs: Sequence[asyncssh.SSHKeyPair], keys: Keys) -> list[asyncssh.SSHKeyPair]:
    """The agent's keys with the certificates that lie in files, then as they are."""
    found = []
    for pair in pairs:
        for each in keys.certificates:
            if each.is_of(pair.public_data):
                certified = copy.copy(pair)
                certified.set_certificate(each.value)
                found.append(certified)
        found.append(pair)
    return found


def _public(path: Path) -> bytes | None:
    """The public half of an identity file, from `PATH.pub` or from the file itself."""
    for name in (path.with_name(f"{path.name}.pub"), path):
        try:
            return asyncssh.read_public_key(str(name)).public_data
        except (OSError, asyncssh.KeyImportError, ValueError):
            continue
    return None

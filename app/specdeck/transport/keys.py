"""What we can prove who we are with: identity files and the agent; missing and locked files are skipped."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh

from specdeck.transport.resolve import Route


@dataclass(slots=True)
class Keys:
    """What we can prove who we are with."""

    pairs: list[asyncssh.SSHKeyPair] = field(default_factory=list)
    locked: list[Path] = field(default_factory=list)
    """Files with a passphrase whose key the agent does not hold."""
    notes: list[str] = field(default_factory=list)
    certificates: tuple[str, ...] = ()

    def open(self, path: Path, passphrase: str) -> list[asyncssh.SSHKeyPair]:
        """The key of a locked file; none if that is not its passphrase."""
        try:
            return list(asyncssh.load_keypairs(str(path), passphrase, certlist=self.certificates))
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
    keys = Keys(certificates=tuple(str(cert) for cert in route.certificate_files if cert.is_file()))
    for path in route.identity_files:
        _load(path, keys)
    socket_path = os.environ.get("SSH_AUTH_SOCK", "") if route.agent is None else route.agent
    agent = await _agent(socket_path, keys) if socket_path else None
    try:
        if agent is not None:
            await _add_agent_keys(agent, route, keys)
        yield keys
    finally:
        if agent is not None:
            agent.close()


def _load(path: Path, keys: Keys) -> None:
    try:
        keys.pairs += asyncssh.load_keypairs(str(path), certlist=keys.certificates)
    except (asyncssh.KeyEncryptionError, asyncssh.KeyImportError) as err:
        if isinstance(err, asyncssh.KeyEncryptionError) or "passphrase" in str(err).lower():
            keys.locked.append(path)
        elif not path.with_name(f"{path.name}.pub").exists() and path.suffix != ".pub":
            keys.notes.append(f"{path}: {err}")
    except FileNotFoundError:
        return
    except OSError as err:
        keys.notes.append(f"{path}: {err.strerror}")


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
    first = [pair for pair in held if pair.public_data in named]
    rest = [] if route.identities_only else [pair for pair in held if pair.public_data not in named]
    keys.locked = [path for path in keys.locked if path not in {named[pair.public_data] for pair in first}]
    keys.pairs = [*first, *keys.pairs, *rest]


def _public(path: Path) -> bytes | None:
    """The public half of an identity file, from `PATH.pub` or from the file itself."""
    for name in (path.with_name(f"{path.name}.pub"), path):
        try:
            return asyncssh.read_public_key(str(name)).public_data
        except (OSError, asyncssh.KeyImportError, ValueError):
            continue
    return None

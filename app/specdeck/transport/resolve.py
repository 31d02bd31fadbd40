"""Where a name leads, as the user's own `ssh` would find it: host name, port, user, keys, known hosts, jump hosts."""

import asyncio
import getpass
import os
import shutil
import socket
from pathlib import Path

from specdeck.errors import ConfigError, HostUnreachable
from specdeck.quick_dataclass import dataclass, replace
from specdeck.transport.algorithms import ANY, Algorithms, algorithms_of
from specdeck.transport.asyncssh_config import ask_asyncssh
from specdeck.transport.beyond import NOTHING, Beyond, beyond
from specdeck.transport.target import Target, parse_target
from specdeck.transport.tokens import expand_path, tokens

_LIMIT_SECONDS = 10.0
_MOST_JUMPS = 8
_FAMILIES = {"inet": socket.AF_INET, "inet6": socket.AF_INET6}


@dataclass(frozen=True, slots=True)
class Route:
    """All that is needed to connect to one host."""

    name: str
    """As the user calls it."""
    host: str
    port: int
    user: str
    identity_files: tuple[Path, ...] = ()
    certificate_files: tuple[Path, ...] = ()
    identities_only: bool = False
    agent: str | None = None
    """A socket path; empty: no agent; None: the one of SSH_AUTH_SOCK."""
    known_hosts_files: tuple[Path, ...] = ()
    new_keys_file: Path | None = None
    """Where a key that the user accepts is written; None: the configuration wants none kept."""
    host_key_alias: str | None = None
    accepts_new_keys: bool = False
    """StrictHostKeyChecking is `accept-new` or `no`: a new key is written down, a changed one never accepted."""
    revoked_keys_file: Path | None = None
    """RevokedHostKeys: where it cannot be read, no host is trusted."""
    proxy_command: str | None = None
    connect_seconds: float | None = None
    """ConnectTimeout: how long the host may take to accept the connection."""
    bind_address: str | None = None
    """The address of this machine to connect from."""
    family: int = 0
    """AF_INET or AF_INET6; 0: any."""
    algorithms: Algorithms = ANY
    may_use_keys: bool = True
    may_send_password: bool = True
    may_send_answers: bool = True
    """To the host's own questions (keyboard-interactive): second factors."""
    ways_to_log_in: tuple[str, ...] = ()
    """PreferredAuthentications: the first one first, and no other one; none: any."""
    beyond: Beyond = NOTHING
    """What of the configuration is not supported."""
    config: Path | None = None
    """The OpenSSH configuration file that was read instead of the user's own."""
    jumps: tuple["Route", ...] = ()
    """The hosts to go through, the first one first."""

    @property
    def place(self) -> str:
        """`gpu-a (192.0.2.7:22)`: what error sentences name."""
        return f"{self.name} ({_bracketed(self.host)}:{self.port})"

    @property
    def tokens(self) -> dict[str, str]:
        """What `%h` and its kind stand for."""
        local_user = getpass.getuser()
        return tokens(
            host=self.host,
            name=self.name,
            port=self.port,
            user=self.user,
            local_user=local_user,
            alias=self.host_key_alias,
        )

    @property
    def known_as(self) -> str:
        """The name of the host in known_hosts files."""
        if self.host_key_alias:
            return self.host_key_alias
        return self.host if self.port == 22 else f"[{self.host}]:{self.port}"


def route_words(route: Route) -> str:
    """`ann@gpu-a (192.0.2.7:22) through edge (192.0.2.1:22), mid (...)`: where a name leads."""
    through = f" through {', '.join(jump.place for jump in route.jumps)}" if route.jumps else ""
    command = " through a ProxyCommand" if route.proxy_command and not route.jumps else ""
    return f"{route.user}@{route.place}{through}{command}"


async def resolve(ssh: str, config: Path | None = None) -> Route:
    """Where `ssh` leads, by OpenSSH's client where it is installed. Raises ConfigError, HostUnreachable."""
    return await _resolve(parse_target(ssh), config, depth=0)


async def _resolve(target: Target, config: Path | None, *, depth: int) -> Route:
    if depth > _MOST_JUMPS:
        raise ConfigError(f"{target.name}: more than {_MOST_JUMPS} jump hosts; does ProxyJump lead back to itself?")
    words = await _ask_openssh(target, config) if shutil.which("ssh") else ask_asyncssh(target, config)
    route = _route(target, words)
    jumps = await _jumps(words.get("proxyjump", ["none"])[0], config, depth=depth + 1)
    return replace(route, jumps=jumps, config=config)


async def _jumps(text: str, config: Path | None, *, depth: int) -> tuple[Route, ...]:
    """The chain of a ProxyJump line. Only its first host may have a ProxyJump of its own, as in OpenSSH."""
    if text.lower() == "none":
        return ()
    chain: list[Route] = []
    for hop in text.split(","):
        route = await _resolve(parse_target(hop), config, depth=depth)
        chain += [replace(route, jumps=())] if chain else [*route.jumps, replace(route, jumps=())]
    return tuple(chain)


async def _ask_openssh(target: Target, config: Path | None) -> dict[str, list[str]]:
    """The words of `ssh -G`. OpenSSH reads the configuration and prints; it does not connect."""
    argv = ["ssh", "-G", *(("-F", str(config)) if config else ())]
    argv += [*(("-l", target.user) if target.user else ()), *(("-p", str(target.port)) if target.port else ())]
    process = await asyncio.create_subprocess_exec(
        *argv,
        "--",
        target.name,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_LIMIT_SECONDS):
            stdout, stderr = await process.communicate()
    except TimeoutError as err:
        raise HostUnreachable(f"`ssh -G {target.name}` did not answer within {_LIMIT_SECONDS:g} s") from err
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise ConfigError(f"{target.name}: ssh refuses its configuration: {_last_words(stderr)}")
    return _words(stdout.decode("utf-8", "surrogateescape"))


def _words(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        found.setdefault(key.lower(), []).append(value)
    return found


def _last_words(stderr: bytes) -> str:
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if "Pseudo-terminal" not in line]
    return "; ".join(line.strip() for line in lines)[-300:] or "it gave no reason"


def _route(target: Target, words: dict[str, list[str]]) -> Route:
    def first(key: str, default: str = "") -> str:
        return words.get(key, [default])[0]

    def may(way: str) -> bool:
        return not ways or way in ways

    ways = tuple(way for way in first("preferredauthentications").split(",") if way)
    may_ask = first("batchmode") != "yes"
    own, everybodys = _paths(first("userknownhostsfile")), _paths(first("globalknownhostsfile"))
    route = Route(
        name=target.name,
        host=first("hostname", target.name),
        port=int(first("port", "22")),
        user=first("user") or getpass.getuser(),
        identities_only=first("identitiesonly") == "yes",
        agent=_agent(first("identityagent")),
        known_hosts_files=own + everybodys,
        new_keys_file=own[0] if own else None,
        host_key_alias=first("hostkeyalias") or None,
        accepts_new_keys=first("stricthostkeychecking") in ("accept-new", "no", "off", "false"),
        proxy_command=_none(first("proxycommand")),
        connect_seconds=_seconds(first("connecttimeout")),
        bind_address=_none(first("bindaddress")),
        family=_FAMILIES.get(first("addressfamily"), 0),
        algorithms=algorithms_of(words),
        may_use_keys=first("pubkeyauthentication") not in ("no", "false") and may("publickey"),
        may_send_password=first("passwordauthentication") != "no" and may_ask and may("password"),
        may_send_answers=first("kbdinteractiveauthentication") != "no" and may_ask and may("keyboard-interactive"),
        ways_to_log_in=ways,
        beyond=beyond(words),
    )
    values = route.tokens
    revoked = _none(first("revokedhostkeys"))
    return replace(
        route,
        identity_files=tuple(expand_path(name, values) for name in words.get("identityfile", []) if name != "none"),
        certificate_files=tuple(expand_path(name, values) for name in words.get("certificatefile", [])),
        revoked_keys_file=expand_path(revoked, values) if revoked else None,
    )


def _agent(word: str) -> str | None:
    if word in ("", "SSH_AUTH_SOCK"):
        return None
    return "" if word == "none" else os.path.expandvars(Path(word).expanduser())


def _seconds(word: str) -> float | None:
    return float(word) if word.isdecimal() and int(word) else None


def _none(word: str) -> str | None:
    return None if word.lower() in ("", "none") else word


def _paths(text: str) -> tuple[Path, ...]:
    """The files of a line; `ssh -G` does not quote, so a name with spaces is known by being a file."""
    words, found = text.split(" "), []
    while words:
        sizes = [size for size in range(len(words), 1, -1) if Path(" ".join(words[:size])).expanduser().exists()]
        size = sizes[0] if sizes else 1
        name, words = " ".join(words[:size]), words[size:]
        if name and name.lower() not in ("none", "/dev/null"):
            found.append(Path(name).expanduser())
    return tuple(found)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host

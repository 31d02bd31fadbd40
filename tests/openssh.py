"""A private OpenSSH server on loopback: real sshd, keys of its own, ended by the pids that it recorded."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from specdeck.config.objects import Host, Server

SSHD = shutil.which("sshd") or ("/usr/sbin/sshd" if Path("/usr/sbin/sshd").exists() else None)
_LIMIT_SECONDS = 30.0
PASSPHRASE = "example pass"  # noqa: S105 - of keys that a test makes


def make_key(path: Path, *, passphrase: str = "", kind: str = "ed25519") -> Path:
    """A key pair at `path` and `path`.pub."""
    path.unlink(missing_ok=True)
    size = ["-b", "2048"] if kind == "rsa" else []
    subprocess.run(["ssh-keygen", "-q", "-t", kind, *size, "-N", passphrase, "-f", str(path)], check=True)
    return path


def fingerprint(key: Path) -> str:
    """SHA256:... as ssh-keygen says it."""
    words = subprocess.run(["ssh-keygen", "-l", "-f", str(key)], check=True, capture_output=True, text=True).stdout
    return words.split()[1]


def hash_names(known_hosts: Path) -> None:
    """Hash the host names of a known_hosts file, as many distributions do."""
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(known_hosts)], check=True, capture_output=True)


@contextmanager
def running_agent(folder: Path, key: Path) -> Iterator[Path]:
    """An ssh-agent that holds `key` (locked with PASSPHRASE); gives its socket."""
    path, ask = folder / "agent", folder / "ask"
    ask.write_text(f"#!/bin/sh\necho {PASSPHRASE}\n")
    ask.chmod(0o700)
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(path)], stdout=subprocess.DEVNULL)
    try:
        _wait_for(path.exists)
        env = {**os.environ, "SSH_AUTH_SOCK": str(path), "SSH_ASKPASS": str(ask), "SSH_ASKPASS_REQUIRE": "force"}
        subprocess.run(["ssh-add", "-q", str(key)], env=env, check=True, stdin=subprocess.DEVNULL)
        yield path
    finally:
        agent.terminate()
        agent.wait(_LIMIT_SECONDS)


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class OpenSsh:
    """One sshd; `reconfigure` starts it again with other options."""

    folder: Path
    port: int = field(default_factory=free_port)
    options: dict[str, str] = field(default_factory=dict)
    _process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.host_key = make_key(self.folder / "host_ed25519")
        self.user_key = make_key(self.folder / "user_ed25519")
        self.known_hosts = self.folder / "known_hosts"
        self.ssh_config = self.folder / "ssh_config"
        shutil.copy(self.public(self.user_key), self.folder / "authorized_keys")
        self.know_host_key(self.host_key)
        self.write_config()

    @staticmethod
    def public(key: Path) -> Path:
        """The public half of a key file."""
        return key.with_name(f"{key.name}.pub")

    def know_host_key(self, key: Path) -> None:
        """Make `key` the only one in known_hosts."""
        kind, text, *_ = self.public(key).read_text().split()
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {kind} {text}\n")

    def write_config(self, *, identity: Path | None = None, extra: str = "") -> None:
        """The client's configuration, with the alias `gpu-a`."""
        self.ssh_config.write_text(
            f"Host gpu-a\n  HostName 127.0.0.1\n  Port {self.port}\n  User {getpass.getuser()}\n"
            f"  IdentityFile {identity or self.user_key}\n  IdentitiesOnly yes\n  IdentityAgent none\n"
            f"  UserKnownHostsFile {self.known_hosts}\n  GlobalKnownHostsFile /dev/null\n"
            f"  StrictHostKeyChecking yes\n{extra}"
        )

    def host(self, name: str = "lab", servers: tuple[Server, ...] = (), env: Mapping[str, str] | None = None) -> Host:
        """The host as a fleet file would describe it."""
        return Host(name=name, ssh="gpu-a", ssh_config=self.ssh_config, env=env or {}, servers=servers)

    def start(self) -> None:
        """Start sshd and wait until it listens."""
        assert SSHD is not None
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        config = self.folder / "sshd_config"
        config.write_text("".join(f"{key} {value}\n" for key, value in self._all_options().items()))
        self._process = subprocess.Popen([SSHD, "-D", "-f", str(config), "-E", str(self.folder / "sshd.log")])
        self._wait_until_it_listens()

    def stop(self) -> None:
        """End sshd and all of its sessions."""
        process, self._process = self._process, None
        if process is None:
            return
        sessions = self.sessions(process.pid)
        process.terminate()
        process.wait(_LIMIT_SECONDS)
        for pid in sessions:
            _kill(pid)

    def reconfigure(self, **options: str) -> None:
        """Start again with these sshd options only, such as MaxSessions="1"."""
        self.stop()
        self.options = options
        self.start()

    def restart(self) -> None:
        """Stop and start with the same options."""
        self.stop()
        self.start()

    def kill_sessions(self) -> None:
        """Break all connections that are open, as a crashing network device would; sshd goes on."""
        assert self._process is not None
        for pid in self.sessions(self._process.pid):
            _kill(pid)

    def sessions(self, parent: int | None = None) -> list[int]:
        """The pids of sshd's session processes, from /proc."""
        if parent is None:
            assert self._process is not None
            parent = self._process.pid
        parents = {pid: _parent(pid) for pid in _pids()}
        found = [pid for pid, its in parents.items() if its == parent]
        return found + [pid for pid, its in parents.items() if its in found and _is_sshd(pid)]

    @property
    def log(self) -> str:
        """What sshd wrote."""
        return (self.folder / "sshd.log").read_text()

    def _all_options(self) -> dict[str, str]:
        return {
            "Port": str(self.port),
            "ListenAddress": "127.0.0.1",
            "HostKey": str(self.host_key),
            "AuthorizedKeysFile": str(self.folder / "authorized_keys"),
            "PidFile": str(self.folder / "sshd.pid"),
            "StrictModes": "no",
            "UsePAM": "no",
            "PasswordAuthentication": "no",
            "KbdInteractiveAuthentication": "no",
            "PermitRootLogin": "prohibit-password",
            "MaxStartups": "100",
            **self.options,
        }

    def _wait_until_it_listens(self) -> None:
        _wait_for(self._listens)

    def _listens(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, f"sshd ended: {self.log}"
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except ConnectionRefusedError:
            return False
        return True


def _wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + _LIMIT_SECONDS
    while not condition():
        assert time.monotonic() < end, "it did not start in time"
        time.sleep(0.02)


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return None


def _is_sshd(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().startswith("sshd")
    except OSError:
        return False


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return

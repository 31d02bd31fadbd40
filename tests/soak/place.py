"""One host of the soak: a private sshd behind a relay, nvidia-smi as a stand-in, a server whose log has numbered lines."""

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.openssh import OpenSsh
from tests.performance.fleet_lab import NVIDIA_SMI
from tests.services.lab import Lab, is_alive, processes_below, processes_with
from tests.transport.relay import Relay, running_relay

EXPECTED = ["cat", "cat", "nvidia-smi", "sleep", "tail"]
"""Of one set, without shells: what guards each of the two channels, the stream of nvidia-smi with its pause, and the log."""


@dataclass
class Site:
    """What stands for a machine in another place."""

    name: str
    lab: Lab
    sshd: OpenSsh
    relay: Relay
    seen: dict[int, str] = field(default_factory=dict)
    """Every process of specdeck that was ever there, with its start, so that a pid names one process only."""
    lines: int = 0

    @property
    def fleet_text(self) -> str:
        """Its entry in the fleet file."""
        return (
            f"  {self.name}:\n    ssh: gpu-a\n    ssh_config: {self.sshd.ssh_config}\n"
            f"    env: {{PATH: '{self.lab.folder}/bin:/usr/bin:/bin', XDG_STATE_HOME: '{self.lab.folder}/state'}}\n"
            f"    servers:\n      llm-{self.name}:\n        model: /data/models/kimi\n        port: {self.lab.port}\n"
            f"        profiles: [baseline]\n"
        )

    def write_line(self) -> None:
        """The next line of its log."""
        self.lines += 1
        with (self.lab.runs.with_name(f"llm-{self.name}") / "0001" / "log").open("a") as log:
            log.write(f"line {self.lines} of a log that nobody may lose\n")

    def look(self) -> set[int]:
        """Remember what runs for specdeck now."""
        now = processes_below(self.sshd.sessions())
        self.seen |= {pid: start for pid in now if (start := start_of(pid))}
        return now

    def what_is_wrong(self) -> str | None:
        """Anything but exactly one set of processes: more, fewer, or some that outlived their connection."""
        now = self.look()
        roles = sorted(role for pid in now if (role := role_of(pid)) not in ("sh", "gone"))
        if roles != EXPECTED:
            return f"{self.name}: {roles} run there"
        if left := self.survivors() - now:
            return f"{self.name}: of lost connections there are left {_described(left)}"
        return None

    def survivors(self) -> set[int]:
        """All of specdeck that lives on this host, also what has lost its connection and its parents."""
        marked = processes_with(f"XDG_STATE_HOME={self.lab.folder}/state".encode())
        return {pid for pid, start in self.seen.items() if start_of(pid) == start} | set(marked)


@asynccontextmanager
async def running_site(name: str, folder: Path) -> AsyncIterator[Site]:
    """Up until the context ends."""
    lab, sshd = Lab(folder / "lab"), OpenSsh(folder / "sshd")
    smi = lab.folder / "bin" / "nvidia-smi"
    smi.parent.mkdir()
    smi.write_text(NVIDIA_SMI)
    smi.chmod(0o755)
    sshd.start()
    try:
        async with running_relay(sshd.port) as relay:
            _go_through(sshd, relay.port)
            with lab.run():
                lab.runs.rename(lab.runs.with_name(f"llm-{name}"))
                yield Site(name, lab, sshd, relay)
    finally:
        sshd.stop()


def _go_through(sshd: OpenSsh, port: int) -> None:
    """The client connects to the relay, and expects the host's key there."""
    for file in (sshd.ssh_config, sshd.known_hosts):
        text = file.read_text()
        file.write_text(text.replace(f"Port {sshd.port}", f"Port {port}").replace(f":{sshd.port}", f":{port}"))


def start_of(pid: int) -> str | None:
    """When a process began; None: it is gone, or a zombie."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19] if is_alive(pid) else None
    return None


def role_of(pid: int) -> str:
    """The name of its program."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return "gone"


def _described(pids: Iterable[int]) -> str:
    return ", ".join(f"{pid} {role_of(pid)}" for pid in sorted(pids) if os.path.exists(f"/proc/{pid}"))

"""Who owns a process by its control group: a systemd unit, a container, a Kubernetes pod, a Slurm job. They stop what is theirs.

Formats: /proc/PID/cgroup of cgroup v1 (a line per controller) and v2 (one line `0::PATH`), man 7 cgroups; the path names are those
that systemd, Docker, Podman, containerd, the kubelet and slurmstepd give.
"""

import re
from typing import Literal

from specdeck.quick_dataclass import dataclass

OwnerKind = Literal["systemd", "docker", "podman", "kubernetes", "slurm", "container"]
_LOGIN_UNITS = re.compile(r"(?:sshd?(?:@[^/]*)?|user@\d+|systemd-logind|init)\.service")
"""What every login lives in; it says nothing of who started a server."""
_RULES: tuple[tuple[OwnerKind, re.Pattern[str]], ...] = (
    ("slurm", re.compile(r"/job_(?P<name>\d+)(?=/|$)")),
    (
        "kubernetes",
        re.compile(r"kubepods.*?pod(?P<name>[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12})"),
    ),
    ("kubernetes", re.compile(r"kubepods[^/]*(?:/[^/]+)*?/(?:pod)?(?P<name>[0-9a-f]{32,64})(?=/|$)")),
    ("docker", re.compile(r"(?:/docker/|/docker-|/moby/)(?P<name>[0-9a-f]{64})(?:\.scope)?(?=/|$)")),
    ("podman", re.compile(r"/libpod-(?P<name>[0-9a-f]{64})(?:\.scope)?(?=/|$)")),
    ("container", re.compile(r"(?:/|-)(?P<name>[0-9a-f]{64})(?:\.scope)?(?=/|$)")),
)
_UNIT = re.compile(r"/(?P<name>[A-Za-z0-9@:._\\-]+\.service)(?=/|$)")
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9@:._-]*")


@dataclass(frozen=True, slots=True)
class Owner:
    """Who started a process and will look after it."""

    kind: OwnerKind
    name: str

    @property
    def words(self) -> str:
        """For a sentence: `systemd unit vllm.service`."""
        short = self.name[:12] if self.kind in {"docker", "podman", "container"} else self.name
        noun = {
            "systemd": "systemd unit",
            "docker": "Docker container",
            "podman": "Podman container",
            "kubernetes": "Kubernetes pod",
            "slurm": "Slurm job",
            "container": "container",
        }
        return f"{noun[self.kind]} {short}"

    @property
    def stop_argv(self) -> tuple[str, ...] | None:
        """The owner's own way to stop it; None: it has none that can be given here."""
        if not _SAFE.fullmatch(self.name):
            return None
        commands: dict[OwnerKind, tuple[str, ...]] = {
            "systemd": ("systemctl", "stop", self.name),
            "docker": ("docker", "stop", self.name),
            "podman": ("podman", "stop", self.name),
            "slurm": ("scancel", self.name),
        }
        return commands.get(self.kind)

    @property
    def log_command(self) -> str | None:
        """How its log is read there; None: there is no one way."""
        if not _SAFE.fullmatch(self.name):
            return None
        commands: dict[OwnerKind, str] = {
            "systemd": f"journalctl -u {self.name}",
            "docker": f"docker logs {self.name[:12]}",
            "podman": f"podman logs {self.name[:12]}",
            "kubernetes": "kubectl logs",
        }
        return commands.get(self.kind)


def owner_of(cgroup: str, ours: str) -> Owner | None:
    """The owner by the text of /proc/PID/cgroup; None where it is the group that our own shell is in, or a mere login.

    `ours` is the text of our shell's own /proc/self/cgroup on the same host.
    """
    if cgroup == ours:
        return None
    paths = [line.split(":", 2)[2] for line in cgroup.splitlines() if line.count(":") >= 2]
    for kind, pattern in _RULES:
        for path in paths:
            if match := pattern.search(path):
                return Owner(kind, match["name"].replace("_", "-") if kind == "kubernetes" else match["name"])
    return next((owner for path in paths if (owner := _unit(path))), None)


def _unit(path: str) -> Owner | None:
    """The innermost service of the path, if it is no login."""
    names = [name for name in _UNIT.findall(path) if not _LOGIN_UNITS.fullmatch(name)]
    return Owner("systemd", names[-1]) if names else None

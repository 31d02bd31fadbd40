"""A host with a state folder and a server that really runs, for tests of the whole deck."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.openssh import free_port

from specdeck.config.objects import Fleet, Host, Profile, Server


@dataclass
class Lab:
    """Everything under one folder."""

    folder: Path
    port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        package = self.folder / "site" / "sglang"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "launch_server.py").write_text(Path(__file__).with_name("fake_server.py").read_text())
        (self.folder / "status").write_text("200")

    @property
    def env(self) -> dict[str, str]:
        """What specdeck's scripts see on the host; no nvidia-smi."""
        return {"XDG_STATE_HOME": str(self.folder / "state"), "PATH": "/usr/bin:/bin"}

    def server(self, **changes: object) -> Server:
        """As the fleet file describes it."""
        values: dict[str, object] = {
            "name": "kimi", "host": "lab", "model": "/data/models/kimi", "port": self.port, "profiles": ("baseline",), **changes,
        }  # fmt: skip
        return Server(**values)  # type: ignore[arg-type]

    def fleet(self, host: Host) -> Fleet:
        """A fleet of one host."""
        return Fleet((host,), {"baseline": Profile("baseline", "sglang")})

    def local(self, *servers: Server) -> Fleet:
        """This machine as the host."""
        return self.fleet(Host("lab", "localhost", env=self.env, servers=servers or (self.server(),)))

    @property
    def runs(self) -> Path:
        """The state folder of `kimi`."""
        return self.folder / "state" / "specdeck" / "kimi"

    @contextmanager
    def serving(self, log: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
        """A server as others start it: its own session, its log on stdout."""
        env = {**os.environ, "PYTHONPATH": str(self.folder / "site"), "FAKE_SERVER": str(self.folder)}
        with (log or self.folder / "server.log").open("ab") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", "sglang.launch_server", "--model-path", "/data/models/kimi", "--port", str(self.port)],
                env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(10)

    @contextmanager
    def run(self, number: str = "0001", profile: str = "eagle3-v2") -> Iterator[subprocess.Popen[bytes]]:
        """A server with a run folder, as the launcher leaves it."""
        folder = self.runs / number
        folder.mkdir(parents=True)
        with self.serving(folder / "log") as process:
            start = _start_time(process.pid)
            boot = Path("/proc/sys/kernel/random/boot_id").read_text()
            self.tell(number, profile=profile, port=str(self.port), who="ann", started="1795968000", boot=boot)
            self.tell(number, command="python3 -m sglang.launch_server \\\n  --port 1", pid=f"{process.pid} {start}")
            yield process

    def tell(self, number: str, **files: str) -> None:
        """Write one-line files of a run."""
        for name, content in files.items():
            (self.runs / number / name).write_text(f"{content.strip()}\n")

    def act_by(self, pid: int) -> None:
        """This process does the newest act."""
        (self.runs / "actor").write_text(f"{pid} {_start_time(pid)}\n")

    @property
    def asked(self) -> list[str]:
        """Paths and keys of the requests so far."""
        return (self.folder / "asked").read_text().splitlines()


def _start_time(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def processes_with(mark: bytes) -> list[int]:
    """Pids of processes whose environment holds a mark: specdeck's own on the host (the lab's server has another one)."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and mark in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def processes_below(parents: list[int]) -> set[int]:
    """Pids of all descendants, zombies left out."""
    rows = [row for folder in Path("/proc").iterdir() if folder.name.isdigit() and (row := _stat(folder))]
    found = set(parents)
    grew = True
    while grew:
        below = {pid for pid, parent, state in rows if parent in found and state != "Z"} - found
        found |= below
        grew = bool(below)
    return found - set(parents)


def is_alive(pid: int) -> bool:
    """There is such a process, and it is no zombie."""
    row = _stat(Path(f"/proc/{pid}"))
    return row is not None and row[2] != "Z"


def _stat(folder: Path) -> tuple[int, int, str] | None:
    try:
        state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return int(folder.name), int(parent), state

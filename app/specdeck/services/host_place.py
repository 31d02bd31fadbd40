"""What a host said of itself when the monitor began, and where a server's log lies there."""

from dataclasses import field
from posixpath import isabs, join

from specdeck.config.objects import Server
from specdeck.quick_dataclass import dataclass
from specdeck.services.cpu_use import TICKS_A_SECOND
from specdeck.services.described import Described
from specdeck.services.run_records import HostClock


@dataclass(frozen=True, slots=True)
class Place:
    """Of one host, for one connection."""

    boot_id: str = ""
    home: str = "/"
    state_folder: str = ""
    clock: HostClock = field(default_factory=HostClock)
    booted_at: float | None = None
    """Unix seconds by the host's clock."""

    def started_at(self, start_time: int) -> float | None:
        """When a process began, by our clock, from field 22 of its stat."""
        return None if self.booted_at is None else self.clock.ours(self.booted_at + start_time / TICKS_A_SECOND)

    def log_of(self, server: Server, process: Described | None) -> str | None:
        """The fleet file's word, else where the process writes; `~` is the home on the host."""
        path = server.log
        if path is None:
            return process.log if process else None
        if path == "~" or path.startswith("~/"):
            return join(self.home, path[2:])
        folder = (process.workdir if process else "") or server.workdir or ""
        if folder.startswith("~"):
            folder = join(self.home, folder[2:])
        return path if isabs(path) else join(self.home, folder, path)

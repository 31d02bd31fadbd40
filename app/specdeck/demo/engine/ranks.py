"""The engine's child processes: forked, renamed as SGLang renames them, holding simulated GPU memory until they die."""

import ctypes
import os
import signal
from contextlib import suppress

from specdeck.demo.identity import TREE, start_time, stat_fields
from specdeck.demo.smi.gpus import HOLDINGS, look
from specdeck.quick_dataclass import dataclass

_PR_SET_PDEATHSIG = 1
_ARG_START, _ARG_END = 45, 46
"""Fields 48 and 49 of /proc/PID/stat, counted from the third."""


@dataclass(frozen=True, slots=True)
class Rank:
    """A scheduler process and its GPU."""

    number: int
    pid: int
    started: int
    gpu: int


class Family:
    """All children of one server."""

    def __init__(self) -> None:
        self.ranks: tuple[Rank, ...] = ()
        self._others: list[int] = []
        self._gone, self._alive = os.pipe()
        self._holdings = os.path.join(os.environ.get(TREE, "/nonexistent"), HOLDINGS, str(os.getpid()))

    def start_ranks(self, count: int, first_gpu: int) -> None:
        """The schedulers and the detokenizer, named as nvidia-smi and ps show them."""
        self._start_other("python3 -c from multiprocessing.resource_tracker import main;main(28)", "python3")
        names = ["sglang::scheduler" + (f"_TP{number}" if count > 1 else "") for number in range(count)]
        pids = [self._fork(name, name) for name in names]
        self.ranks = tuple(
            Rank(number, pid, start_time(pid) or 0, first_gpu + number) for number, pid in enumerate(pids)
        )
        self._start_other("sglang::detokenizer", "sglang::detokenizer")

    def start_compile_workers(self) -> None:
        """torch's, which speculation brings up: in the family, but no ranks."""
        for _ in range(2):
            self._start_other("python3 torch/_inductor/compile_worker/__main__.py --pickler=torch", "python3")

    def _start_other(self, title: str, name: str) -> None:
        self._others.append(self._fork(title, name))

    def _fork(self, title: str, name: str) -> int:
        parent = os.getpid()
        pid = os.fork()
        if pid:
            return pid
        try:
            os.close(self._alive)
            live_as(title, name, parent)
            os.read(self._gone, 1)
        finally:
            os._exit(0)

    def hold(self, mib: int, utilization: int) -> None:
        """Each rank's GPU memory from now on."""
        rows = [f"{rank.pid} {rank.started} {rank.gpu} {mib} {utilization}\n" for rank in self.ranks]
        self._write("".join(rows))

    def _write(self, text: str) -> None:
        try:
            with open(self._holdings + ".new", "w", encoding="ascii") as file:
                file.write(text)
            os.replace(self._holdings + ".new", self._holdings)
        except OSError:
            return  # outside a demo host nobody looks

    def other_holdings_gb(self) -> list[tuple[int, float]]:
        """(rank, GB that other processes hold on its GPU)."""
        return [(rank.number, sum(gb for _, gb in self.others_on(rank.gpu))) for rank in self.ranks]

    def others_on(self, gpu: int) -> list[tuple[int, float]]:
        """(pid, GB) of each process of others on a GPU."""
        ours, gpus = {rank.pid for rank in self.ranks}, look(0.0)
        holders = gpus[gpu].holders if gpu < len(gpus) else []
        return [(holder.pid, holder.mib / 1024) for holder in holders if holder.pid not in ours]

    def dead(self) -> list[tuple[int, int]]:
        """(rank or -1, exit code) of children that ended by themselves since the last look."""
        found: list[tuple[int, int]] = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return found
            if not pid:
                return found
            number = next((rank.number for rank in self.ranks if rank.pid == pid), -1)
            found.append((number, os.waitstatus_to_exitcode(status)))

    def is_first_rank_stopped(self) -> bool:
        """Whether somebody stopped the first scheduler (SIGSTOP): then nothing moves any more."""
        return bool(self.ranks) and stat_fields(self.ranks[0].pid)[:1] in (["T"], ["t"])

    def kill(self) -> None:
        """SIGKILL to all, and wait for them."""
        pids = [rank.pid for rank in self.ranks] + self._others
        for pid in pids:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            with suppress(OSError):
                os.waitpid(pid, 0)
        with suppress(OSError):
            os.unlink(self._holdings)


def live_as(title: str, name: str, parent: int) -> None:
    """Become what ps shows as `title`; die with the parent."""
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with open("/proc/self/comm", "w", encoding="ascii") as file:
        file.write(name[:15])
    _retitle(title.encode())


def _retitle(title: bytes) -> None:
    """Write over the process's own argument area, as setproctitle does."""
    fields = stat_fields(os.getpid())
    begin, end = int(fields[_ARG_START]), int(fields[_ARG_END])
    room = end - begin
    ctypes.memmove(begin, title[: room - 1].ljust(room, b"\0"), room)


def die() -> None:
    """How SGLang ends, even well: SIGKILL to itself."""
    os.kill(os.getpid(), signal.SIGKILL)

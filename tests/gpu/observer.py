"""What a host shows of one port, ten times a second, by means of its own: /proc, the owner of the socket, HTTP, nvidia-smi.

It knows nothing of specdeck, imports nothing but the standard library and runs on the GPU host itself (`python3 - < observer.py`).
Rows are tab separated with a head; `words.py` makes words of them. Usage: observer.py PORT [--decoy PID]... [--sshd PID]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

ENGINES = (b"sglang", b"vllm", b"llama-server", b"launch_server")
COLUMNS = (
    "unix",
    "runs",
    "leads",
    "alive",
    "owner",
    "own",
    "code",
    "answered",
    "mem",
    "tokens",
    "decoys",
    "helpers",
    "cpu",
    "bytes",
)
PERIOD_SECONDS = 0.1
YOUNG_SECONDS = 30.0
"""So long after it was first seen a process may still become another command."""
TOKENS = re.compile(
    rb'^(?:sglang:realtime_tokens_total\{[^}]*mode="decode"[^}]*\}|vllm:generation_tokens_total\{[^}]*\}) (\S+)', re.M
)


class Stat:
    """A line of /proc/PID/stat."""

    def __init__(self, text: str) -> None:
        self.pid = int(text.split(" ", 1)[0])
        words = text.rpartition(")")[2].split()
        self.state, self.parent, self.session, self.start = words[0], int(words[1]), int(words[3]), int(words[19])
        self.ticks = sum(int(word) for word in words[11:15])


def processes() -> dict[int, Stat]:
    """All of the host, by pid."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    found[int(name)] = Stat(file.read())
            except (OSError, ValueError, IndexError):
                continue
    return found


def command(pid: int) -> list[bytes]:
    """Its arguments; nothing for one that is gone."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def with_descendants(seeds: set[int], table: dict[int, Stat]) -> set[int]:
    """The seeds and all below them."""
    members, grew = set(seeds), True
    while grew:
        children = {each.pid for each in table.values() if each.parent in members} - members
        members |= children
        grew = bool(children)
    return members


class Runs:
    """Families of the port: whoever was started with its number, all of their session, all below, for as long as they live."""

    def __init__(self, port: int, decoys: list[int]) -> None:
        self.words = {b"--port=%d" % port, b"%d" % port}
        self.decoys = set(decoys)
        self.looked: dict[tuple[int, int], float] = {}
        self.known: dict[int, int] = {}
        self.roots: list[tuple[int, int]] = []
        self.leads = 0
        """How many of those that were started themselves live."""

    def look(self, table: dict[int, Stat]) -> list[int]:
        """Those that live now."""
        for each in table.values():
            key, now = (each.pid, each.start), time.time()
            if now - self.looked.setdefault(key, now) > YOUNG_SECONDS or each.pid in self.decoys or key in self.roots:
                continue
            if each.pid not in self.known and self._is_root(command(each.pid)):
                self.roots.append(key)
        leaders = {pid for pid, start in self.roots if pid in table and table[pid].start == start}
        self.leads = sum(table[pid].state not in "ZX" for pid in leaders)
        sessions = {pid for pid, _ in self.roots}
        seeds = leaders | {each.pid for each in table.values() if each.session in sessions and self._is_kin(each)}
        seeds |= {pid for pid, start in self.known.items() if pid in table and table[pid].start == start}
        family = with_descendants(seeds, table) - self.decoys
        self.known = {pid: table[pid].start for pid in family if pid in table}
        return [pid for pid in family if pid in table and table[pid].state not in "ZX"]

    def _is_root(self, argv: list[bytes]) -> bool:
        text = b" ".join(argv)
        name = argv[0] if argv else b""
        is_engine = b"llama-server" in name or (b"python" in name and any(word in text for word in ENGINES))
        return is_engine and bool(self.words & set(argv)) and b"-c" not in argv[:2]

    def _is_kin(self, each: Stat) -> bool:
        return each.pid in self.known or each.session != each.pid


def listener(port: int, candidates: list[int]) -> int:
    """The pid that listens there: 0 nobody, -1 somebody who cannot be seen."""
    inode = None
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(name) as file:
                rows = file.read().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            words = row.split()
            if words[3] == "0A" and int(words[1].rpartition(":")[2], 16) == port:
                inode = words[9]
    if inode is None:
        return 0
    for pid in candidates:
        try:
            for name in os.listdir(f"/proc/{pid}/fd"):
                if os.readlink(f"/proc/{pid}/fd/{name}") == f"socket:[{inode}]":
                    return pid
        except OSError:
            continue
    return -1


class Asker(threading.Thread):
    """One request at a time: /health until its first 200 each second, then every 5 s; it may cost a generation."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.base = f"http://127.0.0.1:{port}"
        self.code, self.at = "-", 0.0

    def run(self) -> None:
        while True:
            self.code = self.ask("/health", 30.0)
            self.at = time.time()
            time.sleep(5.0 if self.code == "200" else 0.5)

    def ask(self, path: str, limit: float) -> str:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(self.base + path, timeout=limit) as answer:
                return str(answer.status)
        except urllib.error.HTTPError as error:
            return str(error.code)
        except urllib.error.URLError as error:
            return "refused" if isinstance(error.reason, ConnectionRefusedError) else "timeout"
        except OSError:
            return "timeout"


class Counter(threading.Thread):
    """Tokens by the engine's own counter, every two seconds."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.url, self.tokens = f"http://127.0.0.1:{port}/metrics", "-"

    def run(self) -> None:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while True:
            try:
                with opener.open(self.url, timeout=5.0) as answer:
                    page = answer.read()
                total = sum(float(value) for value in TOKENS.findall(page))
                self.tokens = f"{total:.0f}@{time.time():.2f}"
            except (OSError, ValueError):
                self.tokens = "-"
            time.sleep(2.0)


class Memory(threading.Thread):
    """Of all GPUs together, MiB, as one nvidia-smi streams it."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.used: dict[str, int] = {}

    def run(self) -> None:
        fields = ["--query-gpu=index,memory.used", "--format=csv,noheader,nounits", "-lms", "100"]
        # a login without a terminal often lacks the folder in which containers keep it
        smi_path = shutil.which("nvidia-smi", path=f"{os.environ.get('PATH', os.defpath)}:/usr/local/nvidia/bin")
        if smi_path is None:
            return
        try:
            with subprocess.Popen([smi_path, *fields], stdout=subprocess.PIPE, text=True) as smi:
                for line in smi.stdout or ():
                    index, _, used = line.partition(",")
                    self.used[index] = int(used) if used.strip().isdigit() else 0
        except OSError:
            return

    def __str__(self) -> str:
        return str(sum(self.used.values())) if self.used else "-"


class Guests:
    """What the sshd of the test started for its client: how many processes, how much CPU, how many bytes they moved."""

    def __init__(self, sshd: int) -> None:
        self.sshd = sshd
        self.seen: set[tuple[int, int]] = set()
        self.cpu: dict[tuple[int, int], float] = {}
        self.bytes: dict[tuple[int, int], int] = {}

    def look(self, table: dict[int, Stat]) -> str:
        """Three cells of the row, growing."""
        if self.sshd not in table:
            return "-\t-\t-"
        for pid in with_descendants({self.sshd}, table) - with_descendants({self._own(table)}, table) - {self.sshd}:
            if pid in table:
                key = (pid, table[pid].start)
                self.seen.add(key)
                self.cpu[key] = table[pid].ticks / 100
                self.bytes[key] = self._bytes(pid) or self.bytes.get(key, 0)
        return f"{len(self.seen)}\t{sum(self.cpu.values()):.2f}\t{sum(self.bytes.values())}"

    def _own(self, table: dict[int, Stat]) -> int:
        """The session of this observer: what it costs is not specdeck's."""
        pid = os.getpid()
        while pid in table and table[pid].parent not in (self.sshd, 1, 0):
            pid = table[pid].parent
        return pid

    @staticmethod
    def _bytes(pid: int) -> int:
        if not any(b"sshd" in word for word in command(pid)[:1]):
            return 0
        try:
            with open(f"/proc/{pid}/io") as file:
                return sum(int(line.split()[1]) for line in file if line.startswith(("rchar", "wchar"))) // 2
        except (OSError, ValueError):
            return 0


def main() -> None:
    """Rows until the reader is gone."""
    words = argparse.ArgumentParser()
    words.add_argument("port", type=int)
    words.add_argument("--decoy", type=int, action="append", default=[])
    words.add_argument("--sshd", type=int, default=0)
    asked = words.parse_args()
    runs, asker, memory, counter = Runs(asked.port, asked.decoy), Asker(asked.port), Memory(), Counter(asked.port)
    guests = Guests(asked.sshd)
    for thread in (asker, memory, counter):
        thread.start()
    print("\t".join(COLUMNS), flush=True)
    while True:
        began = time.time()
        table = processes()
        family = runs.look(table)
        owner = listener(asked.port, [*family, *(pid for pid in table if pid not in family)])
        decoys = sum(pid in table and table[pid].state not in "ZX" for pid in asked.decoy)
        who = (len(runs.roots), runs.leads, len(family), owner, int(owner in family))
        print(
            f"{began:.2f}",
            *who,
            asker.code,
            f"{asker.at:.2f}",
            memory,
            counter.tokens,
            decoys,
            guests.look(table),
            sep="\t",
            flush=True,
        )
        time.sleep(max(0.0, began + PERIOD_SECONDS - time.time()))


if __name__ == "__main__":
    try:
        main()
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(0)

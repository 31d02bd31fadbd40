"""Where a part runs: an sshd of its own on loopback, a named host, or this machine without SSH; and specdeck against it."""

import json
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import yaml
from tests.openssh import SSHD, OpenSsh

HERE = Path(__file__).parent
SERVER = "llm"
LIMIT_SECONDS = 300.0


@dataclass
class Way:
    """How a command gets to the host."""

    words: tuple[str, ...]
    """In front of the command, which is one word; empty: this machine."""
    ssh: str
    ssh_config: Path | None = None
    sshd_pid: int | None = None

    def command(self, text: str) -> list[str]:
        """For subprocess."""
        return [*self.words, text] if self.words else ["/bin/sh", "-c", text]

    def call(self, text: str) -> str:
        """What a shell command on the host says."""
        done = subprocess.run(self.command(text), capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        return done.stdout.strip()

    def python(self, script: str, *args: object, python: str = "python3") -> list[str]:
        """A program of this folder, on the host; its standard input stays free."""
        words = [python, "-c", (HERE / script).read_text(), *(str(arg) for arg in args)]
        return self.command(" ".join(shlex.quote(word) for word in words))


@contextmanager
def way_to(host: str | None, folder: Path) -> Iterator[Way]:
    """A named host, an sshd of its own, or no SSH where there is no sshd."""
    if host is not None:
        yield Way(("ssh", "-o", "BatchMode=yes", host), host)
    elif SSHD is None:
        yield Way((), "localhost")
    else:
        sshd = OpenSsh(folder / "sshd")
        sshd.start()
        try:
            pid = int((folder / "sshd" / "sshd.pid").read_text())
            yield Way(("ssh", "-F", str(sshd.ssh_config), "gpu-a"), "gpu-a", sshd.ssh_config, pid)
        finally:
            sshd.stop()


@dataclass
class Place:
    """One run of a part."""

    way: Way
    out: Path
    settings: dict[str, Any]
    failures: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        """Of the server."""
        return int(self.settings["server"]["port"])

    @property
    def model(self) -> str:
        """As requests name it."""
        server = self.settings["server"]
        return str(server.get("args", {}).get("served-model-name", server["model"]))

    @property
    def profiles(self) -> list[str]:
        """Without speculation, then the pivot pair."""
        return [str(name) for name in self.settings["profiles"]]

    def write_fleet(self) -> None:
        """fleet.yaml with its profiles, and one without servers, for discovery."""
        folder = self.out / "fleet"
        (folder / "profiles").mkdir(parents=True, exist_ok=True)
        for name, profile in self.settings.get("own_profiles", {}).items():
            (folder / "profiles" / f"{name}.yaml").write_text(yaml.safe_dump(profile))
        host: dict[str, Any] = {"ssh": self.way.ssh, "env": {"XDG_STATE_HOME": self.settings["state"]}}
        if self.way.ssh_config is not None:
            host["ssh_config"] = str(self.way.ssh_config)
        plain, *pair = self.profiles  # the first two of a server are its pivot pair
        names = [*pair, plain, *self.settings.get("own_profiles", {})]
        server = {**self.settings["server"], "profiles": list(dict.fromkeys(names)), "rollback": True}
        (folder / "bare.yaml").write_text(yaml.safe_dump({"hosts": {"gpu": host}}))
        (folder / "fleet.yaml").write_text(yaml.safe_dump({"hosts": {"gpu": {**host, "servers": {SERVER: server}}}}))

    def specdeck(
        self, *words: str, fleet: str = "fleet", limit: float = LIMIT_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """One call of the command line; what it said is kept."""
        began = time.time()
        done = subprocess.run(
            self.argv(*words, fleet=fleet), capture_output=True, text=True, timeout=limit, env=self.env
        )
        with (self.out / "said.txt").open("a") as said:
            said.write(f"{began:.2f} {' '.join(words)}: {done.returncode} after {time.time() - began:.1f} s\n")
            said.write(done.stdout[-4000:] + done.stderr[-4000:] + "\n")
        return done

    def argv(self, *words: str, fleet: str = "fleet") -> list[str]:
        """For subprocess."""
        return [sys.executable, "-m", "specdeck", "--fleet", str(self.out / "fleet" / f"{fleet}.yaml"), *words]

    @property
    def env(self) -> dict[str, str]:
        """Its own state folder: what it learns stays in this run."""
        return {**os.environ, "XDG_STATE_HOME": str(self.out / "client-state")}

    def status(self, fleet: str = "fleet") -> dict[str, Any]:
        """The server of the port, or nothing."""
        servers = json.loads(self.specdeck("status", "--json", fleet=fleet).stdout)["servers"]
        return next((dict(each) for each in servers if each["port"] == self.port), {})

    def stage(self, words: str) -> None:
        """Write down what is asked for now; `stop`, `pivot` and `relaunch` in it ask for the end of the run that lives."""
        with (self.out / "stages.tsv").open("a") as stages:
            stages.write(f"{time.time():.2f}\t{words}\n")
        print(f"{time.strftime('%H:%M:%S')}  {words}", flush=True)

    def expect(self, words: str, is_so: object, seen: object = "") -> None:
        """Something that must be so."""
        print(f"          {'ok  ' if is_so else 'FAIL'} {words}{f': {seen}' if not is_so else ''}", flush=True)
        if not is_so:
            self.failures.append(f"{words}: {seen}")

    def launch(self, profile: str) -> None:
        """And wait for ready."""
        self.stage(f"launch {profile}")
        self.specdeck("launch", SERVER, "--profile", profile, "--yes")
        self.wait()
        state = self.status()
        self.expect(f"{profile} is ready", state.get("state") == "ready", state.get("because"))

    def wait(self, word: str = "ready") -> None:
        """Until specdeck says so."""
        self.specdeck("wait", SERVER, "--for", word, "--timeout", str(int(LIMIT_SECONDS - 20)))

    def load(self, streams: int, seconds: float) -> subprocess.Popen[bytes]:
        """In the background; its rows are kept."""
        command = self.way.python("load.py", self.port, streams, seconds, self.model, self.settings.get("tokens", 256))
        rows, totals = (self.out / "load.tsv").open("ab"), (self.out / "load.txt").open("ab")
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=rows, stderr=totals)

    @contextmanager
    def stranger(self, kind: str, value: int, *, python: str = "python3") -> Iterator[int]:
        """A process that belongs to nobody; gives its pid."""
        command = self.way.python("strangers.py", kind, value, python=python)
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline() or 0)
        finally:
            process.stdin.close()
            process.wait(30)

    def processes(self) -> list[tuple[int, str]]:
        """(pid, command) of all that carry the server's port or lie below."""
        rows = self.way.call("ps -eo pid=,ppid=,args= -ww").splitlines()
        table = {
            int(row.split()[0]): (int(row.split()[1]), row.split(None, 2)[2]) for row in rows if len(row.split()) > 2
        }
        found = {pid for pid, (_, args) in table.items() if f"--port {self.port}" in args and "launch_server" in args}
        found = {pid for pid in found if "/bin/sh" not in table[pid][1][:12]}
        grew = True
        while grew:
            below = {pid for pid, (parent, _) in table.items() if parent in found} - found
            found |= below
            grew = bool(below)
        return [(pid, table[pid][1]) for pid in sorted(found)]


@contextmanager
def watched(place: Place) -> Iterator[None]:
    """Observer, decoy and `status --watch --json` run all along; what they write comes back as files."""
    with ExitStack() as stack:
        decoy = stack.enter_context(place.stranger("decoy", place.port + 1))
        sshd = place.way.sshd_pid
        words = ["--decoy", decoy, *(["--sshd", sshd] if sshd is not None else [])]
        observer = place.way.python("observer.py", place.port, *words)
        _start(stack, place, observer, "observer.tsv")
        tape = place.out / "tape.rec.gz"
        tape.unlink(missing_ok=True)
        _start(stack, place, place.argv("status", "--watch", "--json", "--record", str(tape)), "watch.jsonl")
        time.sleep(3)
        yield
        time.sleep(4)


def _start(stack: ExitStack, place: Place, command: Sequence[str], name: str) -> None:
    out: IO[bytes] = stack.enter_context((place.out / name).open("wb"))
    process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=place.env)
    stack.callback(process.wait, 30)
    stack.callback(process.terminate)


class Typing:
    """The dashboard in a pseudo-terminal: keys go in, pictures of each stage lie in `screens/`."""

    def __init__(self, place: Place) -> None:
        import pty

        fleet, screens = place.out / "fleet" / "fleet.yaml", place.out / "screens"
        screens.mkdir(exist_ok=True)
        self._fd, theirs = pty.openpty()
        subprocess.run(["stty", "rows", "40", "cols", "120"], stdin=theirs, check=True)
        command = [sys.executable, "-m", "tests.gpu.screens", str(fleet), str(screens)]
        env = {name: value for name, value in place.env.items() if name not in ("COLUMNS", "LINES")}
        env |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True
        )
        os.close(theirs)
        threading.Thread(target=self._drain, daemon=True).start()

    def press(self, key: str) -> None:
        """One key."""
        os.write(self._fd, key.encode())

    def close(self) -> None:
        """As a user leaves."""
        self.press("q")
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._process.wait(15)

    def _drain(self) -> None:
        try:
            while os.read(self._fd, 65536):
                pass
        except OSError:
            return

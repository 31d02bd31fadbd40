"""A host on which any program stands in for a server's interpreter, and a launcher for one server on it."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.openssh import free_port
from tests.services import way

from specdeck.config.objects import Fleet, Host, Profile, Server
from specdeck.services.acting import act
from specdeck.services.deck import Check, Plan
from specdeck.services.journal import Step
from specdeck.services.launcher import Launcher
from specdeck.transport.base import Transport
from specdeck.transport.connect import transport_for

_PROGRAM = """\
#!/bin/sh
case "$1 $2" in
"-c "*specdeck-flags*) {flags} ; exit ;;
"-c "*) echo {version} ; exit ;;
esac
{body}
"""


@dataclass
class Desk:
    """Everything lies under one folder, also the home of the user."""

    folder: Path
    transport: Transport
    launcher: Launcher
    server: Server

    @property
    def runs(self) -> Path:
        """The state folder of the server."""
        return self.folder / "state" / "specdeck" / self.server.name

    async def plan(self) -> Plan:
        """What a launch would be."""
        return await self.launcher.plan("launch", self.server.name)

    async def check(self, name: str) -> Check:
        """One check of the plan."""
        return next(check for check in (await self.plan()).checks if check.name == name)

    async def launch(self) -> list[Step]:
        """Launch to the last step."""
        async with asyncio.timeout(90):
            return [step async for step in act(self.launcher, self.transport, self.server, await self.plan())]

    async def until(self, path: Path) -> str:
        """The text of a file, once it has some."""
        return await self.until_longer(path, 0)

    async def until_longer(self, path: Path, size: int) -> str:
        """The text of a file, once it is longer than `size`."""
        async with asyncio.timeout(90):
            while len(text := text_of(path)) <= size:  # noqa: ASYNC110 - a file on the host tells nobody that it grows
                await asyncio.sleep(0.02)
        return text

    async def until_listening(self) -> None:
        """Somebody answers on the server's port."""
        async with asyncio.timeout(90):
            while not await answers(self.server.port):  # noqa: ASYNC110 - a port tells nobody that it opens
                await asyncio.sleep(0.02)

    def pid(self) -> int:
        """As the wrapper recorded it."""
        return int((self.runs / "0001" / "pid").read_text().split()[0])

    async def environment(self) -> dict[str, str]:
        """Of the running server, once the scripts that start it have become it: the stand-in sleeps."""
        process = Path(f"/proc/{self.pid()}")
        async with asyncio.timeout(90):
            while not (process / "cmdline").read_bytes().startswith(b"sleep\0"):  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0.02)
        raw = (process / "environ").read_bytes().decode("utf-8", "replace")
        return dict(entry.split("=", 1) for entry in raw.split("\0") if "=" in entry)


def program(path: Path, body: str = "exec sleep 600", *, version: str = "0.5.12", flags: str = "true") -> Path:
    """An executable that answers for its version, does `flags` when its parser is asked, and else does `body`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_PROGRAM.format(body=body, version=version, flags=flags))
    path.chmod(0o755)
    return path


async def answers(port: int) -> bool:
    """A connection to this port of 127.0.0.1 is taken."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


def text_of(path: Path) -> str:
    """Empty while it is not there."""
    return path.read_text("utf-8", "replace") if path.exists() else ""


def nvidia_smi(folder: Path, gpus: str, apps: str = "") -> None:
    """A nvidia-smi that answers the two questions of the preflight with these rows."""
    (folder / "gpus").write_text(f"{gpus}\n")
    (folder / "apps").write_text(f"{apps}\n")
    path = folder / "bin" / "nvidia-smi"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        f"#!/bin/sh\ncase $* in *gpu=index*) cat {folder}/gpus ;; *compute-apps=gpu_uuid*) cat {folder}/apps ;; esac\n"
    )
    path.chmod(0o755)


@asynccontextmanager
async def desk(
    folder: Path, host: Host | None = None, *, engine: str = "sglang", **changes: object
) -> AsyncIterator[Desk]:
    """A server `kimi` whose changes are those of the fleet file; whatever was launched is ended."""
    env = {
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
    }
    extra = changes.pop("host_env", {})
    values = {
        "name": "kimi",
        "host": "lab",
        "model": "tiny",
        "port": free_port(),
        "python": str(folder / "bin" / "python3"),
    }
    server = Server(**{**values, "profiles": ("one",), **changes})  # type: ignore[arg-type]
    profile = Profile("one", engine)
    full = replace(host or way.host(), env={**env, **extra}, servers=(server,))  # type: ignore[dict-item]
    transport = transport_for(full)
    await transport.connect()
    try:
        launcher = Launcher(Fleet((full,), {"one": profile}), {"lab": transport}, time.time)
        yield Desk(folder, transport, launcher, server)
    finally:
        end_runs(folder)
        await transport.close()


def end_runs(folder: Path) -> None:
    """SIGKILL to the sessions of the runs that were recorded under this folder, if they still are those."""
    for file in folder.glob("state/specdeck/*/*/pid"):
        pid, start = map(int, file.read_text().split())
        with contextlib.suppress(OSError, ValueError):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[19]) == start:
                os.kill(pid, signal.SIGKILL)  # before its group: a moment after its birth it has none of its own yet
                os.killpg(pid, signal.SIGKILL)


def is_alive(pid: int) -> bool:
    """There is such a process and it is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


async def until_gone(pid: int) -> None:
    """There is no such process any more, or it is a zombie; 0: there never was one."""
    async with asyncio.timeout(90):
        while pid and is_alive(pid):  # noqa: ASYNC110 - a process that is no child tells nobody that it ended
            await asyncio.sleep(0.02)

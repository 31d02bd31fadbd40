"""A simulated engine, started on a demo host over SSH as anybody would start it by hand."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

import asyncssh
from tests.waiting import until

from specdeck.demo.host import ALIAS, DemoHost
from specdeck.demo.identity import start_time

V1 = (
    "--speculative-algorithm EAGLE3 --speculative-draft-model-path {models}/kimi-k2-eagle3 --speculative-num-steps 3 "
    "--speculative-eagle-topk 4 --speculative-num-draft-tokens 16"
)
V2 = (
    "--speculative-algorithm EAGLE3 --speculative-draft-model-path {models}/kimi-k2-eagle3 --speculative-num-steps 3 "
    "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
)
READY = "The server is fired up and ready to roll!"


@dataclass
class Engine:
    """One launch: its log, its pid, its exit status once it ended."""

    demo: DemoHost
    folder: Path
    pid: int
    port: int

    @property
    def log(self) -> str:
        """All of it so far."""
        path = self.folder / "log"
        return path.read_bytes().decode("utf-8", "replace") if path.exists() else ""

    @property
    def exit_status(self) -> int | None:
        """As the shell tells it: 137 after SIGKILL."""
        path = self.folder / "exit"
        text = path.read_text("ascii").strip() if path.exists() else ""
        return int(text) if text else None

    async def ready(self) -> None:
        """Wait until it says so itself."""
        await until(lambda: READY in self.log or self.exit_status is not None, "the engine is ready")
        assert READY in self.log, self.log[-2000:]

    async def ended(self) -> int:
        """Wait until it is gone; its exit status."""
        await until(lambda: self.exit_status is not None, "the engine ends")
        assert self.exit_status is not None
        return self.exit_status

    def children(self) -> list[int]:
        """All of its child processes."""
        text = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text("ascii")
        return [int(word) for word in text.split() if start_time(int(word)) is not None]

    def ranks(self) -> dict[str, int]:
        """Children by their title."""
        return {title_of(pid): pid for pid in self.children()}


def title_of(pid: int) -> str:
    """What ps shows."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode()


async def start(demo: DemoHost, flags: str = "", *, env: str = "", name: str = "kimi", tp: int = 8) -> Engine:
    """Launch `kimi` (or what `flags` say) in the background, as nohup users do."""
    folder = demo.tree.home / f"run{len(list(demo.tree.home.iterdir()))}"
    models = demo.tree.models
    command = (
        f"python3 -m sglang.launch_server --model-path {models}/kimi-k2 --host 127.0.0.1 --port {demo.ports[name]} "
        f"--tp-size {tp} --mem-fraction-static 0.76 --max-running-requests 64 --enable-metrics {flags.format(models=models)}"
    )
    inner = (
        f"{env} {command} > {folder}/log 2>&1 < /dev/null & echo $! > {folder}/pid; wait $!; echo $? > {folder}/exit"
    )
    await shell(demo, f"mkdir {folder}; setsid sh -c '{inner}' > /dev/null 2>&1 < /dev/null &")
    await until(lambda: (folder / "pid").exists() and (folder / "pid").read_text(), "the engine is started")
    return Engine(demo, folder, int((folder / "pid").read_text()), demo.ports[name])


async def shell(demo: DemoHost, command: str) -> str:
    """A command on the host; what it prints."""
    async with asyncssh.connect(ALIAS, config=[str(demo.tree.ssh_config)]) as connection:
        result = await connection.run(command, encoding=None, timeout=30)
    assert isinstance(result.stdout, bytes)
    return result.stdout.decode()


async def ask(port: int, path: str, body: object = None, *, limit_seconds: float = 10.0) -> tuple[int, str]:
    """An HTTP request; status and body. Raises TimeoutError, OSError."""
    data = b"" if body is None else json.dumps(body).encode()
    head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    async with asyncio.timeout(limit_seconds):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
            answer = await reader.read()
        finally:
            writer.close()
    top, _, rest = answer.partition(b"\r\n\r\n")
    return int(top.split()[1]), rest.decode()


async def used_mib(demo: DemoHost) -> list[int]:
    """memory.used of each GPU."""
    text = await shell(demo, "nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits")
    return [int(line) for line in text.splitlines()]

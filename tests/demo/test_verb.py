"""`specdeck demo --no-dashboard`, as a user of two terminals sees it."""

import asyncio
import json
import re
import signal
import sys
from pathlib import Path

import pytest
from tests.waiting import until

from specdeck.cli.main import run
from specdeck.errors import ExitCode

AS_IN_FRONT = (
    "import runpy, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "sys.argv[0] = 'specdeck'; runpy.run_module('specdeck', run_name='__main__')"
)


async def specdeck(*words: str) -> asyncio.subprocess.Process:
    """The program; ctrl+c reaches it also where the tests run in a background that ignores it."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", AS_IN_FRONT, *words), stdout=asyncio.subprocess.PIPE
    )


async def test_the_demo_serves_other_terminals_until_ctrl_c() -> None:
    demo = await specdeck("demo", "--no-dashboard", "--speed", "1000", "--traffic", "0")
    try:
        fleet = await fleet_of(demo)
        log = Path(fleet).parent / "home/.local/state/specdeck/kimi/0001/log"
        await until(lambda: b"fired up and ready to roll" in read(log), "its first server is ready")
        status = await specdeck("--fleet", fleet, "status", "--json")
        out, _ = await status.communicate()
    finally:
        demo.send_signal(signal.SIGINT)
        async with asyncio.timeout(90):
            assert await demo.wait() == ExitCode.INTERRUPTED
    host = json.loads(out)["hosts"][0]
    assert (host["name"], host["state"], len(host["gpus"])) == ("demo", "up", 8)
    assert {server["name"] for server in json.loads(out)["servers"]} == {"kimi", "qwen"}
    assert not exists(fleet)


async def fleet_of(demo: asyncio.subprocess.Process) -> str:
    """The path that it prints."""
    assert demo.stdout is not None
    async with asyncio.timeout(90):
        while not (found := re.search(rb"--fleet (\S+) status", await demo.stdout.readline())):
            assert demo.returncode is None
    return found[1].decode()


def read(path: Path) -> bytes:
    """What is there so far."""
    return path.read_bytes() if path.exists() else b""


def exists(path: str) -> bool:
    """Whether anything is left there."""
    return Path(path).parent.exists()


def test_elsewhere_than_on_linux_one_sentence_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert run(["demo"]) == ExitCode.USAGE
    assert capsys.readouterr().err == (
        "specdeck: the demo host needs Linux; the dashboard runs here too: specdeck HOST\n"
    )

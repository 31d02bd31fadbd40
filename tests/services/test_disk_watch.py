"""The disks that logs are written to: asked in any shell, read without trust, left alone once one hangs."""

import asyncio
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from specdeck.errors import ScriptTimeout
from specdeck.services import disk_watch
from specdeck.services.disk_watch import DiskWatch, read_disks
from specdeck.state.events import DisksSampled, Event, Noted
from specdeck.state.snapshot import Disk
from specdeck.transport.base import Outcome
from specdeck.transport.script import Script, script_text


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_watch, "FIRST_SECONDS", 0.0)


class Answers:
    """A host that answers so, and counts."""

    def __init__(self, answer: bytes | Exception) -> None:
        self.answer = answer
        self.asked: list[Script] = []

    async def run(self, script: Script, *, limit_seconds: float = 30.0) -> Outcome:
        self.asked.append(script)
        if isinstance(self.answer, Exception):
            raise self.answer
        return Outcome(self.answer, b"", 0)


async def heard(host: Answers, *paths: str) -> list[Event]:
    """What is posted until there is something, and a while after."""
    events: list[Event] = []
    posted = asyncio.Event()

    def post(event: Event) -> None:
        events.append(event)
        posted.set()

    watch = DiskWatch("lab", lambda: paths, post)
    task = asyncio.create_task(watch.run(host))  # type: ignore[arg-type]
    async with asyncio.timeout(20):
        await posted.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    return events


@pytest.mark.parametrize("shell", ["dash", "busybox", "bash"])
def test_the_script_finds_the_disk_of_a_file_that_is_not_there_yet(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    words = [program, *(["sh"] if shell == "busybox" else []), "-c", script_text("disks"), "sh"]
    paths = [str(tmp_path / "no such folder" / "server.log"), "/"]
    answer = subprocess.run([*words, *paths], capture_output=True, check=True).stdout
    usage = shutil.disk_usage(tmp_path)
    found = read_disks(answer)
    assert found
    assert abs(found[0].free_mib - usage.free // 1024**2) < 2048


def test_an_answer_is_read_word_by_word() -> None:
    answer = (
        b"@disk 264212084 74126064 31 /\n@disk 1000000 40960 97 /scratch of all\nnoise\n@disk x 1 2 /y\n@disk 1 2\n"
    )
    assert read_disks(answer) == (Disk("/", 31.0, 72388), Disk("/scratch of all", 97.0, 40))


async def test_what_was_found_is_posted_once_each_time() -> None:
    host = Answers(b"@disk 1000000 40960 97 /scratch\n")
    assert await heard(host, "/scratch/b", "/scratch/a", "/scratch/b") == [
        DisksSampled("lab", (Disk("/scratch", 97.0, 40),))
    ]
    assert host.asked[0].args == ("/scratch/a", "/scratch/b")


async def test_a_disk_that_hangs_is_told_once_and_not_asked_again() -> None:
    host = Answers(ScriptTimeout("lab: no answer"))
    assert await heard(host, "/nfs/log") == [Noted("lab", "a disk of its logs did not answer within 15 s", "warning")]
    assert len(host.asked) == 1

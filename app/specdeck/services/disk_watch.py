"""How full the disks are that logs are written to: one short script every few minutes, and none more once a disk did not answer."""

import asyncio
from collections.abc import Callable, Sequence

from specdeck.errors import NotRecorded, ScriptTimeout
from specdeck.parsing.plain import plain
from specdeck.state.events import DisksSampled, Event, Noted
from specdeck.state.snapshot import Disk
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text

FIRST_SECONDS = 12.0
"""By then the logs are known."""
EVERY_SECONDS = 180.0
LIMIT_SECONDS = 15.0


class DiskWatch:
    """Of one host; `paths` are the logs that are followed now."""

    def __init__(self, host: str, paths: Callable[[], Sequence[str]], post: Callable[[Event], None]) -> None:
        self._host = host
        self._paths = paths
        self._post = post

    async def run(self, transport: Transport) -> None:
        """Endless. Raises TransportError. `df` on a dead network disk hangs for ever, so it is not started a second time."""
        await asyncio.sleep(FIRST_SECONDS)
        try:
            while True:
                if paths := sorted(set(self._paths())):
                    outcome = await transport.run(
                        Script(script_text("disks"), tuple(paths)), limit_seconds=LIMIT_SECONDS
                    )
                    self._post(DisksSampled(self._host, read_disks(outcome.stdout)))
                await asyncio.sleep(EVERY_SECONDS)
        except ScriptTimeout as error:
            if not isinstance(error, NotRecorded):
                self._post(
                    Noted(self._host, f"a disk of its logs did not answer within {LIMIT_SECONDS:.0f} s", "warning")
                )
            await asyncio.Event().wait()


def read_disks(answer: bytes) -> tuple[Disk, ...]:
    """The answer of disks.sh, each file system once; lines that make no sense are passed over."""
    found: dict[str, Disk] = {}
    for line in answer.decode("utf-8", "replace").split("\n"):
        tag, *words = line.split(" ", 4)
        if tag == "@disk" and len(words) == 4 and all(word.isdecimal() for word in words[:3]):
            room_kib, used_percent, mount = int(words[1]), float(words[2]), plain(words[3])
            found[mount] = Disk(mount, used_percent, room_kib // 1024)
    return tuple(found.values())

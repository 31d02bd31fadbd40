"""python -m tests.soak.watcher FLEET: the dashboard itself, without a terminal; each second a JSON line of how it fares.

`hosts`: the word of each link; `words`: of each server; `oldest`: seconds since the host that was silent longest was heard;
`lines`: how many numbered lines of each log came; `faulty`: logs of which a line was lost or doubled; `late`: the longest time that
the event loop, and so a key, had to wait since the last line, in seconds; `mib`: the memory that it holds; `tasks`: of asyncio.
"""

import asyncio
import json
import os
import re
import sys
from pathlib import Path

from tests.performance.terminal import resident_mib

from specdeck.config.fleet import load_fleet
from specdeck.services.opening_deck import OpeningDeck
from specdeck.state.snapshot import FleetState
from specdeck.ui.app import SpecdeckApp

NUMBERED = re.compile(r"line (\d+) of a log that nobody may lose")
STEP_SECONDS = 0.05


class LogReader:
    """Checks that the lines of one log come in order, each once."""

    def __init__(self, server: str) -> None:
        self.server = server
        self.last = 0
        self.is_faulty = False
        self._after = 0

    def read(self, deck: OpeningDeck) -> None:
        """What came since."""
        for line in deck.log_lines(self.server, self._after):
            self._after = line.number
            if found := NUMBERED.fullmatch(line.text):
                number = int(found[1])
                self.is_faulty |= bool(self.last) and number != self.last + 1
                self.last = number


def said(state: FleetState, logs: list[LogReader], late: float) -> str:
    """One line."""
    seen = [host.last_seen for host in state.hosts]
    return json.dumps(
        {
            "hosts": {host.name: host.link for host in state.hosts},
            "why": {host.name: host.error for host in state.hosts if host.link != "up"},
            "words": {server.name: server.word.value for server in state.servers},
            "oldest": max((state.at - each for each in seen if each is not None), default=0.0),
            "lines": {log.server: log.last for log in logs},
            "faulty": [log.server for log in logs if log.is_faulty],
            "late": round(late, 3),
            "mib": round(resident_mib(os.getpid()), 1),
            "tasks": len(asyncio.all_tasks()),
        }
    )


async def latest(seconds: float) -> float:
    """Sleep in small steps; by how much the worst of them was too long."""
    loop, worst = asyncio.get_running_loop(), 0.0
    end = loop.time() + seconds
    while (now := loop.time()) < end:
        await asyncio.sleep(STEP_SECONDS)
        worst = max(worst, loop.time() - now - STEP_SECONDS)
    return worst


async def main(path: Path) -> None:
    """Until it is ended."""
    deck = OpeningDeck(load_fleet(path))
    app = SpecdeckApp(deck)
    logs = [LogReader(server.name) for host in deck.fleet.hosts for server in host.servers]
    async with app.run_test(size=(120, 40)):
        opening = asyncio.create_task(deck.keep_open())
        await deck.opened.wait()
        while not opening.done():
            late = await latest(1.0)
            for log in logs:
                log.read(deck)
            print(said(deck.store.state, logs, late), flush=True)
        opening.result()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))

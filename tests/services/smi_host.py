"""This machine as a host whose nvidia-smi is a stand-in."""

import json
import os
import sys
from pathlib import Path

from specdeck.config.objects import Host

GPU = {
    "index": 0,
    "uuid": "GPU-00000000-aaaa-4000-8000-000000000000",
    "name": "NVIDIA Example 80GB",
    "utilization.gpu": 50,
    "memory.used": 70110,
    "memory.total": 81559,
    "temperature.gpu": 60,
    "power.draw": "500.00",
    "power.limit": "700.00",
    "clocks_event_reasons.active": "0x0000000000000004",
    "clocks.current.sm": 1470,
    "pci.bus_id": "00000000:1A:00.0",
}


class SmiHost:
    """This machine with a PATH on which nvidia-smi is the stand-in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scenario = folder / "smi.json"
        self.starts = folder / "starts"
        tool = folder / "bin" / "nvidia-smi"
        tool.parent.mkdir()
        tool.write_text(f'#!/bin/sh\nexec {sys.executable} {Path(__file__).with_name("fake_nvidia_smi.py")} "$@"\n')
        tool.chmod(0o755)

    def say(self, **scenario: object) -> None:
        """What nvidia-smi does from its next start on."""
        self.scenario.write_text(json.dumps({"starts": str(self.starts), **scenario}))

    @property
    def host(self) -> Host:
        """As the fleet file would name it."""
        env = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "FAKE_SMI": str(self.scenario)}
        return Host("lab", "localhost", env=env)

    @property
    def started(self) -> int:
        """How many calls there were."""
        return len([line for line in self.starts.read_text().splitlines() if line.startswith("start")])

    @property
    def most_at_once(self) -> int:
        """How many calls lived at one time."""
        now = most = 0
        for line in self.starts.read_text().splitlines():
            now += 1 if line.startswith("start") else -1
            most = max(most, now)
        return most

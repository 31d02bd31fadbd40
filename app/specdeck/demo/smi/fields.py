"""Fields of --query-gpu: the H200's own words (fields.tsv, aliases.tsv), with what the simulation changes."""

import os

from specdeck.demo.smi.gpus import COUNT, RESERVED_MIB, TOTAL_MIB, Gpu

_FOLDER = os.path.dirname(__file__)
NOT_AVAILABLE = "[N/A]"


def _table(name: str) -> list[list[str]]:
    with open(os.path.join(_FOLDER, name), encoding="ascii") as file:
        return [line.rstrip("\n").split("\t") for line in file]


class Fields:
    """Which fields there are, how their column is headed, and what a GPU says."""

    def __init__(self) -> None:
        self._aliases = dict(_table("aliases.tsv"))
        rows = _table("fields.tsv")
        self._headers = {name: header for name, header, _ in rows}
        self._words = {name: word for name, _, word in rows}

    def resolve(self, name: str) -> str | None:
        """The field's own name for one that was asked for; None: no such field."""
        name = self._aliases.get(name, name)
        return name if name in self._words else None

    def header(self, name: str) -> str:
        """`memory.used [MiB]`."""
        return self._headers[name]

    def row(self, names: list[str], gpu: Gpu, stamp: str) -> list[str]:
        """What a GPU says to each field, units included."""
        changed = _changed(gpu, stamp)
        return [changed.get(name, self._words[name]) for name in names]


def _changed(gpu: Gpu, stamp: str) -> dict[str, str]:
    """The words that differ from those of the one idle H200 in the tables."""
    watts = f"{gpu.watts:.2f} W"
    clock = f"{1980 - (gpu.utilization * 5 // 15 * 15)} MHz"
    return (
        _identity(gpu, stamp)
        | {
            "memory.used": f"{gpu.used_mib} MiB",
            "memory.free": f"{max(0, TOTAL_MIB - RESERVED_MIB - gpu.used_mib)} MiB",
            "utilization.gpu": f"{gpu.utilization} %",
            "utilization.memory": f"{gpu.utilization * 22 // 100} %",
            "temperature.gpu": str(gpu.temperature),
            "temperature.gpu.tlimit": str(87 - gpu.temperature),
            "temperature.memory": str(gpu.temperature - 2),
            "power.draw": watts,
            "power.draw.average": watts,
            "power.draw.instant": watts,
            "clocks.current.graphics": clock,
            "clocks.current.sm": clock,
        }
        | _reasons(gpu)
    )


def _identity(gpu: Gpu, stamp: str) -> dict[str, str]:
    return {
        "timestamp": stamp,
        "count": str(COUNT),
        "index": str(gpu.index),
        "uuid": gpu.uuid,
        "serial": f"165000000000{gpu.index + 1}",
        "pci.bus_id": gpu.bus_id,
        "pci.bus": f"0x{6 + gpu.index:02X}",
        "pci.device": "0x00",
        "platform.module_id": str(gpu.index + 1),
    }


def _reasons(gpu: Gpu) -> dict[str, str]:
    """Why the clocks are what they are: idle, at the power cap, or nothing."""
    capped = gpu.utilization >= 98
    mask = 0x1 if not gpu.utilization else 0x4 if capped else 0x0
    return {
        "clocks_event_reasons.active": f"0x{mask:016X}",
        "clocks_event_reasons.gpu_idle": "Active" if mask == 0x1 else "Not Active",
        "clocks_event_reasons.sw_power_cap": "Active" if capped else "Not Active",
    }

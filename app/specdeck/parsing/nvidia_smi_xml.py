"""`nvidia-smi -q -x`: GPUs, their checks, MIG instances and processes, by the paths of its elements.

Read by a scanner of our own, which knows no entities and no document types: a hostile or cut-off file can do no more than be wrong.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from specdeck.parsing.gpu_check import GpuCheck, check_of
from specdeck.parsing.mig import MigInstance
from specdeck.parsing.nvidia_smi import GpuRow, ProcessRow, row_of, whole
from specdeck.parsing.plain import plain
from specdeck.parsing.throttle import THROTTLE_BITS
from specdeck.quick_dataclass import dataclass

_TOKEN = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z_][\w.-]{0,80})(?P<rest>[^<>]{0,200})>|(?P<text>[^<]+)")
_ID = re.compile(r'\bid="([^"]{1,40})"')
_LARGEST = 1 << 22
"""Characters; eight GPUs with all their clocks have some 220,000."""
_DEEPEST = 12
"""A real file has eight levels below a GPU."""
_REPEATED = ("mig_device", "process_info")
_WORDS = {
    "uuid": "uuid",
    "name": "product_name",
    "memory.used": "fb_memory_usage/used",
    "memory.total": "fb_memory_usage/total",
    "utilization.gpu": "utilization/gpu_util",
    "temperature.gpu": "temperature/gpu_temp",
    "clocks.current.sm": "clocks/sm_clock",
    "clocks.max.sm": "max_clocks/sm_clock",
    "pci.bus_id": "pci/pci_bus_id",
    "pcie.link.gen.current": "pci/pci_gpu_link_info/pcie_gen/current_link_gen",
    "pcie.link.gen.max": "pci/pci_gpu_link_info/pcie_gen/max_link_gen",
    "pcie.link.width.current": "pci/pci_gpu_link_info/link_widths/current_link_width",
    "pcie.link.width.max": "pci/pci_gpu_link_info/link_widths/max_link_width",
    "retired_pages.pending": "retired_pages/pending_retirement",
    "mig.mode.current": "mig_mode/current_mig",
    "remapped_rows.pending": "remapped_rows/remapped_row_pending",
    "remapped_rows.failure": "remapped_rows/remapped_row_failure",
    "gpu_recovery_action": "gpu_recovery_action",
}
_POWER = (
    ("power.draw", ("gpu_power_readings/average_power_draw", "gpu_power_readings/power_draw", "power_readings/power_draw")),
    ("power.limit", ("gpu_power_readings/current_power_limit", "gpu_power_readings/power_limit", "power_readings/power_limit")),
)  # fmt: skip
"""The older drivers' places last."""
_ECC = ("dram_uncorrectable", "sram_uncorrectable", "sram_uncorrectable_parity", "sram_uncorrectable_secded")
_REASONS = {
    0x001: "gpu_idle",
    0x002: "applications_clocks_setting",
    0x004: "sw_power_cap",
    0x008: "hw_slowdown",
    0x010: "sync_boost",
    0x020: "sw_thermal_slowdown",
    0x040: "hw_thermal_slowdown",
    0x080: "hw_power_brake_slowdown",
    0x100: "display_clocks_setting",
}


@dataclass(frozen=True, slots=True)
class XmlAnswer:
    """All that it says."""

    gpus: tuple[GpuRow, ...] = ()
    checks: tuple[GpuCheck, ...] = ()
    processes: tuple[ProcessRow, ...] = ()
    instances: tuple[MigInstance, ...] = ()


@dataclass(slots=True)
class _Element:
    """The texts below one `gpu`, `mig_device` or `process_info`, by their paths."""

    words: dict[str, str] = field(default_factory=dict)
    inner: list[tuple[str, "_Element"]] = field(default_factory=list)


def is_xml(text: str) -> bool:
    """Whether this is such a file, perhaps after a prompt."""
    return "<nvidia_smi_log" in text[:4096]


def read_xml(text: str) -> XmlAnswer:
    """In the order of the file, which is that of the indices."""
    answer = XmlAnswer()
    for index, gpu in enumerate(_gpus(text[:_LARGEST])):
        cells = _cells(index, gpu.words)
        row, check = row_of(cells), check_of(cells)
        uuid = gpu.words.get("uuid", "")
        answer = XmlAnswer(
            (*answer.gpus, *([row] if row else [])),
            (*answer.checks, *([check] if check else [])),
            (*answer.processes, *_processes(uuid, gpu)),
            (*answer.instances, *_instances(uuid, gpu)),
        )
    return answer


def _cells(index: int, words: Mapping[str, str]) -> Mapping[str, str]:
    """As if they had been asked as a row."""
    cells = {name: words[path] for name, path in _WORDS.items() if path in words}
    cells |= {name: words[path] for name, paths in _POWER for path in reversed(paths) if path in words}
    errors = [count for name in _ECC if (count := whole(words.get(f"ecc_errors/volatile/{name}", ""))) is not None]
    if errors:
        cells["ecc.errors.uncorrected.volatile.total"] = str(sum(errors))
    if (mask := _mask(words)) is not None:
        cells["clocks_event_reasons.active"] = mask
    return {**cells, "index": str(index)}


def _mask(words: Mapping[str, str]) -> str | None:
    """Up to driver 535 the names have `throttle` instead of `event`."""
    for kind in ("event", "throttle"):
        told = {bit: words.get(f"clocks_{kind}_reasons/clocks_{kind}_reason_{name}") for bit, name in _REASONS.items()}
        if any(told.values()):
            return f"0x{sum(bit for bit, word in told.items() if word == 'Active' and bit in (1, *THROTTLE_BITS)):x}"
    return None


def _processes(uuid: str, gpu: _Element) -> Iterator[ProcessRow]:
    for name, element in gpu.inner:
        pid = whole(element.words.get("pid", "")) if name == "process_info" else None
        if pid:
            yield ProcessRow(
                uuid, pid, element.words.get("process_name", ""), whole(element.words.get("used_memory", ""))
            )


def _instances(uuid: str, gpu: _Element) -> Iterator[MigInstance]:
    pids: dict[int, list[int]] = {}
    for name, element in gpu.inner:
        instance, pid = whole(element.words.get("gpu_instance_id", "")), whole(element.words.get("pid", ""))
        if name == "process_info" and instance is not None and pid:
            pids.setdefault(instance, []).append(pid)
    for name, element in gpu.inner:
        words = element.words
        instance, index = whole(words.get("gpu_instance_id", "")), whole(words.get("index", ""))
        if name == "mig_device" and instance is not None:
            yield MigInstance(
                gpu_uuid=uuid,
                index=instance if index is None else index,
                instance_id=instance,
                compute_id=whole(words.get("compute_instance_id", "")),
                memory_used_mib=whole(words.get("fb_memory_usage/used", "")),
                memory_total_mib=whole(words.get("fb_memory_usage/total", "")),
                pids=tuple(pids.get(instance, ())),
            )


def _gpus(text: str) -> Iterator[_Element]:
    """Each `gpu`, whole or cut off."""
    gpu: _Element | None = None
    path: list[str] = []
    open_elements: list[tuple[int, _Element]] = []
    for token in _TOKEN.finditer(text):
        name = token["name"]
        if gpu is None:
            if name == "gpu" and not token["end"]:
                bus = _ID.search(token["rest"])
                gpu, path, open_elements = _Element({"pci/pci_bus_id": plain(bus[1])} if bus else {}), [], []
                open_elements = [(0, gpu)]
        elif name == "gpu" and token["end"]:
            yield gpu
            gpu = None
        else:
            _take(token, path, open_elements)
    if gpu is not None and "uuid" in gpu.words:
        yield gpu


def _take(token: "re.Match[str]", path: list[str], elements: list[tuple[int, _Element]]) -> None:
    """A tag or a text below a GPU; `elements` holds the depth at which each open repeated element began."""
    name, depth = token["name"], elements[-1][0]
    if name and not token["end"] and not token["rest"].endswith("/"):
        if len(path) >= _DEEPEST:
            return
        path.append(name)
        if name in _REPEATED:
            inner = _Element()
            elements[-1][1].inner.append((name, inner))
            elements.append((len(path), inner))
    elif name and token["end"]:
        if name in path:
            del path[_last(path, name) :]
            while len(elements) > 1 and elements[-1][0] > len(path):
                elements.pop()
    elif token["text"] and token["text"].strip():
        elements[-1][1].words.setdefault("/".join(path[depth:]), _unescaped(token["text"]))


def _last(path: Sequence[str], name: str) -> int:
    return len(path) - 1 - path[::-1].index(name)


def _unescaped(text: str) -> str:
    for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&")):
        text = text.replace(entity, char)
    return plain(text)

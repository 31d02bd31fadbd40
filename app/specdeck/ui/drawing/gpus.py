"""GPUs: one line each with a sparkline, several side by side where there is room, or all of them in one line."""

import re
from collections.abc import Sequence

from specdeck.state.snapshot import Gpu, GpuProcess, HostState
from specdeck.ui.drawing.meters import bar, sparkline
from specdeck.ui.drawing.spans import Row, dimmed, fit, fit_row, right
from specdeck.ui.drawing.words import UNKNOWN, age, count, memory, percent
from specdeck.ui.view import heard_ago, is_old_news

FIXED = 38
"""Cells of a GPU's numbers: index, utilisation, memory bar and memory, temperature, power."""
HOT_C = 85
RANK = re.compile(r"\b(?:TP|PP|DP|EP)\d+|(?<=_)(?:TP|PP|DP|EP)\d+")


def gpu_row(gpu: Gpu, width: int) -> Row:
    """`0 ▁▁▂▂▁ 12% ██░░ 34/96G 41° 98W kimi TP0`."""
    room = max(width - FIXED, 0)
    spark = min(max(room // 2, 6 if room >= 6 else 0), 24)
    meter = min(8, room - spark) if room - spark >= 20 else 0
    parts: list[Row] = [
        ((right(str(gpu.index), 2) + " ", "dim"),),
        ((sparkline(gpu.utilization_history, spark, top=100.0) + " ", "spark"),) if spark else (),
        ((right(_shown(gpu, "utilization_percent", percent(gpu.utilization_percent)), 4) + " ", ""),),
        (*bar(_share(gpu), meter), (" ", "")) if meter else (),
        ((right(_shown(gpu, "memory_used_mib", memory(gpu.memory_used_mib, gpu.memory_total_mib)), 9) + " ", ""),),
        ((right(_temperature(gpu), 4) + " ", "hot" if (gpu.temperature_c or 0) >= HOT_C else "dim"),),
        ((right(_power(gpu), 8) + "  ", "dim"),),
        owners(gpu),
    ]
    return fit_row(tuple(span for part in parts for span in part), width)


def _share(gpu: Gpu) -> float:
    if not gpu.memory_used_mib or not gpu.memory_total_mib:
        return 0.0
    return gpu.memory_used_mib / gpu.memory_total_mib


def _shown(gpu: Gpu, field: str, text: str) -> str:
    """The number, or nvidia-smi's own word where there is none."""
    return gpu.unreadable.get(field, text) if text == UNKNOWN else text


def _temperature(gpu: Gpu) -> str:
    return UNKNOWN if gpu.temperature_c is None else f"{gpu.temperature_c:.0f}°"


def _power(gpu: Gpu) -> str:
    if gpu.power_w is None:
        return UNKNOWN
    return f"{gpu.power_w:.0f}W" if gpu.power_limit_w is None else f"{gpu.power_w:.0f}/{gpu.power_limit_w:.0f}W"


def owners(gpu: Gpu) -> Row:
    """Whose memory it is: servers by name, strangers by process and pid; a throttle reason before all."""
    spans: list[tuple[str, str]] = []
    if gpu.throttle:
        spans.append((f"▲ {', '.join(gpu.throttle)}  ", "warning"))
    servers = dict.fromkeys(_owner(process) for process in gpu.processes if process.server)
    if servers:
        spans.append((", ".join(servers), ""))
    strangers = [process for process in gpu.processes if process.server is None]
    for process in strangers[:2]:
        mark = "  " if spans else ""
        words = f"{process.name} {process.pid} {memory_of(process.memory_mib)}"
        spans.append((f"{mark}orphan {words}", "warning") if process.is_orphan else (f"{mark}{words}", "dim"))
    return tuple(spans)


def _owner(process: GpuProcess) -> str:
    """`kimi TP3` where the process says its rank."""
    rank = RANK.search(process.name)
    return f"{process.server} {rank.group()}" if rank else str(process.server)


def memory_of(mib: int | None) -> str:
    """`61G` or `640M`."""
    if mib is None:
        return UNKNOWN
    return f"{mib / 1024:.0f}G" if mib >= 1024 else f"{mib}M"


def gpu_rows(host: HostState, width: int, height: int) -> list[Row]:
    """All GPUs of a host in the given space, side by side where one column is not enough."""
    if host.gpu_error and not host.gpus:
        return [((fit(f"no GPU rows: {host.gpu_error}", width), "warning"),)]
    if not host.gpus:
        return [((fit("waiting for nvidia-smi", width), "dim"),)]
    across = 2 if len(host.gpus) > height and width >= 2 * FIXED + 4 else 1
    cell = (width - (across - 1) * 3) // across
    down = -(-len(host.gpus) // across)
    drawn = [gpu_row(gpu, cell) for gpu in host.gpus]
    rows = [_joined(drawn[index::down], width) for index in range(down)]
    if len(rows) > max(height, 1):
        rows = [summary(host.gpus, width)]
    return [dimmed(row) for row in rows] if is_old_news(host) else rows


def _joined(cells: Sequence[Row], width: int) -> Row:
    row: Row = cells[0]
    for cell in cells[1:]:
        row = (*row, (" │ ", "heading"), *cell)
    return fit_row(row, width)


def summary(gpus: Sequence[Gpu], width: int) -> Row:
    """All GPUs in one line: mean utilisation, memory in sum, the hottest, power in sum."""
    if not gpus:
        return ((" " * width, ""),)
    name = f"GPU {gpus[0].index}" if len(gpus) == 1 else f"GPU {gpus[0].index}-{gpus[-1].index}"
    load = _mean([gpu.utilization_percent for gpu in gpus])
    used, total = _sum([gpu.memory_used_mib for gpu in gpus]), _sum([gpu.memory_total_mib for gpu in gpus])
    hottest = max((gpu.temperature_c for gpu in gpus if gpu.temperature_c is not None), default=None)
    watts = _sum([None if gpu.power_w is None else round(gpu.power_w) for gpu in gpus])
    busy = [
        _mean([h.utilization_history[-step] for h in gpus if len(h.utilization_history) >= step])
        for step in range(8, 0, -1)
    ]
    servers = dict.fromkeys(p.server or p.name for gpu in gpus for p in gpu.processes)
    numbers = (
        f"{right(percent(load), 4)} {right(memory(used, total), 9)} "
        f"{right(UNKNOWN if hottest is None else f'{hottest:.0f}°', 4)} {right(count(watts), 5)}W  "
    )
    spark = sparkline([value for value in busy if value is not None], 8, top=100.0)
    return fit_row(((f"{name} ", "strong"), (f"{spark} ", "spark"), (numbers, ""), (", ".join(servers), "dim")), width)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def heading(host: HostState, now: float) -> str:
    """`GPUs blackwell, 8 x RTX PRO 6000`, with the age of old rows."""
    names = dict.fromkeys(gpu.name for gpu in host.gpus)
    what = (
        f", {len(host.gpus)} x {next(iter(names))}" if len(names) == 1 else f", {len(host.gpus)} GPUs" if names else ""
    )
    old = f", {age(heard_ago(host, now))} old" if is_old_news(host) else ""
    return f"GPUs {host.name}{what}{old}"

"""One GPU in one line of any width: the narrower, the fewer numbers, and never without the mark of what is wrong with it."""

from specdeck.state.gpu_snapshot import Gpu, Trouble
from specdeck.state.gpu_troubles import troubles_of
from specdeck.state.gpus import is_virtual
from specdeck.ui.drawing.gpu_owners import owners
from specdeck.ui.drawing.meters import bar, sparkline
from specdeck.ui.drawing.spans import Row, fit_row, right
from specdeck.ui.drawing.words import UNKNOWN, age, memory, percent

LEAST = 18
"""Cells for number, utilisation and memory."""
NOTED = 50
"""From here on there is room for words."""
HOT_C = 85
MARKS = {True: ("✖", "error"), False: ("▲", "warning")}


def gpu_row(gpu: Gpu, width: int, now: float) -> Row:
    """`0 ▁▁▂▂▁ 12% ██░░ 34/96G 41° 98/700W  kimi TP0`."""
    troubles = troubles_of(gpu, now)
    if gpu.lost:
        lost = gpu.lost.removeprefix("GPU ")
        return fit_row((*_number(gpu, troubles), (f"{lost}  ", "error"), *owners(gpu)), width)
    numbers = (*_number(gpu, troubles), *_figures(gpu, width))
    return fit_row((*numbers, *(notes(gpu, troubles, now) if width >= NOTED else ())), width)


def _number(gpu: Gpu, troubles: tuple[Trouble, ...]) -> Row:
    """` 3▲ `: the mark stays in the narrowest cell."""
    mark, role = MARKS[any(trouble.is_error for trouble in troubles)] if troubles else (" ", "dim")
    return (right(str(gpu.index) if gpu.index >= 0 else "?", 2), "dim"), (mark, role)


def _figures(gpu: Gpu, width: int) -> Row:
    spare = width - LEAST
    spark = 0 if spare < 9 else min(6, spare - 6) if spare < 42 else min(24, 6 + (spare - 42) // 3)
    meter = 8 if spare >= 60 else 0
    parts: list[Row] = [
        ((f"{sparkline(gpu.utilization_history, spark, top=100.0)} ", "spark"),) if spark else (),
        ((f"{right(percent(gpu.utilization_percent), 4)} ", ""),),
        (*_memory_bar(gpu, meter), (" ", "")) if meter else (),
        ((f"{right(memory(gpu.memory_used_mib, gpu.memory_total_mib), 9)} ", ""),),
        ((f"{right(_temperature(gpu), 4)} ", _heat(gpu)),) if spare >= 5 else (),
        ((f"{right(_watts(gpu), 5)} ", "dim"),) if 18 <= spare < 24 else (),
        ((f"{right(_power(gpu), 9)} ", "dim"),) if spare >= 24 else (),
        ((f"{right(_clock(gpu), 7)} ", "warning" if _is_slowed(gpu) else "dim"),) if spare >= 70 else (),
        ((" ", ""),) if width >= NOTED else (),
    ]
    return tuple(span for part in parts for span in part)


def notes(gpu: Gpu, troubles: tuple[Trouble, ...], now: float) -> Row:
    """What kind of trouble it has, what kind of GPU it is, and whose."""
    kinds = dict.fromkeys((trouble.kind, trouble.is_error) for trouble in troubles)
    told = tuple((f"{kind}  ", MARKS[is_error][1]) for kind, is_error in kinds)
    ages = [now - xid.at for xid in gpu.xids if xid.at is not None and xid.is_of_hardware]
    has_xid = any(trouble.kind.startswith("Xid") for trouble in troubles)
    when: Row = ((f"{age(ages[-1])} ago  ", "dim"),) if ages and has_xid else ()
    return (*told, *when, *_tags(gpu), *owners(gpu))


def _tags(gpu: Gpu) -> Row:
    """Why a number is missing that one would look for."""
    if gpu.check is not None and gpu.check.is_mig:
        return (("MIG: no utilisation  ", "accent"),)
    if gpu.is_memory_unified:
        return (("unified  ", "accent"),)
    return (("vGPU  ", "accent"),) if is_virtual(gpu.name) else ()


def _memory_bar(gpu: Gpu, width: int) -> Row:
    """Of memory of its own: what processes take of the host's is no share of it."""
    return part_bar(None if gpu.is_memory_unified else gpu.memory_used_mib, gpu.memory_total_mib, width)


def part_bar(used: int | None, total: int | None, width: int) -> Row:
    """Nothing where it is not known: an empty bar would say 0 %."""
    return bar(used / total, width) if used is not None and total else ((" " * width, ""),)


def _temperature(gpu: Gpu) -> str:
    return UNKNOWN if gpu.temperature_c is None else f"{gpu.temperature_c:.0f}°"


def _heat(gpu: Gpu) -> str:
    return "hot" if (gpu.temperature_c or 0) >= HOT_C else "dim"


def _watts(gpu: Gpu) -> str:
    return UNKNOWN if gpu.power_w is None else f"{gpu.power_w:.0f}W"


def _power(gpu: Gpu) -> str:
    return (
        _watts(gpu)
        if gpu.power_w is None or gpu.power_limit_w is None
        else f"{gpu.power_w:.0f}/{gpu.power_limit_w:.0f}W"
    )


def _clock(gpu: Gpu) -> str:
    return UNKNOWN if gpu.clock_mhz is None else f"{gpu.clock_mhz}MHz"


def _is_slowed(gpu: Gpu) -> bool:
    return any(trouble.words.startswith("slowed") for trouble in troubles_of(gpu, 0.0))

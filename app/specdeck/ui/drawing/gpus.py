"""The GPUs of a host: a line each, several side by side where there is no room, or all of them in one line; then what is wrong."""

from collections.abc import Iterator, Sequence

from specdeck.state.gpu_snapshot import Gpu
from specdeck.state.gpu_warnings import named_troubles, ranges
from specdeck.state.snapshot import HostState
from specdeck.ui.drawing.gpu_owners import process_words, shared_owners
from specdeck.ui.drawing.gpu_row import LEAST, MARKS, NOTED, gpu_row, part_bar
from specdeck.ui.drawing.meters import sparkline
from specdeck.ui.drawing.spans import Row, dimmed, fit, fit_row, right
from specdeck.ui.drawing.words import UNKNOWN, age, memory, percent
from specdeck.ui.view import heard_ago, is_old_news

SEPARATOR = " │ "
MOST_ACROSS = 4
MOST_FOOTNOTES = 3
LATE_SECONDS = 6.0
"""Rows come every two seconds; from here on their age is told."""
OLD_SECONDS = 30.0
"""And from here on they are dimmed."""


def gpu_rows(host: HostState, width: int, height: int, now: float) -> list[Row]:
    """All GPUs of a host in the given space."""
    if not host.gpus:
        return [_no_rows(host, width, now)]
    across = _across(len(host.gpus), width, height)
    if not across:
        return compact_rows(host, width, height, now)
    cell = (width - (across - 1) * len(SEPARATOR)) // across
    down = -(-len(host.gpus) // across)
    drawn = [gpu_row(gpu, cell, now) for gpu in host.gpus]
    rows = [_joined(drawn[index::down], width) for index in range(down)]
    error = _error(host, width, now)
    room = max(height - down - len(error), 0)
    notes = _footnotes(host, width, now, has_owners=cell < NOTED)[: min(MOST_FOOTNOTES, room)]
    instances = [row for gpu in host.gpus for row in instance_rows(gpu, width)]
    parts = instances if len(notes) + len(instances) <= room else []
    return [*error, *_aged(rows, host, now), *parts, *notes]


def _no_rows(host: HostState, width: int, now: float) -> Row:
    """Why there are none; a wait is told with its length from the time on at which rows should have come."""
    if host.gpu_error:
        return ((fit(f"no GPU rows: {host.gpu_error}", width), "warning"),)
    waited = now - host.connected_at if host.connected_at is not None and host.link == "up" else 0.0
    return ((fit(f" waiting for nvidia-smi{f', {age(waited)}' if waited > LATE_SECONDS else ''}", width), "dim"),)


def compact_rows(host: HostState, width: int, height: int, now: float) -> list[Row]:
    """All of them in one line, and one more for the worst that is wrong."""
    rows = _aged([summary(host.gpus, width)], host, now)
    return [*_error(host, width, now), *rows, *_troubles(host, width, now)][: max(height, 1)]


def detailed_rows(host: HostState, width: int, height: int, now: float) -> list[Row]:
    """Each GPU with its link, errors, instances and processes, where all that fits; else as usual."""
    rows = [row for gpu in host.gpus for row in (gpu_row(gpu, width, now), *_details(gpu, width))]
    if not host.gpus or len(rows) > height:
        return gpu_rows(host, width, height, now)
    return [*_error(host, width, now), *_aged(rows, host, now)]


def _across(number: int, width: int, height: int) -> int:
    """How many stand side by side; 0: not even so there is room."""
    for across in range(1, MOST_ACROSS + 1):
        cell = (width - (across - 1) * len(SEPARATOR)) // across
        if cell < LEAST:
            return 0
        if -(-number // across) <= max(height, 1):
            return across
    return 0


def _joined(cells: Sequence[Row], width: int) -> Row:
    row: Row = cells[0]
    for cell in cells[1:]:
        row = (*row, (SEPARATOR, "heading"), *cell)
    return fit_row(row, width)


def _aged(rows: list[Row], host: HostState, now: float) -> list[Row]:
    is_old = is_old_news(host) or bool(host.gpu_error) or (_rows_age(host, now) or 0.0) > OLD_SECONDS
    return [dimmed(row) for row in rows] if is_old else rows


def _error(host: HostState, width: int, now: float) -> list[Row]:
    """Why there are no newer rows, and since when."""
    if not host.gpu_error:
        return []
    since = f", for {age(now - host.gpu_error_at)}" if host.gpu_error_at is not None else ""
    return [((fit(f"▲ {host.gpu_error}{since}", width), "warning"),)]


def _footnotes(host: HostState, width: int, now: float, *, has_owners: bool) -> list[Row]:
    """What is wrong in full, and what narrow cells have no room for."""
    owners = "   ".join(shared_owners(host.gpus)) if has_owners else ""
    told = _troubles(host, width, now, has_lost=False)
    return [*told, *([((fit(f"   {owners}", width), "dim"),)] if owners else [])]


def _troubles(host: HostState, width: int, now: float, *, has_lost: bool = True) -> list[Row]:
    """`▲ GPUs 3,5: slowed down: too hot (hardware thermal slowdown)`, the worst first."""
    gpus = host.gpus if has_lost else [gpu for gpu in host.gpus if not gpu.lost]
    marks = ((MARKS[trouble.is_error], trouble.words) for trouble in named_troubles(gpus, now))
    return [((fit(f"{mark} {words}", width), role),) for (mark, role), words in marks]


def _details(gpu: Gpu, width: int) -> Iterator[Row]:
    """Lines under a GPU."""
    check = gpu.check
    facts = [
        gpu.bus_id,
        f"PCIe {check.link.words}" if check is not None and check.link is not None else "",
        f"ECC {check.ecc_uncorrected}" if check is not None and check.ecc_uncorrected is not None else "",
        f"{gpu.links.up} NVLinks up" if gpu.links is not None else "",
        f"at most {check.clock_max_mhz} MHz" if check is not None and check.clock_max_mhz is not None else "",
        f"held by {', '.join(gpu.throttle)}" if gpu.throttle else "",
        gpu.uuid,
    ]
    yield fit_row((("    " + "   ".join(fact for fact in facts if fact), "dim"),), width)
    yield from instance_rows(gpu, width)
    for process in gpu.processes:
        whose = process.server or "no server"
        yield fit_row(
            (("    ", ""), (f"{whose}  ", "" if process.server else "warning"), (process_words(process), "dim")), width
        )


def instance_rows(gpu: Gpu, width: int) -> Iterator[Row]:
    """`0.1  1g.10gb  █░░░░░░░  1/9G  kimi`: nvidia-smi tells no utilisation of instances."""
    whose = {process.pid: process.server or f"{process.name} {process.pid}" for process in gpu.processes}
    for each in gpu.instances:
        name = f"   {gpu.index}.{each.index} {each.name or 'MIG'}".ljust(18)
        size = memory(each.memory_used_mib, each.memory_total_mib)
        inside = [process.pid for process in gpu.processes if process.gpu_uuid == each.uuid]
        owners = ", ".join(dict.fromkeys(whose.get(pid, f"pid {pid}") for pid in (*each.pids, *inside)))
        share = part_bar(each.memory_used_mib, each.memory_total_mib, 8)
        yield fit_row(((name, "accent"), *share, (f" {size:>9}  ", ""), (owners, "dim")), width)


def summary(gpus: Sequence[Gpu], width: int) -> Row:
    """All GPUs in one line: mean utilisation, memory in sum, the hottest, power in sum; of those that tell it."""
    living = [gpu for gpu in gpus if not gpu.lost]
    if not living:
        return ((" " * width, ""),)
    name = f"GPU {ranges(gpu.index for gpu in living)}"
    load = _mean([gpu.utilization_percent for gpu in living])
    sizes = [(gpu.memory_used_mib, gpu.memory_total_mib) for gpu in living]
    known = [(used, total) for used, total in sizes if used is not None and total is not None]
    held = memory(sum(used for used, _ in known), sum(total for _, total in known)) if known else UNKNOWN
    part = f" of {len(known)}" if known and len(known) < len(living) else ""
    hottest = max((gpu.temperature_c for gpu in living if gpu.temperature_c is not None), default=None)
    watts = [gpu.power_w for gpu in living if gpu.power_w is not None]
    heat = UNKNOWN if hottest is None else f"{hottest:.0f}°"
    power = f"{sum(watts):.0f}" if watts else UNKNOWN
    numbers = f"{right(percent(load), 4)} {held:>9}{part} {right(heat, 4)} {right(power, 5)}W  "
    spark = sparkline(_mean_history(living), 8, top=100.0)
    owners = ", ".join(dict.fromkeys(each.server or each.name for gpu in living for each in gpu.processes))
    return fit_row(((f"{name} ", "strong"), (f"{spark} ", "spark"), (numbers, ""), (owners, "dim")), width)


def _mean_history(gpus: Sequence[Gpu]) -> list[float]:
    histories = [gpu.utilization_history for gpu in gpus]
    steps = (_mean([each[-step] for each in histories if len(each) >= step]) for step in range(8, 0, -1))
    return [mean for mean in steps if mean is not None]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def heading(host: HostState, now: float) -> str:
    """`GPUs blackwell, 8 x RTX PRO 6000`, with the age of old rows."""
    names = dict.fromkeys(gpu.name for gpu in host.gpus if gpu.name)
    number = len(host.gpus)
    what = f", {number} x {next(iter(names))}" if len(names) == 1 else f", {number} GPUs" if number else ""
    seconds = heard_ago(host, now) if is_old_news(host) else _rows_age(host, now)
    is_late = seconds is not None and (is_old_news(host) or seconds > LATE_SECONDS)
    return f"GPUs {host.name}{what}{f', {age(seconds)} old' if is_late else ''}"


def _rows_age(host: HostState, now: float) -> float | None:
    """Seconds since nvidia-smi's newest rows."""
    return None if host.gpus_at is None or not host.gpus else max(0.0, now - host.gpus_at)

"""MIG: one GPU cut into instances. Their names are in `nvidia-smi -L`, their memory only in `-q -x` and in the table for people."""

import re
from collections.abc import Iterable

from specdeck.quick_dataclass import dataclass, replace

_GPU = re.compile(r"^GPU (?P<index>\d{1,4}): .{1,200}\(UUID: (?P<uuid>[^)\s]{1,80})\)")
_DEVICE = re.compile(
    r"^\s+MIG (?P<name>\S{1,40})\s+(?:\(.{1,40}\)\s+)?Device\s+(?P<index>\d{1,3}): \(UUID: (?P<uuid>[^)\s]{1,120})\)"
)


@dataclass(frozen=True, slots=True)
class MigInstance:
    """One part of a GPU; nvidia-smi tells no utilisation of it."""

    gpu_uuid: str
    index: int
    """The device's number on its GPU."""
    name: str = ""
    """Its profile, `3g.40gb`."""
    uuid: str = ""
    instance_id: int | None = None
    compute_id: int | None = None
    memory_used_mib: int | None = None
    memory_total_mib: int | None = None
    pids: tuple[int, ...] = ()


def listed_instances(text: str) -> tuple[MigInstance, ...]:
    """Those of `nvidia-smi -L`, without memory."""
    found: list[MigInstance] = []
    gpu = ""
    for line in text.splitlines():
        if (match := _GPU.match(line)) is not None:
            gpu = match["uuid"]
        elif gpu and (match := _DEVICE.match(line)) is not None:
            found.append(MigInstance(gpu, int(match["index"]), match["name"], match["uuid"]))
    return tuple(found)


def with_names(instances: Iterable[MigInstance], listed: Iterable[MigInstance]) -> tuple[MigInstance, ...]:
    """The instances of `-q -x` with what `-L` calls them."""
    names = {(each.gpu_uuid, each.index): each for each in listed}
    return tuple(
        replace(each, name=known.name, uuid=known.uuid) if (known := names.get((each.gpu_uuid, each.index))) else each
        for each in instances
    )

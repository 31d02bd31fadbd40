"""`nvidia-smi nvlink -s`: which links of which GPU are up. Never raises on content."""

import re
from collections.abc import Mapping

from specdeck.quick_dataclass import dataclass

_GPU = re.compile(r"^GPU (?P<index>\d{1,4}): ")
_LINK = re.compile(r"^\s+Link \d{1,3}: (?P<state>.{1,60})$")


@dataclass(frozen=True, slots=True)
class NvLinks:
    """Of one GPU."""

    up: int
    total: int


def nvlinks(text: str) -> Mapping[int, NvLinks]:
    """By the GPU's index; GPUs without NVLink are not in it."""
    found: dict[int, NvLinks] = {}
    index: int | None = None
    for line in text.splitlines():
        if (gpu := _GPU.match(line)) is not None:
            index = int(gpu["index"])
        elif index is not None and (link := _LINK.match(line)) is not None:
            known = found.get(index, NvLinks(0, 0))
            found[index] = NvLinks(known.up + ("inactive" not in link["state"].lower()), known.total + 1)
    return found

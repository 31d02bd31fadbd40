"""--query-gpu and --query-compute-apps: comma separated rows, header and units as asked."""

from specdeck.demo.smi.fields import Fields
from specdeck.demo.smi.gpus import Gpu, Holder, look
from specdeck.demo.smi.request import Refusal, Request
from specdeck.demo.smi.say import say, stamp

_UNITS = (" MiB", " %", " W", " MHz", " us")
_PROCESS_HEADERS = {"used_gpu_memory": "used_gpu_memory [MiB]"}
_PROCESS_ALIASES = {"name": "process_name", "used_memory": "used_gpu_memory"}
_PROCESS_FIELDS = frozenset(
    ("timestamp", "gpu_name", "gpu_bus_id", "gpu_serial", "gpu_uuid", "pid", "process_name", "used_gpu_memory")
)


def _no_such_field(name: str) -> Refusal:
    return Refusal(f'Field "{name}" is not a valid field to query.\n\n', 2)


def _line(words: list[str], request: Request) -> str:
    if "nounits" in request.formats:
        words = [_bare(word) for word in words]
    return ", ".join(words) + "\n"


def _bare(word: str) -> str:
    """A word without its unit."""
    return next((word[: -len(unit)] for unit in _UNITS if word.endswith(unit)), word)


class GpuRows:
    """A row per GPU, each time it is drawn; the header once."""

    def __init__(self, request: Request) -> None:
        self._request, self._fields = request, Fields()
        self._names = [self._resolve(name) for name in request.query_gpu.split(",")]
        request.chosen(look(0))
        if "noheader" not in request.formats:
            say(", ".join(self._fields.header(name) for name in self._names) + "\n")

    def _resolve(self, name: str) -> str:
        resolved = self._fields.resolve(name.strip())
        if resolved is None:
            raise _no_such_field(name)
        return resolved

    def draw(self, at: float) -> None:
        """All GPUs at this moment."""
        for gpu in self._request.chosen(look(at)):
            say(_line(self._fields.row(self._names, gpu, stamp(at)), self._request))


class ProcessRows:
    """A row per process on a GPU; nothing at all where there is none."""

    def __init__(self, request: Request) -> None:
        self._request = request
        asked = [name.strip() for name in request.query_apps.split(",")]
        self._names = [_PROCESS_ALIASES.get(name, name) for name in asked]
        for name, word in zip(self._names, asked, strict=True):
            if name not in _PROCESS_FIELDS:
                raise _no_such_field(word)
        if "noheader" not in request.formats:
            say(", ".join(_PROCESS_HEADERS.get(name, name) for name in self._names) + "\n")

    def draw(self, at: float) -> None:
        """All processes at this moment."""
        for gpu in self._request.chosen(look(at)):
            for holder in gpu.holders:
                words = _process_words(gpu, holder, stamp(at))
                say(_line([words[name] for name in self._names], self._request))


def _process_words(gpu: Gpu, holder: Holder, moment: str) -> dict[str, str]:
    return {
        "timestamp": moment,
        "gpu_name": "NVIDIA H200",
        "gpu_bus_id": gpu.bus_id,
        "gpu_serial": f"165000000000{gpu.index + 1}",
        "gpu_uuid": gpu.uuid,
        "pid": str(holder.pid),
        "process_name": holder.name,
        "used_gpu_memory": f"{holder.mib} MiB",
    }

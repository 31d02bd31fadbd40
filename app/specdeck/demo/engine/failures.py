"""The ways in which a simulated engine fails, with the words of the real ones."""

import os
import signal
from typing import NoReturn

from specdeck.demo.engine.log import Log, raw
from specdeck.demo.engine.ranks import Family, die
from specdeck.demo.identity import FAIL, owner_lives

_MODEL_MISSING = os.path.join(os.path.dirname(__file__), "model_missing.txt")
_SCHEDULER_TRACE = """\
Scheduler hit an exception: Traceback (most recent call last):
  File "/opt/sglang/srt/managers/scheduler.py", line 4025, in run_scheduler_process
    scheduler = Scheduler(
                ^^^^^^^^^^
  File "/opt/sglang/srt/managers/scheduler.py", line 437, in __init__
    self.init_model_worker()
  File "/opt/sglang/srt/managers/scheduler.py", line 718, in init_model_worker
    self.init_tp_model_worker()
  File "/opt/sglang/srt/managers/scheduler.py", line 673, in init_tp_model_worker
    self.tp_worker = TpModelWorker(**worker_kwargs)
                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/opt/sglang/srt/managers/tp_worker.py", line 262, in __init__
    self._init_model_runner()
  File "/opt/sglang/srt/managers/tp_worker.py", line 347, in _init_model_runner
    self._model_runner = ModelRunner(
                         ^^^^^^^^^^^^
  File "/opt/sglang/srt/model_executor/model_runner.py", line 535, in __init__
    self.initialize(pre_model_load_memory)
"""
_OUT_OF_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {wanted:.2f} GiB. GPU {gpu} has a total capacity of "
    "139.81 GiB of which {free:.2f} GiB is free. {others}Including non-PyTorch memory, this process has {held:.2f} GiB memory "
    "in use. Of the allocated memory {allocated:.2f} GiB is allocated by PyTorch, and 210.34 MiB is reserved by PyTorch but "
    "unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to "
    "avoid fragmentation.  See documentation for Memory Management  "
    "(https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)\n"
)
"""As torch writes it: its own memory without a pid, that of others with it."""
_RANK_DIED = (
    "Rank {rank} scheduler died during initialization (exit code: {code}). If exit code is -9 (SIGKILL), a common cause is "
    "the OS OOM killer. Run `dmesg -T | grep -i oom` to check."
)


def wanted() -> str:
    """The failure that this run was asked for; empty for none."""
    return os.environ.get(FAIL, "")


def model_missing(path: str) -> NoReturn:
    """No such model: the main process ends with its traceback."""
    with open(_MODEL_MISSING, encoding="utf-8") as file:
        raw(file.read().replace("@MODEL@", path))
    raise SystemExit(1)


def out_of_memory(log: Log, family: Family, rank: int, *, wanted_gb: float, held_gb: float, free_gb: float) -> NoReturn:
    """One rank dies of it, the parent takes everybody with it."""
    hit = family.ranks[rank]
    others = "".join(f"Process {pid} has {gb:.2f} GiB memory in use. " for pid, gb in family.others_on(hit.gpu))
    words = _OUT_OF_MEMORY.format(
        wanted=wanted_gb, gpu=hit.gpu, free=free_gb, others=others, held=held_gb, allocated=max(0.0, held_gb - 0.67)
    )
    log.rank(_SCHEDULER_TRACE + words, rank)
    log.main("Received sigquit from a child process. It usually means the child failed.")
    end_by_kill(family)


def silently(family: Family) -> NoReturn:
    """Somebody's SIGKILL: no word, in the middle of a bar."""
    os.kill(os.getpid(), signal.SIGKILL)
    end_by_kill(family)


def end_by_kill(family: Family) -> NoReturn:
    """SIGKILL to the children and to itself, as SGLang does in the end."""
    family.kill()
    die()
    raise AssertionError


class Watch:
    """What is looked after while the engine loads: its ranks, and the demo that it belongs to."""

    def __init__(self, log: Log, family: Family) -> None:
        self._log, self._family = log, family

    def __call__(self) -> None:
        """End as the real one does if a rank is gone."""
        if not owner_lives():
            end_by_kill(self._family)
        for rank, code in self._family.dead():
            if rank >= 0:
                self._log.main(_RANK_DIED.format(rank=rank, code=code))
                end_by_kill(self._family)

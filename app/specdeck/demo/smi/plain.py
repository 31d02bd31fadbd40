"""nvidia-smi without a query: the table that people know by heart, and -L."""

import time

from specdeck.demo.smi.gpus import TOTAL_MIB, Gpu

_HEAD = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 580.159.04             Driver Version: 580.159.04     CUDA Version: 13.0     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
"""
_RULE = "+-----------------------------------------+------------------------+----------------------+\n"
_PROCESSES = """\

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
"""
_END = "+-----------------------------------------------------------------------------------------+\n"
_NOBODY = "|  No running processes found                                                             |\n"


def draw_list(gpus: list[Gpu], at: float) -> str:
    """`nvidia-smi -L`."""
    return "".join(f"GPU {gpu.index}: NVIDIA H200 (UUID: {gpu.uuid})\n" for gpu in gpus)


def draw_table(gpus: list[Gpu], at: float) -> str:
    """`nvidia-smi`."""
    first = time.strftime("%a %b %e %H:%M:%S %Y       \n", time.localtime(at))
    processes = "".join(_process(gpu) for gpu in gpus) or _NOBODY
    return first + _HEAD + "".join(_gpu(gpu) + _RULE for gpu in gpus) + _PROCESSES + processes + _END


def _gpu(gpu: Gpu) -> str:
    memory = f"{gpu.used_mib}MiB / {TOTAL_MIB}MiB"
    return (
        f"| {gpu.index:>3}  NVIDIA H200                    On  |   {gpu.bus_id} Off |                    0 |\n"
        f"| N/A  {gpu.temperature:>3}C    P0           {round(gpu.watts):>4}W /  700W "
        f"| {memory:>22} |    {gpu.utilization:>3}%      Default |\n"
        "|                                         |                        |             Disabled |\n"
    )


def _process(gpu: Gpu) -> str:
    return "".join(
        f"|  {gpu.index:>3}   N/A  N/A {holder.pid:>15}      C   {holder.name[:35]:<35} {f'{holder.mib}MiB':>10} |\n"
        for holder in gpu.holders
    )

"""The numbers of the simulation: sizes in GB, speeds in tok/s. One place, so that the picture hangs together."""

import os

from specdeck.demo.engine.arguments import ServerArgs
from specdeck.quick_dataclass import dataclass

TOTAL_GB = 139.8
FREE_GB = 139.13
MIB_PER_GB = 1024
GRAPHS_GB = 0.66
PIECEWISE_GB = 1.29
KV_KB_PER_TOKEN = 68.6


@dataclass(frozen=True, slots=True)
class Speculation:
    """How the engine will draft."""

    version: int
    """1 or 2, the worker."""
    reason: str
    """Why it is v1; empty for v2."""
    accept_length: float
    draft_tokens: int


def speculation(args: ServerArgs) -> Speculation | None:
    """What 0.5.12 makes of the flags and of SGLANG_ENABLE_SPEC_V2 (topk is tested first)."""
    if args.text("speculative_algorithm") is None:
        return None
    drafts = args.number("speculative_num_draft_tokens", 4)
    if args.number("speculative_eagle_topk", 1) > 1:
        return Speculation(1, "spec v2 currently only supports topk = 1.", 2.4, drafts)
    if not _is_v2_wanted(os.environ.get("SGLANG_ENABLE_SPEC_V2", "true")):
        return Speculation(1, "SGLANG_ENABLE_SPEC_V2=False.", 1.5, drafts)
    return Speculation(2, "", 1.5, drafts)


def _is_v2_wanted(word: str) -> bool:
    """SGLang's own reading of a boolean variable."""
    if word.lower() in ("true", "1", "yes", "y"):
        return True
    if word.lower() in ("false", "0", "no", "n"):
        return False
    raise ValueError(f'"{word}" is not a valid boolean value')


def output_rate(running: int, drafting: Speculation | None) -> float:
    """Output tok/s of the whole server at so many running requests: a draft pays when few run, and costs when many do."""
    single, limit = (93.0, 770.0) if drafting is None else (96.0, 350.0) if drafting.version == 1 else (98.0, 372.0)
    half = limit / single - 1
    return limit * running / (running + half)


@dataclass(frozen=True, slots=True)
class Memory:
    """GB of each rank's GPU."""

    weights: float
    draft: float
    kv: float
    tokens: int
    """How many tokens the KV pool holds."""

    def mib(self, gigabytes: float) -> int:
        """As nvidia-smi tells it."""
        return round(gigabytes * MIB_PER_GB)


def memory(args: ServerArgs) -> Memory:
    """From the model's name, the ranks and the static fraction."""
    weights = (596.0 if "kimi" in (args.text("model_path") or "") else 15.3) / max(1, args.number("tp_size", 1))
    draft = 0.0 if args.text("speculative_algorithm") is None else 1.29
    kv = max(2.0, float(args.values["mem_fraction_static"]) * TOTAL_GB - weights - draft)
    return Memory(weights, draft, kv, int(kv * 1024 * 1024 / KV_KB_PER_TOKEN))


def architecture(args: ServerArgs) -> str:
    """`type=` of the weight line."""
    return "DeepseekV3ForCausalLM" if "kimi" in (args.text("model_path") or "") else "Qwen3ForCausalLM"

"""The start of SGLang 0.5.12, in its order and words: from the first warning to the scheduler's last line before HTTP."""

import os
import time

from specdeck.demo.engine import failures
from specdeck.demo.engine.arguments import ServerArgs
from specdeck.demo.engine.figures import FREE_GB, GRAPHS_GB, PIECEWISE_GB, Memory, architecture, memory, speculation
from specdeck.demo.engine.log import Bar, Log, raw
from specdeck.demo.engine.pace import Pace
from specdeck.demo.engine.ranks import Family

TOKEN_SIZES = [
    4, 8, 12, 16, 20, 24, 28, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352, 384,
    416, 448, 480, 512, 576, 640, 704, 768, 832, 896, 960, 1024, 1280, 1536, 1792, 2048, 2304, 2560, 2816, 3072, 3328,
    3584, 3840, 4096, 4608, 5120, 5632, 6144, 6656, 7168, 7680, 8192,
]  # fmt: skip
"""The sizes of the piecewise graphs."""
_FIRST_STEP = 0.35
"""The share of a capture that its first step takes: compilers run there."""


class Startup:
    """Loads a server that never was."""

    def __init__(self, args: ServerArgs, log: Log, family: Family, pace: Pace) -> None:
        self._args, self._log, self._family, self._pace = args, log, family, pace
        self._memory: Memory = memory(args)
        self._used_gb = 0.0
        self._tp = args.number("tp_size", 1)
        self._drafting = speculation(args)

    def run(self) -> float:
        """All phases; the GB that each GPU has left."""
        self._arguments()
        self._processes()
        self._target()
        self._graphs("cuda graph", 110, gigabytes=GRAPHS_GB, may_fail=True)
        self._piecewise()
        if self._drafting:
            self._draft()
        self._log.rank(self._pool_line())
        return self._free_gb()

    def _arguments(self) -> None:
        log = self._log
        if self._drafting:
            log.main(_mode_line(self._drafting.version, self._drafting.reason))
            if self._args.values["max_running_requests"] is None:
                self._args.values["max_running_requests"] = 48
                log.main(
                    "Max running requests is reset to 48 for speculative decoding. You can override this by explicitly "
                    "setting --max-running-requests."
                )
            self._args.values["disable_overlap_schedule"] = self._drafting.version == 1
        log.main("Fail to set RLIMIT_NOFILE: current limit exceeds maximum limit")
        log.main(self._args.dump())
        self._pace.load(3)
        log.main("Using default HuggingFace chat template with detected content format: string")

    def _processes(self) -> None:
        self._family.start_ranks(self._tp, self._args.number("base_gpu_id"))
        self._pace.load(25)
        self._distributed(8)

    def _distributed(self, seconds: float) -> None:
        began = time.monotonic()
        self._log.every_rank("Init torch distributed begin.")
        self._pace.load(seconds)
        self._use(0.67 if not self._used_gb else 0.0, busy=0)
        elapsed = time.monotonic() - began
        self._log.every_rank(f"Init torch distributed ends. elapsed={elapsed:.2f} s, mem usage=0.09 GB")

    def _target(self) -> None:
        self._check_room(self._memory.weights)
        shards = _count_shards(self._args.text("model_path") or "")
        self._weights(shards, 120, self._memory.weights, architecture(self._args))
        self._pool(self._memory.kv)

    def _weights(self, shards: int, seconds: float, gigabytes: float, kind: str) -> None:
        """The bar of rank 0; all memory is taken at its begin, as the real engine does."""
        began = time.monotonic()
        self._log.every_rank(f"Load weight begin. avail mem={self._free_gb():.2f} GB")
        self._use(gigabytes, busy=6)
        bar = Bar(shards, shards="Multi-thread loading shards")
        bar.show()
        for shard in range(1, shards + 1):
            self._pace.load(seconds / shards)
            bar.done = shard
            bar.show()
            if failures.wanted() == "silent" and shard * 5 >= shards * 3:
                failures.silently(self._family)
        bar.close()
        self._pace.load(seconds / 12)
        self._log.every_rank(
            f"Load weight end. elapsed={time.monotonic() - began:.2f} s, type={kind}, "
            f"avail mem={self._free_gb():.2f} GB, mem usage={gigabytes:.2f} GB."
        )

    def _pool(self, gigabytes: float) -> None:
        half = gigabytes / 2
        self._log.every_rank("Using KV cache dtype: torch.bfloat16")
        self._use(gigabytes, busy=0)
        self._pace.load(2)
        tokens = self._memory.tokens
        self._log.every_rank(f"KV Cache is allocated. #tokens: {tokens}, K size: {half:.2f} GB, V size: {half:.2f} GB")
        self._log.every_rank(f"Memory pool end. avail mem={self._free_gb():.2f} GB")

    def _graphs(self, what: str, seconds: float, *, gigabytes: float, may_fail: bool = False) -> None:
        """One capture: its bar over the batch sizes from the largest down."""
        began, sizes = time.monotonic(), list(reversed(self._args.values["cuda_graph_bs"]))
        note = "This can take up to several minutes."
        self._log.every_rank(f"Capture {what} begin. {note} avail mem={self._free_gb():.2f} GB")
        if what == "cuda graph":
            self._log.rank(f"Capture cuda graph bs {sorted(sizes)}")
        self._use(gigabytes, busy=45)
        words = [f"Capturing batches (bs={size} avail_mem={self._free_gb():.2f} GB)" for size in sizes]
        self._capture(words, seconds, fail_at=len(words) // 3 if may_fail else -1)
        self._log.every_rank(
            f"Capture {what} end. Time elapsed: {time.monotonic() - began:.2f} s. mem usage={gigabytes:.2f} GB. "
            f"avail mem={self._free_gb():.2f} GB."
        )

    def _capture(self, words: list[str], seconds: float, *, fail_at: int = -1, note: str = "") -> None:
        bar = Bar(len(words))
        steps = max(1, len(words) - 1)
        for step, text in enumerate(words):
            bar.show(text)
            self._pace.load(seconds * (_FIRST_STEP if step == 0 else (1 - _FIRST_STEP) / steps))
            if note and step == 0:
                raw(note)
            if step == fail_at and failures.wanted() == "oom-rank3":
                raw("\n")
                self._fail_for_memory(min(3, self._tp - 1), 1.31)
            bar.done = step + 1
            bar.show(text)
        bar.close()

    def _piecewise(self) -> None:
        began, sizes = time.monotonic(), list(reversed(TOKEN_SIZES))
        self._log.every_rank(f"Capture piecewise CUDA graph begin. avail mem={self._free_gb():.2f} GB")
        self._log.rank(f"Capture cuda graph num tokens {TOKEN_SIZES}")
        stamp = f"[{time.strftime('%Y-%m-%d %H:%M:%S')}{' TP0' if self._tp > 1 else ''}]"
        glued = f"{stamp} Compiling a graph for dynamic shape takes {20 / self._pace.speed:.2f} s\n"
        self._capture([f"Compiling num tokens (num_tokens={size})" for size in sizes], 60, note=glued)
        self._use(PIECEWISE_GB, busy=70)
        words = [f"Capturing num tokens (num_tokens={size} avail_mem={self._free_gb():.2f} GB)" for size in sizes]
        self._capture(words, 15)
        self._log.every_rank(
            f"Capture piecewise CUDA graph end. Time elapsed: {time.monotonic() - began:.2f} s. "
            f"mem usage={PIECEWISE_GB:.2f} GB. avail mem={self._free_gb():.2f} GB."
        )

    def _draft(self) -> None:
        """The draft loads after the target's graphs: every bar begins again at 0."""
        self._log.every_rank("SPECULATIVE_MOE_RUNNER_BACKEND is not initialized, using auto backend")
        self._log.every_rank("SPECULATIVE_MOE_A2A_BACKEND is not initialized, using none backend")
        self._distributed(0.2)
        self._family.start_compile_workers()
        self._weights(1, 8, self._memory.draft, "LlamaForCausalLMEagle3")
        self._pool(2.4)
        self._graphs("draft cuda graph", 70, gigabytes=0.23)
        self._graphs("draft extend cuda graph", 12, gigabytes=0.15)

    def _pool_line(self) -> str:
        return (
            f"max_total_num_tokens={self._memory.tokens}, chunked_prefill_size=8192, max_prefill_tokens=16384, "
            f"max_running_requests={self._args.number('max_running_requests', 2048)}, context_len=131072, "
            f"available_gpu_mem={self._free_gb():.2f} GB"
        )

    def _use(self, gigabytes: float, *, busy: int) -> None:
        self._used_gb += gigabytes
        self._family.hold(self._memory.mib(self._used_gb), busy)

    def _free_gb(self) -> float:
        return max(0.0, FREE_GB + 0.67 - self._used_gb)

    def _check_room(self, gigabytes: float) -> None:
        """Whether the weights fit beside what others hold on our GPUs."""
        for rank, others in self._family.other_holdings_gb():
            if others + gigabytes > FREE_GB:
                self._fail_for_memory(rank, gigabytes, free=max(0.0, FREE_GB - others))

    def _fail_for_memory(self, rank: int, gigabytes: float, *, free: float = 0.42) -> None:
        failures.out_of_memory(self._log, self._family, rank, wanted_gb=gigabytes, held_gb=self._used_gb, free_gb=free)


def _mode_line(version: int, reason: str) -> str:
    """How 0.5.12 tells which worker it took."""
    if version == 2:
        return "Spec v2 is enabled by default for eagle/eagle3/standalone speculative decoding."
    return f"Spec v1 is used for eagle/eagle3/standalone speculative decoding because {reason}"


def _count_shards(path: str) -> int:
    try:
        return sum(name.endswith(".safetensors") for name in os.listdir(path)) or 1
    except OSError:
        return 1

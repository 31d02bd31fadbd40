"""Why a server fails, by its own words: kinds in the order of how much they tell, each with what to do."""

import re
from collections.abc import Collection

from specdeck.quick_dataclass import dataclass, replace


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure that a line tells of; a lower `order` explains more."""

    kind: str
    message: str
    order: int
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of failure and the words that give it away."""

    name: str
    pattern: re.Pattern[str]
    hint: str


def _kind(name: str, pattern: str, hint: str) -> Kind:
    return Kind(name, re.compile(pattern), hint)


KINDS = (
    _kind(
        "bad-argument",
        r"unrecognized arguments|invalid choice|^argument |error: argument |invalid argument: |expected one argument"
        r"|the following arguments are required|not allowed with argument|error while handling argument|ambiguous option",
        "This engine version does not take this flag or value: change the profile's args.",
    ),
    _kind(
        "bad-speculation",
        r"Spec v2 currently only supports topk|speculative_eagle_topk > 1 with page_size|speculative_\w+ .*(?:must|should|only)",
        "This version refuses these speculation numbers: for v2 set speculative-eagle-topk 1 in the profile.",
    ),
    _kind(
        "missing-module",
        r"ModuleNotFoundError|No module named |PackageNotFoundError",
        "The Python of this profile lacks this module: check `python` in the fleet file.",
    ),
    _kind(
        "missing-model",
        r"is not a local folder|Repo id must be|HFValidationError|RepositoryNotFoundError|Cannot find any model weights"
        r"|Invalid repository ID or local directory|failed to open GGUF file|failed to open |failed to load model"
        r"|does not appear to have a file named config\.json",
        "The model path does not exist on this host: check `model` and `draft_model`.",
    ),
    _kind(
        "gated-model",
        r"GatedRepoError|gated repo|401 Client Error",
        "The model needs a token on this host (HF_TOKEN), or a local copy.",
    ),
    _kind(
        "unsupported-model",
        r"Model architectures .*(?:not supported|failed to be inspected)|does not recognize this architecture",
        "This engine version does not know the model's architecture.",
    ),
    _kind(
        "gpu-occupied",
        r"memory capacity is unbalanced|Free memory on device .* is less than",
        "Another process holds memory of these GPUs: end it first.",
    ),
    _kind(
        "not-enough-memory",
        r"Not enough memory\. Please try to increase|No available memory for the cache blocks|To serve at least one request",
        "Too little memory is left for the KV cache: raise --mem-fraction-static (vLLM: --gpu-memory-utilization) or shorten "
        "the context.",
    ),
    _kind(
        "out-of-memory",
        r"OutOfMemoryError|CUDA out of memory|CUDA error: out of memory|cudaMalloc failed: out of memory"
        r"|CUDA runtime error in .*: out of memory"
        r"|unable to allocate \S+ buffer|failed to allocate |not enough GPU memory|[Oo]ut of memory\. Try to lower",
        "Lower --mem-fraction-static or the largest CUDA graph batch, or free the GPU.",
    ),
    _kind(
        "port-in-use",
        r"[Aa]ddress already in use|couldn't bind HTTP server socket|Port is already in use|is used by a process already",
        "Another process listens on this port: stop it or choose another port.",
    ),
    _kind(
        "cannot-bind",
        r"error while attempting to bind",
        "The server may not listen on this address or port: check `bind` and `port`.",
    ),
    _kind(
        "nccl",
        r"NCCL error|DistBackendError|ncclUnhandledCudaError|ncclSystemError|Watchdog caught collective operation timeout",
        "The GPUs could not talk to each other: another rank may have died first.",
    ),
    _kind(
        "warm-up-failed",
        r"res=<Response \[(?:403|407|50[234])\]>|ProxyError|warmup error: (?!Traceback)",
        "Its own warm-up request failed; a proxy? Set no_proxy=localhost,127.0.0.1,0.0.0.0 in the server's `env`, or pass "
        "--skip-server-warmup.",
    ),
    _kind(
        "illegal-access",
        r"illegal memory access|CUDA error: |GGML_ABORT|GGML_ASSERT",
        "A kernel failed; CUDA_LAUNCH_BLOCKING=1 names the right place.",
    ),
    _kind(
        "old-driver",
        r"NVIDIA driver on your system is too old|driver version is insufficient",
        "The driver is older than this build of the engine needs.",
    ),
)
_SQUATTER = re.compile(
    r"Process (?P<pid>\d+) has (?P<size>(?P<number>\d{1,9}(?:\.\d{1,9})?) (?P<unit>[KMG])iB) memory in use"
)
"""What torch says of others; of itself it says `this process has ...`."""
_HOLDS = re.compile(r"^Process (?P<pid>\d+) holds \S+ \SiB of this GPU\. ")
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
_ARGPARSE = re.compile(r"(?:[\w./-][\w./ -]{0,80}: )?error: (?P<message>\S.*)")
_NO_MODULE = re.compile(
    r"(?P<python>\S{0,300}python[\d.]*): (?:No module named (?P<bare>\S+)"
    r"|Error while finding module specification for .*No module named '?(?P<module>[\w.]+))"
)
_NATIVE = re.compile(
    r"terminate called after throwing|Fatal Python error: |Segmentation fault|Bus error|Killed$|Aborted \(core dumped\)"
)
_NATIVE_WORDS = "Watchdog caught collective operation timeout"
_NATIVE_RANK = re.compile(r"\[(rank\d{1,5})\]")
_EXCEPTION_ORDER = len(KINDS)
_DEATH_ORDER = _EXCEPTION_ORDER + 1
_WRAPPER_ORDER = _DEATH_ORDER + 1
WRAPPERS = re.compile(
    r"[Ss]ee root cause above|Engine core initialization failed|EngineDeadError|Received sigquit|SIGQUIT received"
    r"|see the error messages above|WorkerProc initialization failed|exiting due to |BrokenPipeError|Failed core proc"
)
"""Words of a process that only saw another one fail."""


def failure_of(words: str) -> Failure:
    """What an exception or an error line means; a kind of its own, a bare `exception`, or a wrapper of another one."""
    message = words.strip()
    if WRAPPERS.search(message):
        return Failure("child-failed", message, _WRAPPER_ORDER, "The cause is not in this log, or above it.")
    for order, kind in enumerate(KINDS):
        if kind.pattern.search(message):
            return Failure(kind.name, message, order, _hint(kind, message))
    return Failure("exception", message, _EXCEPTION_ORDER)


def early_failure(words: str) -> Failure | None:
    """The last line of a program that ended before it logged: argparse, or a Python that has no such module."""
    if "rror" not in words and "No module" not in words:
        return None
    missing = _NO_MODULE.match(words)
    if missing is not None:
        hint = f"{missing['python']} has no {missing['module'] or missing['bare']}: check `python` in the fleet file."
        return replace(failure_of(words), hint=hint)
    refused = _ARGPARSE.match(words)
    if refused is None:
        return None
    failure = failure_of(refused["message"])
    return failure if failure.kind == "bad-argument" else None


def death_of_a_child(words: str) -> Failure:
    """A process of the server ended; the exit code says how."""
    killed = "-9" in words or words.startswith("Killed")
    hint = "Often the kernel's out-of-memory killer: `dmesg -T | grep -i oom`." if killed else None
    return Failure("killed" if killed else "child-died", words.strip(), _DEATH_ORDER, hint)


def native_death(words: str) -> Failure | None:
    """The last words of a process that no Python exception ended; they have no prefix of the engine."""
    if _NATIVE.match(words) is None and _NATIVE_WORDS not in words:
        return None
    failure = failure_of(words)
    return failure if failure.kind != "exception" else death_of_a_child(words)


def native_rank(words: str) -> str | None:
    """`rank5` of torch's own prefix."""
    match = _NATIVE_RANK.match(words)
    return match[1] if match else None


def hint_beside(hint: str, own: Collection[int]) -> str:
    """The hint of an out-of-memory error, without a holder that is one of the server's own processes.

    In a container torch does not know its own number on the host, and calls itself another process.
    """
    holder = _HOLDS.match(hint)
    return hint[holder.end() :] if holder is not None and int(holder["pid"]) in own else hint


def _hint(kind: Kind, message: str) -> str:
    """With the largest of the others that torch names; where it names only itself there is nobody to free the GPU of."""
    if kind.name != "out-of-memory":
        return kind.hint
    others = list(_SQUATTER.finditer(message))
    if others:
        most = max(others, key=lambda each: float(each["number"]) * _UNITS[each["unit"]])
        return f"Process {most['pid']} holds {most['size']} of this GPU. {kind.hint}"
    return kind.hint.replace(", or free the GPU", "") if "this process has" in message else kind.hint

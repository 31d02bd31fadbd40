"""The one name of a flag that has several, and when two values are the same: to compare a command of others with ours.

Read from the parsers: SGLang 0.5.23 (`ServerArgs.add_cli_args`), vLLM 0.32 (`make_arg_parser`), llama.cpp (`common/arg.cpp`).
SGLang's argparse takes any beginning of a name that only one flag has; `--tp`, `--dp` and `--pp` are those that people write.
"""

import json
from collections.abc import Mapping, Sequence

from specdeck.engines.command import flags_of

_ALIASES: Mapping[str, Mapping[str, str]] = {
    "sglang": {
        "--model": "--model-path",
        "--nccl-init-addr": "--dist-init-addr",
        "--tp": "--tp-size",
        "--tensor-parallel-size": "--tp-size",
        "--pp": "--pp-size",
        "--pipeline-parallel-size": "--pp-size",
        "--dp": "--dp-size",
        "--data-parallel-size": "--dp-size",
        "--ep": "--ep-size",
        "--expert-parallel-size": "--ep-size",
        "--speculative-draft-model": "--speculative-draft-model-path",
        "--enable-hicache": "--enable-hierarchical-cache",
    },
    "vllm": {
        "-tp": "--tensor-parallel-size",
        "-pp": "--pipeline-parallel-size",
        "-dp": "--data-parallel-size",
        "-ep": "--enable-expert-parallel",
        "-q": "--quantization",
        "-O": "--compilation-config",
        "-cc": "--compilation-config",
        "-sc": "--speculative-config",
    },
    "llamacpp": {
        "-m": "--model",
        "-c": "--ctx-size",
        "-ngl": "--n-gpu-layers",
        "--gpu-layers": "--n-gpu-layers",
        "-np": "--parallel",
        "-t": "--threads",
        "-b": "--batch-size",
        "-ub": "--ubatch-size",
        "-fa": "--flash-attn",
        "-a": "--alias",
        "-hf": "--hf-repo",
        "-md": "--model-draft",
    },
    "tgi": {"-p": "--port"},
}


def one_name(engine: str, flag: str) -> str:
    """`--tp-size` for `--tp`, `--tp_size` and `--tensor-parallel-size` of SGLang."""
    flag = flag if flag.startswith("-") else f"--{flag}"
    spelt = flag.replace("_", "-")
    return _ALIASES.get(engine, {}).get(spelt, spelt)


def named_flags(engine: str, argv: Sequence[str]) -> dict[str, str]:
    """The flags of a command line by their one name; of two spellings the last counts, as the parser has it."""
    return {one_name(engine, flag): value for flag, value in flags_of(argv).items()}


def is_same_value(one: str | None, other: str | None) -> bool:
    """`0.90` is `0.9`, and JSON is the same in any spacing and order."""
    if one == other or one is None or other is None:
        return one == other
    try:
        return bool(json.loads(one) == json.loads(other))
    except (ValueError, RecursionError):
        return False

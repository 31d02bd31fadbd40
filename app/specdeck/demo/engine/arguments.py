"""SGLang's own flags, as 0.5.12 knows them: server_args.json holds every name and default."""

import argparse
import json
import os
from collections.abc import Sequence
from typing import Any

_DEFAULTS = os.path.join(os.path.dirname(__file__), "server_args.json")
_ALIASES = {
    "model_path": ("--model",),
    "tp_size": ("--tensor-parallel-size", "--tp"),
    "pp_size": ("--pipeline-parallel-size",),
    "dp_size": ("--data-parallel-size",),
    "ep_size": ("--expert-parallel-size", "--ep"),
    "speculative_draft_model_path": ("--speculative-draft-model",),
    "attn_cp_size": ("--attention-context-parallel-size",),
    "moe_dp_size": ("--moe-data-parallel-size",),
}
_CHOICES = {"speculative_algorithm": ("DFLASH", "EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "NGRAM")}
_INTEGERS = frozenset(
    (
        "max_running_requests", "cuda_graph_max_bs", "random_seed", "context_length", "max_total_tokens",
        "speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens", "nccl_port",
    )
)  # fmt: skip
"""Flags whose default (none) does not tell their type."""
_FLOATS = frozenset(("mem_fraction_static",))


class _Page(argparse.HelpFormatter):
    """The width that the real usage page has in a file."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=78)


class ServerArgs:
    """What the engine was told, defaults filled in; one attribute a flag."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def text(self, name: str) -> str | None:
        """A flag's text, if it was given."""
        value = self.values.get(name)
        return None if value is None else str(value)

    def number(self, name: str, default: int = 0) -> int:
        """A whole number."""
        value = self.values.get(name)
        return default if value is None else int(value)

    def is_on(self, name: str) -> bool:
        """A bare flag."""
        return bool(self.values.get(name))

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser) -> None:
        """Every flag, as the engine's own method does."""
        for name, default in read_defaults().items():
            _add(parser, name, default)

    @classmethod
    def from_cli_args(cls, args: argparse.Namespace) -> "ServerArgs":
        """What argparse found."""
        return cls({name: getattr(args, name) for name in read_defaults()})

    def dump(self) -> str:
        """`server_args=ServerArgs(model_path=..., ...)`."""
        return "server_args=ServerArgs(" + ", ".join(f"{name}={value!r}" for name, value in self.values.items()) + ")"


def read_defaults() -> dict[str, Any]:
    """All names with their defaults, in the order of the real dump."""
    with open(_DEFAULTS, encoding="utf-8") as file:
        defaults: dict[str, Any] = json.load(file)
    return defaults


def _add(parser: argparse.ArgumentParser, name: str, default: object) -> None:
    flags = ("--" + name.replace("_", "-"), *_ALIASES.get(name, ()))
    if isinstance(default, bool):
        parser.add_argument(*flags, dest=name, action="store_false" if default else "store_true")
    elif isinstance(default, list) or (name.endswith(("_bs", "_urls")) and name != "cuda_graph_max_bs"):
        parser.add_argument(*flags, dest=name, nargs="+", default=default)
    else:
        kind = _type_of(name, default)
        required = name == "model_path"
        parser.add_argument(
            *flags, dest=name, type=kind, default=default, choices=_CHOICES.get(name), required=required
        )


def _type_of(name: str, default: object) -> type[int] | type[float] | type[str]:
    if isinstance(default, float) or name in _FLOATS:
        return float
    return int if isinstance(default, int) or name in _INTEGERS else str


def prepare_server_args(argv: Sequence[str]) -> ServerArgs:
    """The command line as settled arguments; a wrong one ends the process with code 2 and the usage page."""
    parser = argparse.ArgumentParser(prog="sglang serve", formatter_class=_Page, allow_abbrev=False)
    ServerArgs.add_cli_args(parser)
    args = ServerArgs.from_cli_args(parser.parse_args(argv))
    _settle(args.values)
    return args


def _settle(values: dict[str, Any]) -> None:
    """What the engine derives from what it was told."""
    values["tokenizer_path"] = values["tokenizer_path"] or values["model_path"]
    values["served_model_name"] = values["served_model_name"] or values["model_path"]
    values["mem_fraction_static"] = values["mem_fraction_static"] or 0.8
    if values["speculative_algorithm"]:
        for name, chosen in (("num_steps", 3), ("eagle_topk", 1), ("num_draft_tokens", 4)):
            values[f"speculative_{name}"] = values[f"speculative_{name}"] or chosen
        values["cuda_graph_bs"] = values["cuda_graph_bs"] or _graph_sizes(values, dense=True)
    values["cuda_graph_bs"] = values["cuda_graph_bs"] or _graph_sizes(values, dense=False)


def _graph_sizes(values: dict[str, Any], *, dense: bool) -> list[int]:
    limit = values["cuda_graph_max_bs"] or values["max_running_requests"] or 64
    sizes = [*range(1, 9), *range(10, 33, 2), 40, *range(44, 65, 4)] if dense else [1, 2, 4, *range(8, 65, 8), 12]
    return sorted(size for size in sizes if size <= limit)

"""Asks SGLang's own parser whether it knows these flags: `ServerArgs.add_cli_args`, there in every release."""

from collections.abc import Mapping

from specdeck.engines.asking_flags import asking, share, whole
from specdeck.engines.base import GpuUse

SCRIPT = asking("""\
import argparse
try:
    from sglang.srt.plugins import load_plugins
    load_plugins()
except ImportError:
    pass
from sglang.srt.server_args import ServerArgs
class Parser(argparse.ArgumentParser):
    def error(self, message):
        tell("refused", message)
parser = Parser(prog="sglang")
ServerArgs.add_cli_args(parser)
args = parser.parse_args(sys.argv[1:])
try:
    ServerArgs.from_cli_args(args)
except (ValueError, AssertionError) as error:
    tell("doubtful", error)
except Exception:
    pass
""")
"""What `from_cli_args` says without a GPU is no proof: only some releases check there, and some look for the GPU first."""


def gpu_use(flags: Mapping[str, str]) -> GpuUse:
    """Tensor times pipeline ranks on this host; replicas as well, unless they share them (`--enable-dp-attention`)."""
    if flags.get("--device") == "cpu":
        return GpuUse(count=0)
    ranks = whole(flags, "--tp-size", "--tp", "--tensor-parallel-size") * whole(
        flags, "--pp-size", "--pp", "--pipeline-parallel-size"
    )
    if "--enable-dp-attention" not in flags:
        ranks *= whole(flags, "--dp-size", "--dp", "--data-parallel-size")
    return GpuUse(
        count=max(1, ranks // whole(flags, "--nnodes")),
        first=whole(flags, "--base-gpu-id", default=0),
        step=whole(flags, "--gpu-id-step"),
        memory_share=share(flags, "--mem-fraction-static"),
        share_flag="--mem-fraction-static",
    )

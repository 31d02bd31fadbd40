"""Asks vLLM's own parser whether it knows these flags: `make_arg_parser`, whose module moved between releases."""

from collections.abc import Mapping

from specdeck.engines.asking_flags import asking, share, whole
from specdeck.engines.base import GpuUse

SCRIPT = asking("""\
try:
    from vllm.entrypoints.openai import cli_args as cli
except ImportError:
    from vllm.entrypoints.launchers import cli_args as cli
class Parser(cli.FlexibleArgumentParser):
    def error(self, message):
        tell("refused", message)
parser = cli.make_arg_parser(Parser(prog="vllm serve"))
args = parser.parse_args(sys.argv[1:])
args.subparser = "serve"
try:
    cli.validate_parsed_serve_args(args)
except (ValueError, TypeError) as error:
    tell("refused" if isinstance(error, ValueError) or "--" in str(error) else "doubtful", error)
except Exception:
    pass
""")


def gpu_use(flags: Mapping[str, str]) -> GpuUse:
    """Tensor times pipeline ranks times replicas, from the first GPU that it may see."""
    ranks = 1
    for short, long in (
        ("-tp", "--tensor-parallel-size"),
        ("-pp", "--pipeline-parallel-size"),
        ("-dp", "--data-parallel-size"),
    ):
        ranks *= whole(flags, short, long)
    return GpuUse(
        count=ranks,
        memory_share=share(flags, "--gpu-memory-utilization"),
        share_flag="--gpu-memory-utilization",
    )

"""SGLang: log grammar, phases, speculation, endpoints, command line."""

import re
from collections.abc import Mapping, Sequence

from specdeck.config.objects import ArgValue, Server
from specdeck.engines.base import GpuUse, LogGrammar, Probe
from specdeck.engines.commands import module_of, program_of
from specdeck.engines.sglang.answers import read_load, read_metrics, read_server
from specdeck.engines.sglang.flags import SCRIPT as FLAGS_SCRIPT
from specdeck.engines.sglang.flags import gpu_use
from specdeck.engines.sglang.grammar import SglangGrammar
from specdeck.engines.sglang.modes import mode_note
from specdeck.state.load import LoadReading

_OWN_WORDS = re.compile(
    r"server_args=(?:ServerArgs\(|\{')|sglang[.:/ ]|launch_server\.py: error: |Load weight begin\."
    r"|^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})?(?: (?:DP|PP|ATTN_CP|MOE_DP|TP|EP)\d+)+\] "
    r"|(?:Decode|Prefill) batch(?: \[\d+\])?[.,] #"
)


class Sglang:
    """SGLang, from 0.5.2 to 0.5.23."""

    name = "sglang"
    title = "SGLang"
    default_port = 30000
    worker_titles: tuple[str, ...] = ("sglang::",)
    command_words = "sglang|launch_server"
    metrics_flag: str | None = "--enable-metrics"
    probes: tuple[Probe, ...] = (
        Probe("health", "/health", every_seconds=10.0, limit_seconds=25.0),
        Probe("health", "/ready", every_seconds=5.0, limit_seconds=10.0, requires=">=0.5.20"),
        Probe("load", "/v1/loads", every_seconds=2.0, limit_seconds=5.0),
        Probe("metrics", "/metrics", every_seconds=2.0, limit_seconds=5.0, unseen_seconds=4.0),  # 63 KB a page
        Probe("details", "/server_info", every_seconds=300.0, limit_seconds=10.0),
    )
    ready_words = "The server is fired up and ready to roll!"
    api_key_variable: str | None = None
    abort: tuple[str, str] | None = ("/abort_request", '{"rid": "", "abort_all": true}')

    def grammar(self) -> LogGrammar:
        """A fresh reading of a log."""
        return SglangGrammar()

    def recognises_command(self, argv: Sequence[str]) -> bool:
        """`python -m sglang.launch_server ...` or `sglang serve ...`, not its workers, routers or benchmarks."""
        if module_of(argv) == "sglang.launch_server":
            return True
        program, rest = program_of(argv)
        return program == "launch_server.py" or (program == "sglang" and rest[:1] == ("serve",))

    def recognises_line(self, text: str) -> bool:
        """Whether only SGLang writes this."""
        return _OWN_WORDS.search(text) is not None

    def entry(self, server: Server) -> tuple[str, ...]:
        """`PYTHON -m sglang.launch_server`."""
        return (server.python, "-m", "sglang.launch_server")

    def own_args(self, server: Server) -> Mapping[str, ArgValue]:
        """Model, address and port of the fleet file."""
        return {"model-path": server.model, "host": server.bind, "port": server.port}

    def version_script(self) -> str:
        """Prints the version without importing the engine."""
        return "import importlib.metadata as m; print(m.version('sglang'))"

    def launch_notes(self, version: str, flags: Mapping[str, str], env: Mapping[str, str]) -> tuple[str, ...]:
        """Which speculation worker this version starts."""
        note = mode_note(version, flags, env)
        return (note,) if note else ()

    def flags_script(self) -> str | None:
        """Asks `ServerArgs.add_cli_args`."""
        return FLAGS_SCRIPT

    def flag_words(self, argv: Sequence[str]) -> Sequence[str]:
        """After `PYTHON -m sglang.launch_server`."""
        return argv[3:]

    def gpu_use(self, flags: Mapping[str, str]) -> GpuUse:
        """Tensor times pipeline ranks, from `--base-gpu-id` on; replicas too, unless attention alone is split."""
        return gpu_use(flags)

    def read_answer(self, probe: Probe, body: bytes) -> LoadReading:
        """What an answer says of the load."""
        match probe.kind:
            case "load":
                return read_load(body)
            case "metrics":
                return read_metrics(body)
            case "details":
                return read_server(body)
            case _:
                return LoadReading()

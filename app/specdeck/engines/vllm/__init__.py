"""vLLM: log grammar, endpoints, command line."""

import re
from collections.abc import Mapping, Sequence

from specdeck.config.objects import ArgValue, Server
from specdeck.engines.base import GpuUse, LogGrammar, Probe
from specdeck.engines.commands import module_of, program_of
from specdeck.engines.vllm.answers import read_metrics, read_version
from specdeck.engines.vllm.flags import SCRIPT as FLAGS_SCRIPT
from specdeck.engines.vllm.flags import gpu_use
from specdeck.engines.vllm.grammar import VllmGrammar
from specdeck.state.load import LoadReading

_OWN_WORDS = re.compile(
    r"\((?:APIServer|ApiServer_\d+|EngineCore\w*|Worker\w*|VllmWorker\S*|DPCoordinator)(?: rank=\d+)? pid=\d+\)"
    r"|vLLM (?:API )?server version|^vllm(?: \w+)?: error: |site-packages/vllm/"
    r"|^(?:DEBUG|INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[|No module named '?vllm"
)
_SERVER_MODULES = ("vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server")
_CLI_MODULE = "vllm.entrypoints.cli.main"


class Vllm:
    """vLLM, from 0.9 to 0.33."""

    name = "vllm"
    title = "vLLM"
    default_port = 8000
    worker_titles: tuple[str, ...] = ("VLLM::",)
    command_words = "vllm"
    metrics_flag: str | None = None
    probes: tuple[Probe, ...] = (
        Probe("health", "/health", every_seconds=5.0, limit_seconds=10.0),
        Probe("metrics", "/metrics", every_seconds=2.0, limit_seconds=5.0),
        Probe("details", "/version", every_seconds=300.0, limit_seconds=5.0),
    )
    ready_words = "Application startup complete."
    api_key_variable: str | None = "VLLM_API_KEY"
    abort: tuple[str, str] | None = None

    def grammar(self) -> LogGrammar:
        """A fresh reading of a log."""
        return VllmGrammar()

    def recognises_command(self, argv: Sequence[str]) -> bool:
        """`vllm serve ...` or one of its server modules, not a benchmark or a worker."""
        module = module_of(argv)
        if module is not None:
            return module in _SERVER_MODULES or (module == _CLI_MODULE and "serve" in argv[:6])
        program, rest = program_of(argv)
        return program == "vllm" and rest[:1] == ("serve",)

    def recognises_line(self, text: str) -> bool:
        """Whether only vLLM writes this."""
        return _OWN_WORDS.search(text) is not None

    def entry(self, server: Server) -> tuple[str, ...]:
        """`PYTHON -m vllm.entrypoints.cli.main serve MODEL`: what `vllm serve` runs, with the profile's own Python."""
        return (server.python, "-m", _CLI_MODULE, "serve", server.model)

    def own_args(self, server: Server) -> Mapping[str, ArgValue]:
        """Address and port of the fleet file; the model is an argument without a flag."""
        return {"host": server.bind, "port": server.port}

    def version_script(self) -> str:
        """Prints the version without importing the engine."""
        return "import importlib.metadata as m; print(m.version('vllm'))"

    def launch_notes(self, version: str, flags: Mapping[str, str], env: Mapping[str, str]) -> tuple[str, ...]:
        """Nothing yet."""
        return ()

    def flags_script(self) -> str | None:
        """Asks `make_arg_parser`."""
        return FLAGS_SCRIPT

    def flag_words(self, argv: Sequence[str]) -> Sequence[str]:
        """From the model on, after `... serve`."""
        return argv[4:]

    def gpu_use(self, flags: Mapping[str, str]) -> GpuUse:
        """Tensor times pipeline ranks times replicas."""
        return gpu_use(flags)

    def read_answer(self, probe: Probe, body: bytes) -> LoadReading:
        """What an answer says of the load."""
        match probe.kind:
            case "metrics":
                return read_metrics(body)
            case "details":
                return read_version(body)
            case _:
                return LoadReading()

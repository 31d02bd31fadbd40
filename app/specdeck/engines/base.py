"""What specdeck must know of an engine: its log, its endpoints, its command line. One file each implements it."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from specdeck.config.objects import ArgValue, Server
from specdeck.parsing.lines import Line, Lines
from specdeck.quick_dataclass import dataclass
from specdeck.state.load import LoadReading
from specdeck.state.log_story import LogStory

ProbeKind = Literal["health", "load", "metrics", "details"]


@dataclass(frozen=True, slots=True)
class Probe:
    """An HTTP endpoint and how often it may be asked: some cost a generation."""

    kind: ProbeKind
    path: str
    every_seconds: float
    limit_seconds: float
    requires: str = ""
    """Asked of a version that is known to be such (`>=0.5.20`), instead of the one of its kind that asks for none."""
    unseen_seconds: float | None = None
    """How often it is asked of a server that a dashboard does not look at; None: as often as of one in sight."""


@dataclass(frozen=True, slots=True)
class GpuUse:
    """Which of the GPUs that it may see a command line takes, and how much of each."""

    count: int | None
    """None: all of them; 0: it runs without."""
    first: int = 0
    step: int = 1
    memory_share: float | None = None
    """The part of each GPU's memory that it will take, 0 to 1; None: it decides when it starts."""
    share_flag: str = ""
    """The flag that sets the part."""


class LogGrammar(Protocol):
    """One reading of one log: keeps what it must remember between lines. Never raises on content."""

    @property
    def story(self) -> LogStory:
        """What the log has told so far."""

    def read(self, lines: Lines, at: float) -> None:
        """Complete lines that arrived together, `at` unix seconds by the reader's clock; the same as each on its own."""

    def peek(self, line: Line, at: float) -> None:
        """A line that has no end yet: only a complete bar in it counts."""

    def end(self) -> None:
        """The file is complete and will not grow: what it leaves open becomes a warning."""


class Engine(Protocol):
    """One engine."""

    name: str
    """`sglang`, `vllm`, ...: the word in profiles."""
    title: str
    """`SGLang`."""
    default_port: int
    worker_titles: tuple[str, ...]
    """How the process titles of its workers begin; empty: it has none."""
    command_words: str
    """An extended regular expression that the command line of each of its servers holds: only these are looked at closer."""
    probes: tuple[Probe, ...]
    metrics_flag: str | None
    """What a user must add to have `/metrics`; None: it always has them, or never."""
    ready_words: str
    """What the log says once the server is ready; alone it proves nothing: the port must be its own as well."""
    api_key_variable: str | None
    """The variable from which the engine takes its API key; empty: there is no way past ps; None: by a file for `--config`."""
    abort: tuple[str, str] | None
    """Path and JSON body of the request that ends what still runs, for a drain that takes too long; None: there is none."""

    def grammar(self) -> LogGrammar:
        """A fresh reading of a log from its first byte."""

    def recognises_command(self, argv: Sequence[str]) -> bool:
        """Whether a process with this command line is a server of this engine (its main process, not a worker or a client)."""

    def recognises_line(self, text: str) -> bool:
        """Whether a log line can only be this engine's."""

    def entry(self, server: Server) -> tuple[str, ...]:
        """How a server is started, up to the first flag: `PYTHON -m sglang.launch_server`."""

    def own_args(self, server: Server) -> Mapping[str, ArgValue]:
        """The flags that come from the fleet's own keys: model path, bind address, port."""

    def version_script(self) -> str:
        """A line of Python for the server's interpreter that prints the engine's version, without importing the engine."""

    def flags_script(self) -> str | None:
        """A program for the server's interpreter that asks the engine's own parser (see asking_flags); None: there is no way."""

    def flag_words(self, argv: Sequence[str]) -> Sequence[str]:
        """What of the argument list that program gets."""

    def gpu_use(self, flags: Mapping[str, str]) -> GpuUse:
        """The GPUs that these flags ask for."""

    def read_answer(self, probe: Probe, body: bytes) -> LoadReading:
        """What an answer with status 200 of a probe says. Never raises on content."""

    def launch_notes(self, version: str, flags: Mapping[str, str], env: Mapping[str, str]) -> tuple[str, ...]:
        """What this version makes of these flags that the profile's name does not say."""

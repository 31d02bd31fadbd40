"""A server of which nobody knows the engine: its process, port, HTTP, log and GPUs tell enough to watch it."""

from collections.abc import Sequence

from specdeck.engines.base import LogGrammar, Probe
from specdeck.engines.plain import PlainEngine
from specdeck.engines.sglang.grammar import SglangGrammar


class Unknown(PlainEngine):
    """In no registry: nothing is recognised as it, and no profile can name it."""

    name = ""
    title = "unknown engine"
    default_port = 0
    command_words = ""
    probes: tuple[Probe, ...] = (Probe("health", "/health", every_seconds=10.0, limit_seconds=25.0),)
    """Most engines have it; of one that answers 404 there, the answer itself is the sign of life."""
    ready_words = ""

    def grammar(self) -> LogGrammar:
        """Bars and tracebacks look alike everywhere."""
        return SglangGrammar()

    def recognises_command(self, argv: Sequence[str]) -> bool:
        """Nothing."""
        return False

    def recognises_line(self, text: str) -> bool:
        """Nothing."""
        return False


UNKNOWN = Unknown()

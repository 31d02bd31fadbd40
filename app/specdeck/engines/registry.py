"""All engines that specdeck knows, by the word that profiles use."""

from collections.abc import Mapping

from specdeck.engines.base import Engine
from specdeck.engines.llamacpp import LlamaCpp
from specdeck.engines.ollama import Ollama
from specdeck.engines.sglang import Sglang
from specdeck.engines.tgi import Tgi
from specdeck.engines.trtllm import TrtLlm
from specdeck.engines.vllm import Vllm

_ALL: tuple[Engine, ...] = (Sglang(), Vllm(), LlamaCpp(), Tgi(), TrtLlm(), Ollama())
ENGINES: Mapping[str, Engine] = {engine.name: engine for engine in _ALL}
COMMAND_WORDS = "|".join(engine.command_words for engine in ENGINES.values())
"""An extended regular expression: what a command line must hold to be looked at closer."""

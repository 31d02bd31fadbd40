"""All engines that specdeck knows, by the word that profiles use."""

from collections.abc import Mapping

from specdeck.engines.base import Engine
from specdeck.engines.llamacpp import LlamaCpp
from specdeck.engines.sglang import Sglang
from specdeck.engines.vllm import Vllm

_ALL: tuple[Engine, ...] = (Sglang(), Vllm(), LlamaCpp())
ENGINES: Mapping[str, Engine] = {engine.name: engine for engine in _ALL}

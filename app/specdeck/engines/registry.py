"""All engines that specdeck knows, by the word that profiles use."""

from collections.abc import Mapping

from specdeck.engines.base import Engine
from specdeck.engines.sglang import Sglang

ENGINES: Mapping[str, Engine] = {engine.name: engine for engine in (Sglang(),)}

"""specdeck: a terminal dashboard for engineers who babysit LLM inference servers on GPU hosts."""

__version__ = "0.1.0"

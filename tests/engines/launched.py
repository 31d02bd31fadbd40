"""A server of a fleet file, for tests of what launches it."""

from typing import Any

from specdeck.config.objects import Server


def a_server(**changes: Any) -> Server:  # noqa: ANN401 - whatever a field takes
    """`kimi` on `lab`, with what is said otherwise."""
    return Server(**{"name": "kimi", "host": "lab", "model": "/m/kimi", "port": 30000, "profiles": ("p",), **changes})

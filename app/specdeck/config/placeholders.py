"""`{model}` and its kind in profile arguments: only declared names expand, every other brace stays as it is written.

JSON is full of braces, so nothing is an error here but what is nearly a declared name.
"""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from specdeck.config.objects import Server
from specdeck.errors import UsageError

NAMES = ("name", "host", "model", "draft_model", "port", "bind", "python", "node_rank", "nnodes", "head")

_KNOWN = "|".join(NAMES)
_PLACEHOLDER = re.compile(rf"\{{\{{(?P<literal>{_KNOWN})\}}\}}|\{{(?P<name>{_KNOWN})\}}")
_LOOKALIKE = re.compile(r"(?<!\{)\{(?P<name>[A-Za-z][A-Za-z_-]*)\}(?!\})")


def values_of(server: Server) -> Mapping[str, str | None]:
    """What the placeholders stand for; None: this server does not say."""
    group = server.group
    return {
        "name": group.name if group else server.name,
        "host": server.host,
        "model": server.model,
        "draft_model": server.draft_model,
        "port": str(server.port),
        "bind": server.bind,
        "python": server.python,
        "node_rank": str(group.rank) if group else None,
        "nnodes": str(len(group.hosts)) if group else None,
        "head": group.head if group else None,
    }


def used_in(text: str) -> Iterator[str]:
    """The declared placeholders of a text."""
    return (match["name"] for match in _PLACEHOLDER.finditer(text) if match["name"])


def misspelt_in(text: str) -> Iterator[tuple[str, str]]:
    """What looks like a declared placeholder and is none: (as written, nearest)."""
    for match in _LOOKALIKE.finditer(text):
        near = get_close_matches(match["name"], NAMES, n=1, cutoff=0.75)
        if near and near[0] != match["name"]:
            yield match["name"], near[0]


def expand(text: str, values: Mapping[str, str | None]) -> str:
    """The text with its placeholders filled in; `{{model}}` is the literal `{model}`. Raises UsageError."""

    def fill(match: re.Match[str]) -> str:
        if match["literal"]:
            return f"{{{match['literal']}}}"
        value = values.get(match["name"])
        if value is None:
            raise UsageError(
                f"`{{{match['name']}}}` is used and the server has no `{match['name']}`: set it in the fleet file"
            )
        return value

    return _PLACEHOLDER.sub(fill, text)

"""The tokens of ssh_config(5), `%h` and its kind, and `${NAME}` of the environment: `ssh -G` prints some lines as they stand."""

import os
import re
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

_TOKEN = re.compile(r"%(.)")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def tokens(*, host: str, name: str, port: int, user: str, local_user: str, alias: str | None) -> dict[str, str]:
    """What each letter stands for: the host as resolved (`h`), as typed (`n`) and as its key is known (`k`), and so on."""
    here = socket.gethostname()
    return {
        "%": "%",
        "h": host,
        "n": name,
        "k": alias or name,
        "p": str(port),
        "r": user,
        "u": local_user,
        "i": str(os.getuid()),
        "d": str(Path.home()),
        "l": here,
        "L": here.partition(".")[0],
    }


def expand(text: str, values: Mapping[str, str], quoted: Callable[[str], str] = str) -> str:
    """Each token once, from left to right, so that `%%h` stays `%h`; one that is not known stays as it is."""

    def value(match: re.Match[str]) -> str:
        found = values.get(match[1])
        return match[0] if found is None else found if match[1] == "%" else quoted(found)

    return _TOKEN.sub(value, text)


def expand_path(text: str, values: Mapping[str, str]) -> Path:
    """A file of the configuration; a variable that is not set stays as it is written."""
    with_variables = _VARIABLE.sub(lambda match: os.environ.get(match[1], match[0]), text)
    return Path(expand(with_variables, values)).expanduser()

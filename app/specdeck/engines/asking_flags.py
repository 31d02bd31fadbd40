"""The program that asks an engine's own argument parser on the host: by the server's interpreter, without a GPU, in bounded time.

It gets the server's argument list and prints one line: `specdeck-flags known`, `refused SENTENCE` (the engine would not start),
`doubtful SENTENCE` (its check may need the GPU that is hidden here), or `unknown REASON` (it could not be asked).
"""

from collections.abc import Mapping
from textwrap import indent

MARK = "specdeck-flags"
LIMIT_SECONDS = 60

_FRAME = """\
import os, signal, sys
signal.alarm({limit})
def tell(word, text=""):
    print("\\n{mark}", word, " ".join(str(text).split())[:500], flush=True)
    os._exit(0)
try:
{body}
    tell("known")
except BaseException as error:
    tell("unknown", f"{{type(error).__name__}}: {{error}}")
"""


def asking(body: str) -> str:
    """The whole program; `body` imports the parser, and calls `tell` where it has more to say than that all is known."""
    return _FRAME.format(limit=LIMIT_SECONDS, mark=MARK, body=indent(body, "    "))


def whole(flags: Mapping[str, str], *names: str, default: int = 1) -> int:
    """The whole number of the first of these flags that is there."""
    said = next((flags[name] for name in names if name in flags), "")
    return int(said) if said.isdecimal() and (default == 0 or int(said) > 0) else default


def share(flags: Mapping[str, str], name: str) -> float | None:
    """A part between 0 and 1; None where the flag is not there or is something else."""
    try:
        part = float(flags[name])
    except (KeyError, ValueError):
        return None
    return part if 0 < part <= 1 else None

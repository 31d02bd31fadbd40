"""What is printed, in plain ASCII: for terminals and logs that have nothing else. JSON stays exact, by its own escapes."""

import codecs
import io
import sys

NAME = "specdeck-ascii"


def print_ascii_only() -> None:
    """From now on, on stdout and stderr."""
    codecs.register_error(NAME, _spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="ascii", errors=NAME)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    from specdeck.parsing.ascii_only import ascii_only

    assert isinstance(error, UnicodeEncodeError)  # noqa: S101 - it is registered for writing only
    return ascii_only(error.object[error.start : error.end]), error.end

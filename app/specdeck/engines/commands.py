"""What an argument list of a process says: which program, which Python module."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

_PYTHON = re.compile(r"python[\d.]*")


def program_of(argv: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The program's file name and its arguments; of `python SCRIPT ...` the script's."""
    if not argv:
        return "", ()
    program = PurePosixPath(argv[0]).name
    rest = tuple(argv[1:])
    if _PYTHON.fullmatch(program) is None:
        return program, rest
    index = next((index for index, word in enumerate(rest) if not word.startswith("-")), None)
    if index is None or "-m" in rest[:index] or "-c" in rest[:index]:
        return program, rest
    return PurePosixPath(rest[index]).name, rest[index + 1 :]


def module_of(argv: Sequence[str]) -> str | None:
    """`a.b` of `python -m a.b ...`; None for anything else."""
    if not argv or _PYTHON.fullmatch(PurePosixPath(argv[0]).name) is None:
        return None
    for index, word in enumerate(argv[1:-1], start=1):
        if word == "-m":
            return argv[index + 1]
        if not word.startswith("-"):
            return None
    return None


def head_length(argv: Sequence[str]) -> int:
    """How many words say what runs, before what it gets: 3 of `python -m a.b --flag`, 1 of `llama-server -m FILE`."""
    if not argv or _PYTHON.fullmatch(PurePosixPath(argv[0]).name) is None:
        return min(1, len(argv))
    for index, word in enumerate(argv[1:], start=1):
        if word in ("-m", "-c"):
            return min(index + 2, len(argv))
        if word.startswith("--"):
            return index
        if not word.startswith("-"):
            return index + 1
    return len(argv)

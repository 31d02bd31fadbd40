"""The user's own editor on a file, in the terminal that the dashboard leaves to it meanwhile; monitors go on."""

import asyncio
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

FALLBACKS = "vi"


def editor_words(environment: Mapping[str, str] = os.environ) -> list[str]:
    """`$VISUAL`, else `$EDITOR`, else vi; each may carry arguments of its own."""
    named = environment.get("VISUAL", "").strip() or environment.get("EDITOR", "").strip() or FALLBACKS
    try:
        return shlex.split(named) or [FALLBACKS]
    except ValueError:
        return [named]


async def edit(path: Path) -> str | None:
    """Until the editor is closed; what went wrong in words, None: nothing."""
    words = editor_words()
    try:
        process = await asyncio.create_subprocess_exec(*words, str(path))
    except OSError as error:
        return f"{words[0]} cannot be started ({error.strerror}): set $VISUAL or $EDITOR"
    status = await process.wait()
    return f"{words[0]} ended with status {status}" if status else None

"""What leaves this machine on the user's own wish: a command of theirs and a webhook; what goes wrong is one sentence."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from specdeck.errors import TransportError
from specdeck.transport.words import said

LIMIT_SECONDS = 10.0


async def run_command(argv: Sequence[str], *, environment: Mapping[str, str], stdin: bytes) -> None:
    """Run a command of the user's on this machine, in a session of its own. Raises TransportError."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **environment},
            start_new_session=True,
        )
    except (OSError, ValueError) as err:
        raise TransportError(f"{argv[0]} cannot be run: {getattr(err, 'strerror', None) or err}") from err
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            _, complaint = await process.communicate(stdin)
    except TimeoutError as err:
        raise TransportError(f"{argv[0]} did not end within {LIMIT_SECONDS:g} s") from err
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode:
        words = said(complaint.strip().rpartition(b"\n")[2])
        raise TransportError(f"{argv[0]} ended with {process.returncode}{f': {words}' if words else ''}")


async def post_json(address: str, body: Mapping[str, object]) -> None:
    """POST to a webhook of the user's, through the proxies of the environment. Raises TransportError, without the secret path."""
    import httpx

    place = urlsplit(address).hostname or "the webhook"
    try:
        async with httpx.AsyncClient(timeout=LIMIT_SECONDS, follow_redirects=False) as client:
            answer = await client.post(address, json=dict(body))
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as err:
        raise TransportError(f"the webhook at {place} could not be told: {type(err).__name__}") from err
    if not answer.is_success:
        raise TransportError(f"the webhook at {place} answered {answer.status_code}")

"""What leaves this machine on the user's own wish: a command of theirs and a webhook; what goes wrong is one sentence."""

import asyncio
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from specdeck.errors import TransportError
from specdeck.transport.words import said

LIMIT_SECONDS = 10.0


async def run_command(argv: Sequence[str], *, environment: Mapping[str, str], stdin: bytes) -> None:
    """Run a command of the user's on this machine, in a session of its own. Raises TransportError.

    It has ended when it has ended itself: what it leaves in the background (a sound that plays) goes on.
    """
    with _complaints() as (complaints, theirs):
        process = await _started(argv, {**os.environ, **environment}, theirs)
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                await _told(process, stdin)
                await process.wait()
        except TimeoutError as err:
            raise TransportError(f"{argv[0]} did not end within {LIMIT_SECONDS:g} s") from err
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if process.returncode:
            words = said(_read(complaints).strip().rpartition(b"\n")[2])
            raise TransportError(f"{argv[0]} ended with {process.returncode}{f': {words}' if words else ''}")


async def _started(argv: Sequence[str], environment: Mapping[str, str], complaints: int) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=complaints,
            env=environment,
            start_new_session=True,
        )
    except (OSError, ValueError) as err:
        raise TransportError(f"{argv[0]} cannot be run: {getattr(err, 'strerror', None) or err}") from err


async def _told(process: asyncio.subprocess.Process, stdin: bytes) -> None:
    """Give it its input; it need not read it."""
    assert process.stdin is not None  # noqa: S101 - as started above
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(stdin)
        await process.stdin.drain()
    process.stdin.close()


@contextmanager
def _complaints() -> Iterator[tuple[int, int]]:
    """A pipe of the kernel for what it complains about: it holds 64 KiB, so one that floods waits, and is ended in time."""
    ours, theirs = os.pipe()
    try:
        os.set_blocking(ours, False)
        yield ours, theirs
    finally:
        os.close(ours)
        os.close(theirs)


def _read(complaints: int) -> bytes:
    """What is there; nobody waits for more."""
    try:
        return os.read(complaints, 65_536)
    except BlockingIOError:
        return b""


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

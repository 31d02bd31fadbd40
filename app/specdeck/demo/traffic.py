"""Background clients of the demo: streams, now more, now fewer, so that tok/s is alive. They leave when a server drains."""

import asyncio
import json
import math
import random
import time
from types import TracebackType
from typing import Self

_LOOK_SECONDS = 1.0
_WAVE_SECONDS = 60.0
_LIMIT_SECONDS = 60.0


class Traffic:
    """So many streams at most for each server that is ready."""

    def __init__(self, ports: tuple[int, ...], streams: int) -> None:
        self._ports, self._streams = ports, streams
        self._tasks: list[asyncio.Task[None]] = []
        self._began = time.monotonic()
        self.answered = 0
        """Requests that ended well."""

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._serve(port)) for port in self._ports]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, port: int) -> None:
        """Wait for a server, use it as long as it takes requests, wait again."""
        while True:
            if await _is_ready(port):
                async with asyncio.TaskGroup() as streams:
                    for number in range(self._streams):
                        streams.create_task(self._stream(port, number))
            await asyncio.sleep(_LOOK_SECONDS)

    async def _stream(self, port: int, number: int) -> None:
        """One client; it ends once the server says no."""
        while True:
            if number < self._wanted():
                if not await _complete(port):
                    return
                self.answered += 1
            await asyncio.sleep(random.uniform(0.1, 0.8))  # noqa: S311

    def _wanted(self) -> int:
        """A slow wave between a half and all, that begins in the middle."""
        share = 3 / 4 + math.sin((time.monotonic() - self._began) / _WAVE_SECONDS * math.tau) / 4
        return max(1, round(self._streams * share))


async def _is_ready(port: int) -> bool:
    try:
        return await _ask(port, b"GET /health HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n")
    except (OSError, TimeoutError):
        return False


async def _complete(port: int) -> bool:
    """A completion of some length; whether it came to its end."""
    prompt = "some" * random.randint(500, 8000)  # noqa: S311 - a token for four characters
    tokens = random.randint(48, 320)  # noqa: S311
    body = json.dumps({"model": "demo", "prompt": prompt, "max_tokens": tokens, "stream": True}).encode()
    head = f"POST /v1/completions HTTP/1.1\r\nHost: demo\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    try:
        return await _ask(port, head.encode() + body)
    except (OSError, TimeoutError):
        return False


async def _ask(port: int, request: bytes) -> bool:
    """Send a request and read the answer to its end; whether it was a 200."""
    async with asyncio.timeout(_LIMIT_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(request)
            status = await reader.readline()
            while await reader.read(65536):
                pass
            return b" 200 " in status
        finally:
            writer.close()

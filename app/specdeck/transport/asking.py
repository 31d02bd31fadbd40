"""One HTTP client per server on a host: short GETs with limits, no settings from the environment, keys never in an error."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Literal

import httpx

from specdeck.parsing.plain import plain
from specdeck.transport.base import Transport

LONGEST_BODY = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Reply:
    """The server answered."""

    status: int
    body: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class NoReply:
    """It did not."""

    why: Literal["refused", "timeout", "error"]
    detail: str


class Asker:
    """Asks one base URL, such as http://127.0.0.1:30000, from the host's own point of view."""

    def __init__(
        self,
        transport: Transport,
        base_url: str,
        *,
        verify: bool | str = True,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._client = httpx.AsyncClient(
            transport=transport.http(verify=verify),
            base_url=base_url,
            headers=headers,
            trust_env=False,
            follow_redirects=False,
        )

    async def get(self, path: str, *, limit_seconds: float) -> Reply | NoReply:
        """One GET. Raises ConnectionLost where the way to the host is gone."""
        began = monotonic()
        try:
            async with asyncio.timeout(limit_seconds), self._client.stream("GET", path, timeout=None) as response:
                body = b""
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > LONGEST_BODY:
                        return NoReply("error", f"the answer of {path} is longer than {LONGEST_BODY} bytes")
                return Reply(response.status_code, body, monotonic() - began)
        except httpx.ConnectError:
            return NoReply("refused", "nobody listens")
        except (TimeoutError, httpx.TimeoutException):
            return NoReply("timeout", f"no answer in {limit_seconds:.0f} s")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return NoReply("error", plain(f"{type(error).__name__}: {error}")[:200])

    async def close(self) -> None:
        """Close its connections."""
        await self._client.aclose()

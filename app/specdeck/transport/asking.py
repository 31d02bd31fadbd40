"""One HTTP client per server on a host: short GETs with limits, no settings from the environment, keys never in an error."""

import asyncio
import ssl
import sys
from collections.abc import Mapping
from contextlib import aclosing
from importlib.util import find_spec
from time import monotonic
from typing import Literal

import httpx

from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import dataclass
from specdeck.transport.base import Transport
from specdeck.transport.tls_words import NOT_TOLD, common_name_of, is_untrusted, tls_error, tls_words

if "sniffio" not in sys.modules and find_spec("sniffio") is None:
    # httpcore tries to import it several times a request, and each failure searches all of sys.path; None fails at once
    sys.modules["sniffio"] = None  # type: ignore[assignment]
LONGEST_BODY = 8 * 1024 * 1024
TOOK_SECONDS = "specdeck.seconds"
"""An extension of answers out of a recording: how long they took then."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The server answered."""

    status: int
    body: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class NoReply:
    """It did not."""

    why: Literal["refused", "timeout", "tls", "error"]
    """`tls`: the port speaks TLS, and not in the way that was asked."""
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
        self._transport = transport
        self._base_url = base_url
        self._http = transport.http(verify=verify)
        """Asked without a client: of cookies, redirects and logins there are none, and they cost a quarter of a request."""
        self._headers = {"Accept": "*/*", "User-Agent": "specdeck", **(headers or {})}
        self._requests: dict[str, httpx.Request] = {}
        """By path: the same few are asked again and again."""

    async def get(self, path: str, *, limit_seconds: float) -> Reply | NoReply:
        """One GET. Raises ConnectionLost where the way to the host is gone."""
        began = monotonic()
        try:
            async with asyncio.timeout(limit_seconds), aclosing(await self._ask(path)) as response:
                body = b""
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > LONGEST_BODY:
                        return NoReply("error", f"the answer of {path} is longer than {LONGEST_BODY} bytes")
                seconds = response.extensions.get(TOOK_SECONDS, monotonic() - began)
                return Reply(response.status_code, body, seconds)
        except (TimeoutError, httpx.TimeoutException):
            return NoReply("timeout", f"no answer in {limit_seconds:.0f} s")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return await self._without_reply(error, path, limit_seconds)

    async def _ask(self, path: str) -> httpx.Response:
        """Up to the headers of the answer."""
        if path not in self._requests:
            self._requests[path] = httpx.Request("GET", self._base_url + path, headers=self._headers)
        return await self._http.handle_async_request(self._requests[path])

    async def _without_reply(self, error: Exception, path: str, limit_seconds: float) -> NoReply:
        """Why there was none: nobody listens, TLS stands in between, or something else."""
        trouble = tls_error(error)
        if trouble is not None and is_untrusted(trouble):
            _, name = await self._look_with_tls(path, limit_seconds)
            return NoReply("tls", plain(tls_words(trouble, name)))
        if trouble is not None:
            return NoReply("error", plain(tls_words(trouble, None)))
        if isinstance(error, httpx.ConnectError):
            return NoReply("refused", "nobody listens")
        if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError) and self._base_url.startswith("http:"):
            speaks_tls, _ = await self._look_with_tls(path, limit_seconds)
            if speaks_tls:
                return NoReply("tls", NOT_TOLD)
        return NoReply("error", plain(f"{type(error).__name__}: {error}")[:200])

    async def _look_with_tls(self, path: str, limit_seconds: float) -> tuple[bool, str | None]:
        """Whether the port answers to TLS, and whose certificate it shows. Trusts anybody, so no key is sent along."""
        url = self._base_url.replace("http:", "https:", 1)
        client = httpx.AsyncClient(transport=self._transport.http(verify=False), base_url=url, trust_env=False)
        try:
            async with asyncio.timeout(limit_seconds), client, client.stream("GET", path, timeout=None) as response:
                tls = _tls_of(response)
                certificate = tls.getpeercert(binary_form=True) if tls is not None else None
                return True, common_name_of(certificate) if certificate else None
        except (TimeoutError, httpx.HTTPError):
            return False, None

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()


def _tls_of(response: httpx.Response) -> ssl.SSLObject | None:
    """The TLS of the connection; curl on the host shows none."""
    stream = response.extensions.get("network_stream")
    return stream.get_extra_info("ssl_object") if stream is not None else None

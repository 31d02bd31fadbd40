"""HTTP for hosts that forbid TCP forwarding: curl there asks, one request a session. Keys go to its stdin, never into `ps`."""

import ssl
from collections.abc import Awaitable, Callable

import httpx

from specdeck.errors import ChannelRefused, ForwardingForbidden
from specdeck.transport.base import Outcome
from specdeck.transport.script import Script
from specdeck.transport.words import said

LIMIT_SECONDS = 120.0
"""Whoever asks has shorter limits of their own; leaving early ends curl on the host."""
LARGEST_BYTES = 16 * 1024 * 1024
_TEXT = """\
command -v curl >/dev/null || exit 127
printf '%s' "$1" | curl --disable --silent --show-error --include --http1.1 --noproxy '*' --proto '=http,https' \\
  --max-redirs 0 --max-time "$2" --max-filesize "$3" --config -
"""
_NO_CURL = 127
_CONNECT_ERRORS = (5, 6, 7)
_TIMEOUT = 28
_TLS_ERRORS = (35, 51, 58, 60, 77)
_NOT_CURLS = ("host", "connection", "accept-encoding", "transfer-encoding", "content-encoding", "content-length")

Run = Callable[[Script, float], Awaitable[Outcome]]


class CurlTransport(httpx.AsyncBaseTransport):
    """One GET a session of the SSH connection."""

    def __init__(self, run: Run, *, verify: bool | str = True) -> None:
        self._run = run
        self._verify = verify

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises httpx's errors for what the server does, those of the transport for what the host does."""
        if isinstance(self._verify, str) and request.url.scheme == "https":
            raise httpx.ConnectError("the host forbids forwarding, and curl there does not have this machine's CA file")
        script = Script(
            _TEXT, (curl_config(request, is_verified=bool(self._verify)), f"{LIMIT_SECONDS:g}", str(LARGEST_BYTES))
        )
        outcome = await self._run(script, LIMIT_SECONDS)
        if outcome.exit_status == 0:
            return read_response(outcome.stdout)
        raise _error(outcome)


class TunnelOrCurl(httpx.AsyncBaseTransport):
    """The tunnel; once a host has forbidden it, curl there for the rest of this client's life."""

    def __init__(self, tunnel: httpx.AsyncBaseTransport, curl: CurlTransport) -> None:
        self._tunnel = tunnel
        self._curl = curl
        self._is_forbidden = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Only what has no body can be asked a second time: so it is with GET."""
        if not self._is_forbidden:
            try:
                return await self._tunnel.handle_async_request(request)
            except ForwardingForbidden:
                self._is_forbidden = True
        return await self._curl.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the tunnel's connections."""
        await self._tunnel.aclose()


def curl_config(request: httpx.Request, *, is_verified: bool) -> str:
    """The request as a configuration of curl, for its stdin."""
    lines = [f"url = {_quoted(str(request.url))}", f"request = {_quoted(request.method)}"]
    lines += [
        f"header = {_quoted(f'{name}: {value}')}" for name, value in request.headers.items() if name not in _NOT_CURLS
    ]
    return "\n".join([*lines, *([] if is_verified else ["insecure"]), ""])


def read_response(answer: bytes) -> httpx.Response:
    """What `curl --include` printed: the last block of headers, then the body, already in one piece."""
    rest = answer
    while True:
        head, _, rest = rest.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        words = status.split(" ")
        if len(words) < 2 or not words[1].isdecimal():
            raise httpx.RemoteProtocolError(f"no HTTP answer: {said(status)}")
        if not 100 <= int(words[1]) < 200:
            break
    pairs = (line.partition(":")[::2] for line in lines)
    headers = [(name, value.strip()) for name, value in pairs if name.lower() not in _NOT_CURLS]
    return httpx.Response(int(words[1]), headers=headers, content=rest)


def _quoted(text: str) -> str:
    """A value of curl's configuration; a line end would begin another option."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r").replace("\n", "\\n")
    return f'"{escaped}"'


def _error(outcome: Outcome) -> Exception:
    status, words = outcome.exit_status, said(outcome.stderr.partition(b"\n")[0])
    if status == _NO_CURL:
        return ChannelRefused("the host forbids TCP forwarding and has no curl: its servers' HTTP cannot be asked")
    if status in _CONNECT_ERRORS:
        return httpx.ConnectError(words or "nobody listens")
    if status == _TIMEOUT:
        return httpx.ReadTimeout(words or "no answer")
    if status in _TLS_ERRORS:
        error = httpx.ConnectError(words)
        error.__cause__ = trouble = ssl.SSLError(words)
        trouble.reason = ""
        return error
    return httpx.ReadError(words or f"curl on the host ended with {status}")

"""Hosts that forbid TCP forwarding: curl on a real OpenSSH host asks in its place."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.openssh import OpenSsh, free_port
from tests.transport.processes import until
from tests.transport.test_login import connected
from tests.transport.web import make_certificate, running_web

from specdeck.errors import ChannelRefused
from specdeck.transport.asking import Asker, NoReply, Reply
from specdeck.transport.curl import curl_config, read_response
from specdeck.transport.ssh import SshTransport

needs_curl = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not here")


@pytest.fixture
async def forbidding(own_openssh: OpenSsh) -> AsyncIterator[SshTransport]:
    """A host without forwarding, logged in."""
    own_openssh.reconfigure(AllowTcpForwarding="no")
    async with connected(own_openssh) as transport:
        yield transport


@needs_curl
@pytest.mark.sshd
class TestThroughCurl:
    async def test_the_server_is_asked_all_the_same(self, forbidding: SshTransport) -> None:
        async with running_web() as web:
            asker = Asker(forbidding, f"http://127.0.0.1:{web.port}")
            for path in ("/health", "/metrics?x=1&y='$HOME'"):
                reply = await asker.get(path, limit_seconds=10)
                assert isinstance(reply, Reply)
                assert (reply.status, reply.body) == (200, path.encode())
            await asker.close()

    async def test_nobody_listens(self, forbidding: SshTransport) -> None:
        asker = Asker(forbidding, f"http://127.0.0.1:{free_port()}")
        assert await asker.get("/health", limit_seconds=10) == NoReply("refused", "nobody listens")
        await asker.close()

    async def test_a_silent_server_costs_its_limit_and_no_curl_stays(self, forbidding: SshTransport) -> None:
        async with running_web() as web:
            asker = Asker(forbidding, f"http://127.0.0.1:{web.port}")
            asking = asyncio.create_task(asker.get("/slow", limit_seconds=3.0))
            await until(lambda: web.connections == 1)
            reply = await asking
            assert isinstance(reply, NoReply)
            assert reply.why == "timeout"
            await until(lambda: not curls_about(web.port))
            await asker.close()

    async def test_a_key_is_not_in_the_list_of_processes(self, forbidding: SshTransport) -> None:
        async with running_web() as web:
            asker = Asker(forbidding, f"http://127.0.0.1:{web.port}", headers={"Authorization": "Bearer sk-secret"})
            asking = asyncio.create_task(asker.get("/slow", limit_seconds=10))
            await until(lambda: web.connections == 1)
            assert not [path for path in command_lines() if b"sk-secret" in path]
            web.release.set()
            assert isinstance(await asking, Reply)
            await asker.close()

    async def test_proxies_of_the_host_are_left_alone(self, own_openssh: OpenSsh) -> None:
        own_openssh.reconfigure(AllowTcpForwarding="no")
        proxies = {"http_proxy": "http://127.0.0.1:9", "all_proxy": "http://127.0.0.1:9"}
        transport = SshTransport(replace(own_openssh.host(), env=proxies))
        await transport.connect()
        async with running_web() as web:
            asker = Asker(transport, f"http://127.0.0.1:{web.port}")
            assert isinstance(await asker.get("/health", limit_seconds=10), Reply)
            await asker.close()
        await transport.close()

    async def test_a_certificate_that_nobody_vouches_for_is_refused_unless_told(
        self, forbidding: SshTransport, tmp_path: Path
    ) -> None:
        certificate = make_certificate(tmp_path / "web.pem")
        async with running_web(certificate=certificate) as web:
            url = f"https://127.0.0.1:{web.port}"
            careful, careless = Asker(forbidding, url), Asker(forbidding, url, verify=False)
            refused = await careful.get("/health", limit_seconds=10)
            assert isinstance(refused, NoReply)
            assert refused.why == "error"
            assert "certificate" in refused.detail
            assert isinstance(await careless.get("/health", limit_seconds=10), Reply)
            await careful.close()
            await careless.close()


@pytest.mark.sshd
async def test_a_host_without_curl_says_what_is_missing(own_openssh: OpenSsh) -> None:
    own_openssh.reconfigure(AllowTcpForwarding="no")
    transport = SshTransport(replace(own_openssh.host(), env={"PATH": "/nonexistent"}))
    await transport.connect()
    with pytest.raises(ChannelRefused, match="forbids TCP forwarding and has no curl"):
        await Asker(transport, "http://127.0.0.1:1").get("/health", limit_seconds=10)
    await transport.close()


def test_a_header_cannot_smuggle_an_option() -> None:
    request = httpx.Request("GET", "http://127.0.0.1:1/x", headers={"x-key": 'a"\\b'})
    assert 'header = "x-key: a\\"\\\\b"\n' in curl_config(request, is_verified=True)
    assert "\noutput" not in curl_config(request, is_verified=True)


def test_an_interim_answer_is_passed_over_and_the_body_kept_byte_for_byte() -> None:
    answer = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Service Unavailable\r\nTransfer-Encoding: chunked\r\n\r\na\r\n\r\nb\xff"
    response = read_response(answer)
    assert (response.status_code, response.content) == (503, b"a\r\n\r\nb\xff")


def test_what_is_no_http_is_an_error() -> None:
    with pytest.raises(httpx.RemoteProtocolError, match="no HTTP answer: hello"):
        read_response(b"hello\r\n\r\n")


def command_lines() -> list[bytes]:
    """Of all processes."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(file.read_bytes())
        except OSError:
            continue
    return found


def curls_about(port: int) -> list[bytes]:
    """curl's own processes on this machine whose connection is of this port: by the sockets that are open."""
    wanted = f"{port:04X}"
    rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return [row.encode() for row in rows if row.split()[2].endswith(f":{wanted}") and row.split()[3] == "01"]

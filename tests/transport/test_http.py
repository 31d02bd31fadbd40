"""HTTP from the host: over a tunnel of a real OpenSSH server, and without SSH."""

import asyncio
import json
import socket
from pathlib import Path

import httpx
import pytest
from tests.openssh import OpenSsh, free_port
from tests.transport.processes import until
from tests.transport.test_login import connected
from tests.transport.web import make_certificate, running_web

from specdeck.errors import ConnectionLost
from specdeck.transport.base import Transport

CASE = Path(__file__).parents[1] / "cases" / "B46_own_http_client_and_proxies" / "env.json"
PROXIES: list[dict[str, str]] = json.loads(CASE.read_text())


def client_of(transport: Transport, *, verify: bool | str = True, timeout: float = 5.0) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=transport.http(verify=verify), trust_env=False, timeout=timeout)


async def test_requests_share_one_connection(transport: Transport) -> None:
    async with running_web() as web, client_of(transport) as client:
        for path in ("/health", "/metrics", "/health"):
            assert (await client.get(f"http://127.0.0.1:{web.port}{path}")).text == path
        assert web.connections == 1


async def test_many_requests_at_once_are_all_answered(transport: Transport) -> None:
    async with running_web() as web, client_of(transport) as client:
        urls = [f"http://127.0.0.1:{web.port}/{number}" for number in range(64)]
        replies = await asyncio.gather(*(client.get(url) for url in urls))
        assert [reply.text for reply in replies] == [f"/{number}" for number in range(64)]


async def test_a_port_that_nobody_listens_on_is_a_connect_error(transport: Transport) -> None:
    async with client_of(transport) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(f"http://127.0.0.1:{free_port()}/health")


async def test_the_time_limit_of_a_silent_server_is_kept(transport: Transport) -> None:
    async with running_web() as web, client_of(transport, timeout=0.2) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.get(f"http://127.0.0.1:{web.port}/slow")


async def test_a_server_that_restarted_is_asked_over_a_new_connection(transport: Transport) -> None:
    async with running_web() as web, client_of(transport) as client:
        url = f"http://127.0.0.1:{web.port}/health"
        await client.get(url)
        web.drop_connections()
        await _until_noticed(client, url)
        assert web.connections == 2


async def test_tls_is_checked_against_the_given_authority(transport: Transport, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path / "cert.pem")
    async with running_web(certificate=certificate) as web:
        url = f"https://127.0.0.1:{web.port}/health"
        async with client_of(transport, verify=str(certificate)) as client:
            assert (await client.get(url)).text == "/health"
            assert (await client.get(url)).text == "/health"
            assert web.connections == 1
        async with client_of(transport, verify=False) as client:
            assert (await client.get(url)).text == "/health"


async def test_an_unknown_authority_is_a_connect_error(transport: Transport, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path / "cert.pem")
    async with running_web(certificate=certificate) as web, client_of(transport) as client:
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await client.get(f"https://127.0.0.1:{web.port}/health")


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
async def test_a_server_on_the_ipv6_loopback_is_reached(transport: Transport) -> None:
    try:
        async with running_web("::1") as web, client_of(transport) as client:
            assert (await client.get(f"http://[::1]:{web.port}/health")).text == "/health"
    except OSError as err:
        pytest.skip(f"no IPv6 here: {err.strerror}")


@pytest.mark.parametrize("env", PROXIES, ids=lambda env: " ".join(env))
async def test_the_environment_changes_nothing(
    transport: Transport, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    async with running_web() as web, client_of(transport) as client:
        assert (await client.get(f"http://127.0.0.1:{web.port}/health")).status_code == 200


@pytest.mark.sshd
async def test_a_connection_that_breaks_during_a_request_is_lost(own_openssh: OpenSsh) -> None:
    async with connected(own_openssh) as transport, running_web() as web, client_of(transport) as client:
        request = asyncio.create_task(client.get(f"http://127.0.0.1:{web.port}/slow"))
        await until(lambda: web.connections == 1)
        own_openssh.kill_sessions()
        with pytest.raises(ConnectionLost):
            await request
        with pytest.raises(ConnectionLost):
            await client.get(f"http://127.0.0.1:{web.port}/health")


@pytest.mark.sshd
async def test_the_client_goes_on_after_a_reconnect(own_openssh: OpenSsh) -> None:
    async with connected(own_openssh) as transport, running_web() as web, client_of(transport) as client:
        url = f"http://127.0.0.1:{web.port}/health"
        await client.get(url)
        own_openssh.kill_sessions()
        await transport.wait_lost()
        await transport.connect()
        assert (await client.get(url)).text == "/health"


async def _until_noticed(client: httpx.AsyncClient, url: str) -> None:
    """The end of the old connection may still be on its way when the next request is sent."""
    try:
        await client.get(url)
    except (httpx.ReadError, httpx.RemoteProtocolError):
        await client.get(url)

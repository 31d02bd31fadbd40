"""Names with several addresses and resolvers that hang: what leads nowhere holds nobody up."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from tests.openssh import OpenSsh
from tests.transport.test_login import refusal, says_hello

from specdeck.transport.dial import dial

real = socket.getaddrinfo
Answer = list[tuple[int, int, int, str, tuple[str, int]]]


def resolver(monkeypatch: pytest.MonkeyPatch, name: str, answer: Callable[[int], Answer]) -> None:
    """This machine's, which also knows one invented name."""

    def getaddrinfo(host: str, port: int, family: int = 0, type: int = 0, **options: int) -> object:
        if host == name and not options.get("flags"):
            return answer(port)
        return real(host, port, family, type, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def at(port: int, address: str = "127.0.0.1") -> tuple[int, int, int, str, tuple[str, int]]:
    return socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)


@contextmanager
def full_queue() -> Iterator[int]:
    """A port that takes no connection and refuses none, as an address that routers drop."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.create_connection(full.getsockname()):
        yield int(full.getsockname()[1])


@pytest.mark.sshd
async def test_a_host_whose_first_address_leads_nowhere_is_reached_at_its_second(
    own_openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch
) -> None:
    with full_queue() as nowhere:
        resolver(monkeypatch, "twofold.invalid", lambda port: [at(nowhere), at(port)])
        text = own_openssh.ssh_config.read_text().replace("HostName 127.0.0.1", "HostName twofold.invalid")
        own_openssh.ssh_config.write_text(f"{text}  HostKeyAlias [127.0.0.1]:{own_openssh.port}\n  ConnectTimeout 30\n")
        async with asyncio.timeout(25):
            assert await says_hello(own_openssh)


async def test_one_that_refuses_is_passed_over_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        resolver(monkeypatch, "two.invalid", lambda _port: [at(port, "127.0.0.2"), at(port)])
        (await dial("two.invalid", port)).close()


async def test_where_none_is_left_the_refusal_counts_more_than_what_was_not_routed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    resolver(monkeypatch, "two.invalid", lambda _port: [at(port), at(port, "255.255.255.255")])
    with pytest.raises(ConnectionRefusedError):
        await dial("two.invalid", port)


@pytest.mark.sshd
async def test_a_resolver_that_hangs_for_forty_names_holds_no_other_name_up(
    own_openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The VPN with its name server is off; asyncio has a handful of threads, which all would wait for it."""
    is_over = threading.Event()

    def hang(_port: int) -> Answer:
        is_over.wait(60)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    resolver(monkeypatch, "hangs.invalid", hang)
    waiting = [asyncio.create_task(dial("hangs.invalid", 22)) for _ in range(40)]
    try:
        await asyncio.sleep(0)
        text = own_openssh.ssh_config.read_text().replace("HostName 127.0.0.1", "HostName localhost")
        own_openssh.ssh_config.write_text(
            f"{text}  HostKeyAlias [127.0.0.1]:{own_openssh.port}\n  AddressFamily inet\n"
        )
        async with asyncio.timeout(30):
            assert await says_hello(own_openssh)
        assert not any(task.done() for task in waiting)
    finally:
        is_over.set()
        errors = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(error, socket.gaierror) for error in errors)


async def test_what_no_host_can_be_called_is_no_such_host() -> None:
    with pytest.raises(socket.gaierror, match="no name that a host can have"):
        await dial(f"{'a' * 70}.invalid", 22)


@pytest.mark.sshd
async def test_what_a_resolver_says_is_the_reason(own_openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch) -> None:
    def says_no(_port: int) -> Answer:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    resolver(monkeypatch, "gone.invalid", says_no)
    text = own_openssh.ssh_config.read_text().replace("HostName 127.0.0.1", "HostName gone.invalid")
    own_openssh.ssh_config.write_text(text)
    said = str(await refusal(own_openssh))
    assert said.endswith(
        "no name server answers for it (Temporary failure in name resolution); is the network up, is the VPN on?"
    )

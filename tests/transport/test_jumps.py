"""ProxyJump chains over real OpenSSH servers."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from tests.openssh import OpenSsh, free_port
from tests.transport.test_login import connected, refusal, says_hello

from specdeck.errors import HostKeyUnknown, HostUnreachable
from specdeck.transport.script import Script
from specdeck.transport.ssh import SshTransport

pytestmark = pytest.mark.sshd


def add_host(server: OpenSsh, name: str, jump: str, *, port: int | None = None) -> None:
    with server.ssh_config.open("a") as file:
        file.write(
            f"Host {name}\n  HostName 127.0.0.1\n  Port {port or server.port}\n  IdentityFile {server.user_key}\n"
            f"  IdentityAgent none\n  UserKnownHostsFile {server.known_hosts}\n  ProxyJump {jump}\n"
        )


async def test_a_jump_host_may_have_a_jump_host(own_openssh: OpenSsh) -> None:
    add_host(own_openssh, "mid", "gpu-a")
    add_host(own_openssh, "deep", "mid")
    assert await says_hello(own_openssh, "deep")
    assert own_openssh.log.count("Accepted publickey") == 3


async def test_a_list_of_jump_hosts_is_gone_through_in_order(own_openssh: OpenSsh) -> None:
    add_host(own_openssh, "mid", "none")
    add_host(own_openssh, "deep", "gpu-a,mid")
    assert await says_hello(own_openssh, "deep")
    assert own_openssh.log.count("Accepted publickey") == 3


async def test_a_jump_host_that_is_down_is_the_one_that_is_named(own_openssh: OpenSsh) -> None:
    port = free_port()
    add_host(own_openssh, "edge", "none", port=port)
    add_host(own_openssh, "deep", "edge")
    error = await refusal(own_openssh, "deep")
    assert isinstance(error, HostUnreachable)
    assert f"on the way to deep: edge (127.0.0.1:{port}) refused the connection" in str(error)


async def test_a_host_that_its_jump_host_cannot_reach_is_named_with_it(own_openssh: OpenSsh) -> None:
    port = free_port()
    add_host(own_openssh, "deep", "gpu-a", port=port)
    error = await refusal(own_openssh, "deep")
    assert isinstance(error, HostUnreachable)
    assert f"gpu-a could not reach deep (127.0.0.1:{port}): Connection refused" in str(error)


async def test_a_proxy_command_is_used(own_openssh: OpenSsh) -> None:
    with own_openssh.ssh_config.open("a") as file:
        file.write(
            f"Host far\n  HostName 127.0.0.1\n  Port {own_openssh.port}\n  IdentityFile {own_openssh.user_key}\n"
            f"  IdentityAgent none\n  UserKnownHostsFile {own_openssh.known_hosts}\n"
            f"  ProxyCommand ssh -F {own_openssh.ssh_config} -W %h:%p gpu-a\n"
        )
    async with connected(own_openssh, "far") as transport:
        assert (await transport.run(Script("echo far"))).stdout == b"far\n"


async def test_hosts_behind_one_jump_host_share_its_connection(own_openssh: OpenSsh) -> None:
    add_host(own_openssh, "mid", "gpu-a")
    add_host(own_openssh, "deep", "mid")
    async with AsyncExitStack() as stack:
        async with asyncio.TaskGroup() as group:
            for _ in range(5):
                group.create_task(stack.enter_async_context(connected(own_openssh, "deep")))
        assert own_openssh.log.count("Accepted publickey") == 2 + 5


async def test_a_jump_host_that_was_lost_is_connected_again(own_openssh: OpenSsh) -> None:
    add_host(own_openssh, "deep", "gpu-a")
    async with connected(own_openssh, "deep") as transport:
        own_openssh.kill_sessions()
        assert await transport.wait_lost()
        await transport.connect()
        assert (await transport.run(Script("echo again"))).stdout == b"again\n"


async def test_a_new_key_of_a_jump_host_may_be_accepted_too(own_openssh: OpenSsh) -> None:
    add_host(own_openssh, "deep", "gpu-a")
    right = own_openssh.known_hosts.read_text()
    own_openssh.known_hosts.write_text("")
    transport = SshTransport(replace(own_openssh.host(), ssh="deep"))
    with pytest.raises(HostKeyUnknown, match="on the way to deep: gpu-a"):
        await transport.connect()
    transport.accept_host_key()
    assert own_openssh.known_hosts.read_text() == right
    await transport.connect()
    await transport.close()

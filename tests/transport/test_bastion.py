"""Many hosts behind one bastion whose sshd lets few log in at once: all come up, and it is not hammered."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.transport.asked import Person
from tests.transport.password_host import PASSWORD, PasswordHost

from specdeck.config.objects import Host
from specdeck.errors import LoginRefused
from specdeck.transport.script import Script
from specdeck.transport.ssh import SshTransport

pytestmark = pytest.mark.sshd
HOSTS = 16
FEW = {"MaxStartups": "2:50:4"}
"""From the third connection that is not logged in on, each second one is dropped, and from the fifth on every one."""


@pytest.fixture
def inner(tmp_path: Path) -> Iterator[OpenSsh]:
    """What lies behind the bastion; it stands for all hosts there."""
    server = OpenSsh(tmp_path / "inner")
    server.start()
    yield server
    server.stop()


def behind(bastion: OpenSsh, inner: OpenSsh, how: str) -> list[Host]:
    """Sixteen names that lead to `inner`."""
    with bastion.ssh_config.open("a") as file:
        for number in range(HOSTS):
            file.write(
                f"Host deep{number}\n  HostName 127.0.0.1\n  Port {inner.port}\n  IdentityFile {inner.user_key}\n"
                f"  IdentityAgent none\n  UserKnownHostsFile {inner.known_hosts}\n  {how}\n"
            )
    return [Host(f"deep{number}", f"deep{number}", ssh_config=bastion.ssh_config) for number in range(HOSTS)]


async def all_say_hello(hosts: Sequence[Host]) -> bool:
    """All at once, and all stay connected."""

    async def hello(host: Host) -> bool:
        transport = SshTransport(host)
        stack.push_async_callback(transport.close)
        await transport.connect()
        return (await transport.run(Script("echo hello"))).stdout == b"hello\n"

    async with AsyncExitStack() as stack:
        return all(await asyncio.gather(*map(hello, hosts)))


async def test_hosts_behind_a_jump_host_cost_it_one_login(own_openssh: OpenSsh, inner: OpenSsh) -> None:
    own_openssh.reconfigure(**FEW)
    assert await all_say_hello(behind(own_openssh, inner, "ProxyJump gpu-a"))
    assert own_openssh.log.count("Accepted publickey") == 1


async def test_hosts_behind_a_proxy_command_log_in_to_it_two_at_a_time(own_openssh: OpenSsh, inner: OpenSsh) -> None:
    own_openssh.reconfigure(**FEW)
    hosts = behind(own_openssh, inner, f"ProxyCommand ssh -F {own_openssh.ssh_config} -W %h:%p gpu-a")
    assert await all_say_hello(hosts)
    assert own_openssh.log.count("Accepted publickey") == HOSTS
    assert own_openssh.log.count("drop connection") < HOSTS / 2, "all at once, twelve would be dropped at the first try"


async def test_many_names_of_one_host_log_in_two_at_a_time(own_openssh: OpenSsh, inner: OpenSsh) -> None:
    inner.reconfigure(**FEW)
    assert await all_say_hello(behind(own_openssh, inner, "ProxyJump none"))
    assert inner.log.count("Accepted publickey") == HOSTS
    assert inner.log.count("drop connection") < HOSTS / 2


async def test_a_bastion_that_refuses_the_login_is_asked_once_for_all(own_openssh: OpenSsh, inner: OpenSsh) -> None:
    """Sixteen failures in a row are what locks an account or an address out."""
    own_openssh.reconfigure(LogLevel="VERBOSE")
    (own_openssh.folder / "authorized_keys").write_text("")
    hosts = behind(own_openssh, inner, "ProxyJump gpu-a")

    async def refused(host: Host) -> None:
        transport = SshTransport(host)
        with pytest.raises(LoginRefused, match="on the way to deep"):
            await transport.connect()

    await asyncio.gather(*map(refused, hosts))
    assert own_openssh.log.count("Failed publickey") == 1


async def test_who_sets_out_after_the_refusal_asks_anew(own_openssh: OpenSsh, inner: OpenSsh) -> None:
    keys = own_openssh.folder / "authorized_keys"
    allowed = keys.read_text()
    keys.write_text("")
    first, second, *_ = behind(own_openssh, inner, "ProxyJump gpu-a")
    with pytest.raises(LoginRefused):
        await SshTransport(first).connect()
    keys.write_text(allowed)
    assert await all_say_hello([first, second])


async def test_who_thinks_about_an_answer_holds_nobody_up(tmp_path: Path) -> None:
    """Three names of one host, which asks each for a password; the first two users went for lunch."""
    async with PasswordHost(tmp_path).running() as server:
        lunch, host = asyncio.Event(), server.host

        class Slow(Person):
            async def ask(self, question: object) -> str | None:
                await lunch.wait()
                return PASSWORD

        slow = [SshTransport(host, Slow()) for _ in range(2)]
        connecting = [asyncio.create_task(each.connect()) for each in slow]
        await asyncio.sleep(0)
        quick = SshTransport(host, Person(PASSWORD))
        async with asyncio.timeout(30):
            await quick.connect()
        lunch.set()
        await asyncio.gather(*connecting)
        for each in (*slow, quick):
            await each.close()

"""Connecting to a real OpenSSH server: every way to fail is a sentence that names what and where."""

import asyncio
import getpass
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest
from tests.openssh import PASSPHRASE, OpenSsh, fingerprint, free_port, hash_names, make_key, running_agent
from tests.transport.processes import until

from specdeck.errors import (
    ConnectionLost,
    HostKeyChanged,
    HostKeyUnknown,
    HostUnreachable,
    LoginRefused,
    TransportError,
)
from specdeck.transport.guardian import Guardian
from specdeck.transport.script import Script
from specdeck.transport.ssh import SshTransport

pytestmark = pytest.mark.sshd


@asynccontextmanager
async def connected(server: OpenSsh, ssh: str = "gpu-a") -> AsyncIterator[SshTransport]:
    transport = SshTransport(replace(server.host(), ssh=ssh))
    try:
        await transport.connect()
        yield transport
    finally:
        await transport.close()


async def refusal(server: OpenSsh, ssh: str = "gpu-a") -> TransportError:
    """The error of a connection that must not come about."""
    with pytest.raises(TransportError) as caught:
        async with connected(server, ssh):
            pass
    return caught.value


async def says_hello(server: OpenSsh, ssh: str = "gpu-a") -> bool:
    async with connected(server, ssh) as transport:
        return (await transport.run(Script("echo hello"))).stdout == b"hello\n"


async def test_an_alias_of_the_configuration_leads_to_the_host(openssh: OpenSsh) -> None:
    async with connected(openssh) as transport:
        assert transport.address == f"gpu-a (127.0.0.1:{openssh.port})"
        assert (await transport.run(Script("echo hello"))).stdout == b"hello\n"


async def test_a_port_without_sshd_refuses_the_connection(openssh: OpenSsh) -> None:
    port = free_port()
    error = await refusal(openssh, f"127.0.0.1:{port}")
    assert isinstance(error, HostUnreachable)
    assert f"127.0.0.1 (127.0.0.1:{port}) refused the connection" in str(error)


async def test_a_name_that_does_not_resolve_is_no_such_host(openssh: OpenSsh) -> None:
    error = await refusal(openssh, "gpu-z.invalid")
    assert isinstance(error, HostUnreachable)
    assert "gpu-z.invalid (gpu-z.invalid:22): no such host" in str(error)


async def test_a_host_that_accepts_and_says_nothing_times_out(
    openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specdeck.transport.login.GREETING_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        error = await refusal(openssh, f"127.0.0.1:{port}")
    assert isinstance(error, HostUnreachable)
    assert f"127.0.0.1:{port}): took the connection and said nothing for 0.2 s; is it frozen" in str(error)


async def test_a_host_that_greets_has_the_time_that_its_slow_directory_needs(
    own_openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifteen seconds, which are jumps of the loop's clock while sshd really waits for its command."""
    own_openssh.reconfigure(AuthorizedKeysCommand="/bin/sleep 2", AuthorizedKeysCommandUser=getpass.getuser())
    guardians: list[Guardian] = []
    loop, passed = asyncio.get_running_loop(), [0.0]
    now, begins = loop.time, Guardian.connection_made

    def connection_made(self: Guardian, conn: asyncssh.SSHClientConnection) -> None:
        guardians.append(self)
        begins(self, conn)

    monkeypatch.setattr(loop, "time", lambda: now() + sum(passed))
    monkeypatch.setattr(Guardian, "connection_made", connection_made)
    saying = asyncio.create_task(says_hello(own_openssh))
    await until(lambda: bool(guardians) and guardians[0].was_greeted)
    for seconds in (9.2, 5.8):
        passed.append(seconds)
        for _ in range(20):
            await asyncio.sleep(0)  # whatever is due now happens
    assert await saying


async def test_a_host_that_takes_no_connection_is_given_the_time_of_the_configuration(own_openssh: OpenSsh) -> None:
    """As a machine that is off behind a router that drops: a full queue of connections that nobody takes."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.create_connection(full.getsockname()):
        text = own_openssh.ssh_config.read_text().replace(f"Port {own_openssh.port}", f"Port {full.getsockname()[1]}")
        own_openssh.ssh_config.write_text(f"{text}  ConnectTimeout 1\n")
        error = await refusal(own_openssh)
    assert isinstance(error, HostUnreachable)
    assert str(error).endswith("timed out after 1 s; is the host up, is the VPN on?")


async def test_a_configuration_that_ssh_refuses_costs_this_host_only(own_openssh: OpenSsh) -> None:
    own_openssh.write_config(extra="NoSuchWord yes\n")
    error = await refusal(own_openssh)
    assert isinstance(error, HostUnreachable)
    assert f"{own_openssh.ssh_config}: line 11: Bad configuration option: nosuchword" in str(error)


async def test_a_key_that_the_host_does_not_know_is_refused(own_openssh: OpenSsh) -> None:
    own_openssh.write_config(identity=make_key(own_openssh.folder / "stranger"))
    error = await refusal(own_openssh)
    assert isinstance(error, LoginRefused)
    assert f"gpu-a (127.0.0.1:{own_openssh.port}) refused the login of" in str(error)


async def test_a_host_that_counts_wrong_keys_is_not_tried_again_and_says_what_mends_it(own_openssh: OpenSsh) -> None:
    """An agent that holds many; sshd allows six tries unless told otherwise."""
    own_openssh.reconfigure(MaxAuthTries="2")
    keys = [own_openssh.user_key, *(make_key(own_openssh.folder / f"key{number}") for number in range(3))]
    own_openssh.write_config(identity=keys.pop(), extra="".join(f"  IdentityFile {key}\n" for key in reversed(keys)))
    error = await refusal(own_openssh)
    assert isinstance(error, LoginRefused)
    assert "Too many authentication failures, after some of 4 keys: name the right one first" in str(error)


async def test_a_missing_identity_file_is_named_as_no_key(own_openssh: OpenSsh) -> None:
    own_openssh.write_config(identity=own_openssh.folder / "gone")
    assert "no key to log in with" in str(await refusal(own_openssh))


async def test_a_locked_key_without_an_agent_says_what_to_run(own_openssh: OpenSsh) -> None:
    locked = make_key(own_openssh.folder / "locked", passphrase=PASSPHRASE)
    own_openssh.write_config(identity=locked)
    error = await refusal(own_openssh)
    assert isinstance(error, LoginRefused)
    assert f"is locked and not in the agent; run: ssh-add {locked}" in str(error)


async def test_missing_and_locked_files_are_skipped_for_a_key_that_works(own_openssh: OpenSsh) -> None:
    locked = make_key(own_openssh.folder / "locked", passphrase=PASSPHRASE)
    own_openssh.write_config(identity=own_openssh.folder / "gone")
    with own_openssh.ssh_config.open("a") as file:
        file.write(f"  IdentityFile {locked}\n  IdentityFile {own_openssh.user_key}\n")
    assert await says_hello(own_openssh)


async def test_the_agent_opens_a_locked_key(own_openssh: OpenSsh, tmp_path: Path) -> None:
    locked = make_key(own_openssh.folder / "locked", passphrase=PASSPHRASE)
    (own_openssh.folder / "authorized_keys").write_text(own_openssh.public(locked).read_text())
    with running_agent(tmp_path, locked) as agent:
        own_openssh.write_config(identity=locked)
        text = own_openssh.ssh_config.read_text().replace("IdentityAgent none", f"IdentityAgent {agent}")
        own_openssh.ssh_config.write_text(text)
        assert await says_hello(own_openssh)


async def test_an_agent_that_ends_costs_no_connection_and_is_named_at_the_next(
    own_openssh: OpenSsh, tmp_path: Path
) -> None:
    locked = make_key(own_openssh.folder / "locked", passphrase=PASSPHRASE)
    (own_openssh.folder / "authorized_keys").write_text(own_openssh.public(locked).read_text())
    with running_agent(tmp_path, locked) as agent:
        own_openssh.write_config(identity=locked)
        text = own_openssh.ssh_config.read_text().replace("IdentityAgent none", f"IdentityAgent {agent}")
        own_openssh.ssh_config.write_text(text)
        transport = SshTransport(own_openssh.host())
        await transport.connect()
    assert (await transport.run(Script("echo hello"))).stdout == b"hello\n"
    with pytest.raises(LoginRefused) as caught:
        await transport.connect()
    assert f"no agent at {agent}: " in str(caught.value)
    assert f"run: ssh-add {locked}" in str(caught.value)


async def test_an_unknown_host_key_shows_its_fingerprint_and_how_to_accept_it(own_openssh: OpenSsh) -> None:
    own_openssh.known_hosts.write_text("")
    error = await refusal(own_openssh)
    assert isinstance(error, HostKeyUnknown)
    assert fingerprint(own_openssh.host_key) in str(error)
    assert f"ssh -F {own_openssh.ssh_config} -o StrictHostKeyChecking=ask" in str(error)
    assert own_openssh.known_hosts.read_text() == ""


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
async def test_a_changed_host_key_shows_both_fingerprints(own_openssh: OpenSsh, kind: str) -> None:
    old = make_key(own_openssh.folder / "old", kind=kind)
    own_openssh.know_host_key(old)
    error = await refusal(own_openssh)
    assert isinstance(error, HostKeyChanged)
    assert f"known {fingerprint(old)}, shown {fingerprint(own_openssh.host_key)}" in str(error)
    assert f"ssh-keygen -f {own_openssh.known_hosts} -R '[127.0.0.1]:{own_openssh.port}'" in str(error)


async def test_a_key_of_another_port_does_not_make_a_new_host_a_changed_one(own_openssh: OpenSsh) -> None:
    kind, text, *_ = own_openssh.public(own_openssh.user_key).read_text().split()
    own_openssh.known_hosts.write_text(f"127.0.0.1 {kind} {text}\n")
    assert isinstance(await refusal(own_openssh), HostKeyUnknown)


async def test_a_revoked_host_key_is_refused(own_openssh: OpenSsh) -> None:
    good = own_openssh.known_hosts.read_text()
    own_openssh.known_hosts.write_text(f"@revoked * {good.split(' ', 1)[1]}{good}")
    error = await refusal(own_openssh)
    assert isinstance(error, HostKeyChanged)
    assert "revoked" in str(error)


async def test_hashed_known_hosts_and_a_line_of_nonsense_are_read(own_openssh: OpenSsh) -> None:
    hash_names(own_openssh.known_hosts)
    with own_openssh.known_hosts.open("a") as file:
        file.write("nonsense\n")
    assert await says_hello(own_openssh)


async def test_accept_new_of_the_configuration_writes_the_key_down(own_openssh: OpenSsh) -> None:
    right = own_openssh.known_hosts.read_text()
    own_openssh.known_hosts.write_text("# mine")
    text = own_openssh.ssh_config.read_text().replace("Checking yes", "Checking accept-new")
    own_openssh.ssh_config.write_text(text)
    assert await says_hello(own_openssh)
    assert own_openssh.known_hosts.read_text() == f"# mine\n{right}"


async def test_the_user_may_accept_the_key_that_was_shown(own_openssh: OpenSsh) -> None:
    right = own_openssh.known_hosts.read_text()
    own_openssh.known_hosts.write_text("")
    transport = SshTransport(own_openssh.host())
    with pytest.raises(HostKeyUnknown):
        await transport.connect()
    transport.accept_host_key()
    assert own_openssh.known_hosts.read_text() == right
    await transport.connect()
    await transport.close()


async def test_a_changed_key_can_never_be_accepted(own_openssh: OpenSsh) -> None:
    own_openssh.know_host_key(make_key(own_openssh.folder / "old"))
    before = own_openssh.known_hosts.read_text()
    transport = SshTransport(own_openssh.host())
    with pytest.raises(HostKeyChanged):
        await transport.connect()
    with pytest.raises(HostKeyUnknown, match="showed no new host key"):
        transport.accept_host_key()
    assert own_openssh.known_hosts.read_text() == before


async def test_a_connection_killed_in_the_middle_is_lost_everywhere(own_openssh: OpenSsh) -> None:
    async with connected(own_openssh) as transport, transport.open(Script("echo up; cat")) as channel:
        chunks = channel.chunks()
        assert await anext(chunks) == b"up\n"
        run = asyncio.create_task(transport.run(Script("sleep 60")))
        lost = asyncio.create_task(transport.wait_lost())
        await asyncio.sleep(0)
        own_openssh.kill_sessions()
        async with asyncio.timeout(90):
            assert await lost
            with pytest.raises(ConnectionLost):
                await run
            with pytest.raises(ConnectionLost):
                await anext(chunks)
            with pytest.raises(ConnectionLost):
                await transport.run(Script("true"))


async def test_a_lost_host_can_be_connected_again(own_openssh: OpenSsh) -> None:
    async with connected(own_openssh) as transport:
        own_openssh.kill_sessions()
        await transport.wait_lost()
        await transport.connect()
        assert (await transport.run(Script("echo again"))).stdout == b"again\n"

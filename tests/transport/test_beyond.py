"""What the user's configuration asks for and asyncssh cannot is one sentence, and only where it is missed."""

import getpass
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from tests.openssh import OpenSsh, free_port
from tests.transport.processes import until
from tests.transport.test_login import refusal, says_hello

from specdeck.errors import HostKeyUnknown, HostUnreachable, LoginRefused
from specdeck.transport.resolve import resolve

needs_ssh = pytest.mark.skipif(shutil.which("ssh") is None, reason="ssh is not installed")
pytestmark = needs_ssh


async def sentences(folder: Path, *lines: str) -> tuple[str, ...]:
    """Of a host with these lines in its configuration."""
    config = folder / "config"
    config.write_text("Host gpu-a\n  HostName 192.0.2.7\n" + "".join(f"  {line}\n" for line in lines))
    return (await resolve("gpu-a", config)).beyond.everything


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "PKCS11Provider /usr/lib/opensc-pkcs11.so",
            "load its keys into the agent with ssh-add -s /usr/lib/opensc-pkcs11.so",
        ),
        ("HostbasedAuthentication yes", "HostbasedAuthentication is not supported: use a key"),
        ("BindInterface wg0", "BindInterface wg0 is not supported: name the address in BindAddress instead"),
        (
            "KnownHostsCommand /usr/bin/known %H",
            "KnownHostsCommand is not run: write what it prints into a known_hosts file",
        ),
        ("NoHostAuthenticationForLocalhost yes", "name what is behind the port in HostKeyAlias"),
        ("VerifyHostKeyDNS yes", "VerifyHostKeyDNS is not supported"),
    ],
)
async def test_each_word_that_is_not_supported_has_its_sentence(tmp_path: Path, line: str, sentence: str) -> None:
    (said,) = await sentences(tmp_path, line)
    assert sentence in said


async def test_an_ordinary_configuration_has_none(tmp_path: Path) -> None:
    lines = (
        "ControlMaster auto",
        "ControlPath ~/.ssh/cm-%C",
        "ForwardX11 yes",
        "AddKeysToAgent yes",
        "PKCS11Provider none",
    )
    assert await sentences(tmp_path, *lines) == ()


@pytest.mark.parametrize(("has_ticket", "count"), [(True, 1), (False, 0)])
async def test_kerberos_is_named_to_who_holds_a_ticket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_ticket: bool, count: int
) -> None:
    """Debian sets it for everybody."""
    if has_ticket:
        (tmp_path / "cache").touch()
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path}/cache")
    said = await sentences(tmp_path, "GSSAPIAuthentication yes")
    assert len([each for each in said if "Kerberos" in each]) == count


async def test_descriptors_cannot_be_passed(tmp_path: Path) -> None:
    lines = ("ProxyCommand nc -F %h %p", "ProxyUseFdpass yes")
    (said,) = await sentences(tmp_path, *lines)
    assert said.startswith("ProxyUseFdpass is not supported: let the ProxyCommand pass the bytes itself")


@pytest.mark.sshd
class TestWhereItIsMissed:
    async def test_a_way_that_cannot_be_gone_is_not_tried(self, own_openssh: OpenSsh) -> None:
        own_openssh.write_config(extra="  ProxyCommand false\n  ProxyUseFdpass yes\n")
        error = await refusal(own_openssh)
        assert isinstance(error, HostUnreachable)
        assert str(error).startswith(f"gpu-a (127.0.0.1:{own_openssh.port}): ProxyUseFdpass is not supported")

    async def test_a_refused_login_names_the_smart_card(self, own_openssh: OpenSsh) -> None:
        (own_openssh.folder / "authorized_keys").write_text("")
        own_openssh.write_config(extra="  PKCS11Provider /usr/lib/card.so\n")
        error = await refusal(own_openssh)
        assert isinstance(error, LoginRefused)
        assert str(error).endswith(
            "; PKCS11Provider is not supported: load its keys into the agent with ssh-add -s /usr/lib/card.so"
        )

    async def test_a_login_that_works_anyway_works(self, own_openssh: OpenSsh) -> None:
        own_openssh.write_config(extra="  PKCS11Provider /usr/lib/card.so\n  KnownHostsCommand /bin/false\n")
        assert await says_hello(own_openssh)

    async def test_a_host_that_only_a_command_knows_is_new(self, own_openssh: OpenSsh) -> None:
        own_openssh.known_hosts.write_text("")
        own_openssh.write_config(extra="  KnownHostsCommand /bin/false\n")
        error = await refusal(own_openssh)
        assert isinstance(error, HostKeyUnknown)
        assert "KnownHostsCommand is not run: write what it prints into a known_hosts file" in str(error)

    async def test_an_interface_that_is_not_bound_is_named_where_the_host_is_not_reached(
        self, own_openssh: OpenSsh
    ) -> None:
        text = own_openssh.ssh_config.read_text().replace(f"Port {own_openssh.port}", f"Port {free_port()}")
        own_openssh.ssh_config.write_text(f"{text}  BindInterface wg0\n")
        error = await refusal(own_openssh)
        assert isinstance(error, HostUnreachable)
        assert "BindInterface wg0 is not supported" in str(error)

    async def test_a_master_connection_that_is_open_is_said_not_to_be_used(
        self, own_openssh: OpenSsh, tmp_path: Path
    ) -> None:
        """A login by hand with a second factor, and all else over its connection."""
        master = tmp_path / "master"
        own_openssh.write_config(extra=f"  ControlPath {master}\n")
        command = ["ssh", "-F", str(own_openssh.ssh_config), "-M", "-N", "gpu-a"]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: ASYNC220
            try:
                await until(master.is_socket)
                (own_openssh.folder / "authorized_keys").write_text("")
                assert f"the master connection at {master} is not used" in str(await refusal(own_openssh))
            finally:
                process.terminate()


@pytest.mark.sshd
class TestWhatIsSupported:
    async def test_the_address_to_connect_from_is_that_of_the_configuration(self, own_openssh: OpenSsh) -> None:
        own_openssh.write_config(extra="  BindAddress 127.0.0.9\n")
        assert await says_hello(own_openssh)
        assert "Accepted publickey for" in own_openssh.log
        assert "from 127.0.0.9 port" in own_openssh.log

    async def test_the_family_of_addresses_is_that_of_the_configuration(self, own_openssh: OpenSsh) -> None:
        text = own_openssh.ssh_config.read_text().replace("HostName 127.0.0.1", "HostName localhost")
        own_openssh.ssh_config.write_text(
            f"{text}  HostKeyAlias [127.0.0.1]:{own_openssh.port}\n  AddressFamily inet\n"
        )
        assert await says_hello(own_openssh)
        if not socket.has_ipv6:
            return
        own_openssh.ssh_config.write_text(own_openssh.ssh_config.read_text().replace("Family inet", "Family inet6"))
        assert isinstance(await refusal(own_openssh), HostUnreachable)

    async def test_what_a_login_by_hand_wants_changes_nothing(self, own_openssh: OpenSsh, tmp_path: Path) -> None:
        """A terminal, a command, forwards, a command on this machine, a master connection: none of them is ours."""
        port, touched, master = free_port(), tmp_path / "touched", tmp_path / "master"
        lines = (
            "RequestTTY force", "RemoteCommand tmux attach", f"LocalForward {port} localhost:{port}", "ForwardX11 yes",
            "PermitLocalCommand yes", f"LocalCommand touch {touched}", "ControlMaster auto", f"ControlPath {master}",
            "ControlPersist yes", "SessionType none", "StdinNull yes", "ForkAfterAuthentication yes",
        )  # fmt: skip
        own_openssh.write_config(extra="".join(f"  {line}\n" for line in lines))
        assert await says_hello(own_openssh), "and a terminal would end the line with \\r\\n"
        assert not touched.exists()
        assert not master.exists()

    @pytest.mark.parametrize("name", ["%h", "%n", "%r@%h", "%u-%p", "%%h"])
    async def test_tokens_in_the_name_of_a_key_are_expanded_as_ssh_does(self, own_openssh: OpenSsh, name: str) -> None:
        own_openssh.write_config(identity=own_openssh.folder / name)
        asked = subprocess.run(  # noqa: ASYNC221
            ["ssh", "-v", "-F", own_openssh.ssh_config, "gpu-a", "true"], capture_output=True, text=True, check=False
        ).stderr
        line = next(line for line in asked.splitlines() if "identity file" in line)
        route = await resolve("gpu-a", own_openssh.ssh_config)
        assert f"identity file {route.identity_files[0]} type" in line

    async def test_a_key_whose_name_has_tokens_and_variables_logs_in(
        self, own_openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KEYS", str(own_openssh.folder))
        own_openssh.user_key.rename(own_openssh.folder / "key-of-127.0.0.1")
        own_openssh.write_config(identity=Path("${KEYS}/key-of-%h"))
        assert await says_hello(own_openssh)

    async def test_tokens_of_a_proxy_command_are_expanded_once(self, own_openssh: OpenSsh) -> None:
        said, proxy = own_openssh.folder / "said", own_openssh.folder / "proxy"
        proxy.write_text(f'echo "$1 $2 $3" >{said}\nexec bash -c "exec 3<>/dev/tcp/$4/$5; cat <&3 & exec cat >&3"\n')
        own_openssh.write_config(extra=f"  ProxyCommand sh {proxy} '%%h' %n %r %h %p\n")
        assert await says_hello(own_openssh)
        assert said.read_text() == f"%h gpu-a {getpass.getuser()}\n"

    async def test_a_revoked_key_of_a_file_of_its_own_is_refused(self, own_openssh: OpenSsh) -> None:
        revoked = own_openssh.folder / "revoked"
        revoked.write_text(own_openssh.public(own_openssh.host_key).read_text())
        own_openssh.write_config(extra=f"  RevokedHostKeys {revoked}\n")
        assert "revoked" in str(await refusal(own_openssh))

    async def test_a_list_of_revoked_keys_that_cannot_be_read_lets_nobody_in(self, own_openssh: OpenSsh) -> None:
        """As OpenSSH does; a binary one (KRL) is beyond asyncssh."""
        krl = own_openssh.folder / "krl"
        subprocess.run(  # noqa: ASYNC221
            ["ssh-keygen", "-q", "-k", "-f", krl, f"{own_openssh.user_key}.pub"], check=True, capture_output=True
        )
        for file, words in ((own_openssh.folder / "none", "cannot be read"), (krl, "is binary (a KRL)")):
            own_openssh.write_config(extra=f"  RevokedHostKeys {file}\n")
            error = await refusal(own_openssh)
            assert isinstance(error, HostUnreachable)
            assert f"RevokedHostKeys {file} {words}" in str(error)

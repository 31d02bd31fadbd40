"""Ciphers, key exchanges, MACs, host keys and signatures are those of the user's configuration, as `ssh` reads it."""

import re
import subprocess

import pytest
from tests.openssh import OpenSsh, make_key
from tests.transport.test_beyond import needs_ssh, sentences
from tests.transport.test_login import connected, refusal, says_hello

from specdeck.errors import HostUnreachable, LoginRefused
from specdeck.transport.algorithms import algorithms_of, unknown_ones

pytestmark = [needs_ssh, pytest.mark.filterwarnings("ignore:Diffie-Hellman over finite fields")]


def agreed_by_ssh(server: OpenSsh, *options: str) -> tuple[str, str, str]:
    """Cipher, MAC and compression of what OpenSSH's own client sends."""
    command = ["ssh", "-v", "-F", str(server.ssh_config), *options, "gpu-a", "true"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    found = re.search(r"client->server cipher: (\S+) MAC: (\S+) compression: (\S+)", said)
    assert found is not None
    return found[1], found[1] if found[2] == "<implicit>" else found[2], found[3]


@pytest.mark.sshd
async def test_what_is_agreed_on_is_what_ssh_agrees_on_with_a_quick_cipher(own_openssh: OpenSsh) -> None:
    quick = ("-o", "Ciphers=^aes128-gcm@openssh.com")
    for lines, options in (
        ("", quick),
        ("Ciphers -chacha20*", ()),
        ("Ciphers ^aes256-gcm@openssh.com", ()),
        ("Ciphers aes256-ctr,aes128-ctr\n  MACs ^hmac-sha2-512", ()),
        ("Compression yes", quick),
        ("Ciphers chacha20-poly1305@openssh.com", ()),
    ):
        own_openssh.write_config(extra=f"  {lines}\n")
        async with connected(own_openssh) as transport:
            assert transport._link is not None
            info = transport._link.connection.get_extra_info
            agreed = (info("send_cipher"), info("send_mac"), info("send_compression"))
        assert agreed == agreed_by_ssh(own_openssh, *options), lines


@pytest.mark.sshd
@pytest.mark.parametrize(
    ("key", "name"),
    [("Ciphers", "aes128-cbc"), ("KexAlgorithms", "diffie-hellman-group14-sha1"), ("MACs", "hmac-md5")],
)
async def test_an_old_host_is_reached_once_the_configuration_allows_it(
    own_openssh: OpenSsh, key: str, name: str
) -> None:
    own_openssh.reconfigure(**{"Ciphers": "aes128-ctr", key: name})
    error = await refusal(own_openssh)
    assert isinstance(error, HostUnreachable)
    assert f"which your SSH configuration does not allow; if it must be: {key} +{name}" in str(error) or (
        "ended the connection while algorithms were agreed on" in str(error)
    ), "the host may be gone before its list is read"
    own_openssh.write_config(extra=f"  {key} +{name}\n")
    assert await says_hello(own_openssh)


@pytest.mark.sshd
async def test_a_host_key_of_an_old_kind_is_taken_once_the_configuration_allows_it(own_openssh: OpenSsh) -> None:
    rsa = make_key(own_openssh.folder / "host_rsa", kind="rsa")
    own_openssh.know_host_key(rsa)
    own_openssh.reconfigure(HostKey=str(rsa), HostKeyAlgorithms="ssh-rsa")
    assert "ended the connection while algorithms were agreed on" in str(await refusal(own_openssh))
    own_openssh.write_config(extra="  HostKeyAlgorithms +ssh-rsa\n")
    assert await says_hello(own_openssh)


@pytest.mark.sshd
async def test_a_host_that_offers_only_what_specdeck_lacks_is_told_so(own_openssh: OpenSsh) -> None:
    own_openssh.reconfigure(KexAlgorithms="sntrup761x25519-sha512@openssh.com")
    error = str(await refusal(own_openssh))
    assert "sntrup761x25519-sha512@openssh.com" in error or "algorithms were agreed on" in error
    own_openssh.write_config(extra="  KexAlgorithms sntrup761x25519-sha512@openssh.com\n")
    assert "KexAlgorithms sntrup761x25519-sha512@openssh.com: specdeck knows none of them" in str(
        await refusal(own_openssh)
    )


@pytest.mark.sshd
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("PubkeyAcceptedAlgorithms -ssh-ed25519*", "PubkeyAcceptedAlgorithms leaves out 1 key"),
        ("PubkeyAuthentication no", "PubkeyAuthentication or PreferredAuthentications leaves keys out"),
        ("PreferredAuthentications password", "PubkeyAuthentication or PreferredAuthentications leaves keys out"),
    ],
)
async def test_a_key_that_the_configuration_leaves_out_is_not_offered(
    own_openssh: OpenSsh, line: str, words: str
) -> None:
    own_openssh.write_config(extra=f"  {line}\n")
    error = await refusal(own_openssh)
    assert isinstance(error, LoginRefused)
    assert words in str(error)
    assert "publickey" not in own_openssh.log


def test_what_openssh_offers_unasked_is_not_missed_and_what_is_asked_for_is_named() -> None:
    words = {"kexalgorithms": ["sntrup761x25519-sha512@openssh.com,curve25519-sha256"], "macs": ["sand,hmac-sha2-256"]}
    assert unknown_ones(words) == "not known to specdeck and not offered: MACs sand"
    found = algorithms_of(words)
    assert (found.key_exchanges, found.macs, found.ciphers) == (("curve25519-sha256",), ("hmac-sha2-256",), ())


async def test_without_openssh_the_lines_count_too(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    lines = ("Ciphers +sand,aes128-cbc", "MACs -hmac-sha1*", "ProxyCommand nc %h %p", "Compression yes")
    assert await sentences(tmp_path_factory.mktemp("config"), *lines) == (
        "not known to specdeck and not offered: Ciphers sand",
    )

"""Keys on a security key (sk-*): the agent asks for the touch; without an agent one sentence says so. No device is needed."""

import base64
import os
import struct
import subprocess
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.transport.asked import Person
from tests.transport.test_login import refusal, says_hello
from tests.transport.test_questions import refusal as refusal_of_a_person

from specdeck.errors import LoginRefused

pytestmark = pytest.mark.sshd
KIND = b"sk-ssh-ed25519@openssh.com"


def text(*words: bytes) -> bytes:
    """Each with its length before it, as everything in SSH."""
    return b"".join(struct.pack(">I", len(word)) + word for word in words)


def make_security_key(path: Path) -> Path:
    """The file that `ssh-keygen -t ed25519-sk` writes: a public key and a handle of the private one, which stays in the device.

    PROTOCOL.key and PROTOCOL.u2f of OpenSSH.
    """
    public = text(KIND, os.urandom(32), b"ssh:")
    check = os.urandom(4) * 2
    private = check + public + b"\x01" + text(b"a handle that means something to the device", b"", b"a test")
    private += bytes(range(1, 9))[: -len(private) % 8]
    whole = b"openssh-key-v1\0" + text(b"none", b"none", b"") + struct.pack(">I", 1) + text(public, private)
    body = base64.encodebytes(whole).decode()
    path.write_text(f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}-----END OPENSSH PRIVATE KEY-----\n")
    path.chmod(0o600)
    path.with_name(f"{path.name}.pub").write_text(f"{KIND.decode()} {base64.b64encode(public).decode()} a test\n")
    return path


@pytest.fixture
def security_key(own_openssh: OpenSsh) -> Path:
    """The first key of the configuration."""
    key = make_security_key(own_openssh.folder / "id_ed25519_sk")
    own_openssh.write_config(identity=key)
    return key


def test_the_file_of_this_test_is_one_that_openssh_reads(tmp_path: Path) -> None:
    key = make_security_key(tmp_path / "key")
    said = subprocess.run(["ssh-keygen", "-y", "-f", key], capture_output=True, text=True, check=True).stdout
    assert said.split()[:2] == key.with_name("key.pub").read_text().split()[:2]


async def test_a_key_that_needs_a_touch_says_to_use_the_agent(own_openssh: OpenSsh, security_key: Path) -> None:
    error = await refusal(own_openssh)
    assert isinstance(error, LoginRefused)
    assert (
        f"{security_key} is on a security key, which specdeck uses through the agent only; run: ssh-add {security_key}"
        in str(error)
    )


async def test_it_is_no_passphrase_that_is_missing(own_openssh: OpenSsh, security_key: Path) -> None:
    person = Person("whatever")
    assert "is on a security key" in str(await refusal_of_a_person(own_openssh.host(), person))
    assert person.kinds == []


async def test_another_key_of_the_configuration_works_all_the_same(own_openssh: OpenSsh, security_key: Path) -> None:
    with own_openssh.ssh_config.open("a") as file:
        file.write(f"  IdentityFile {own_openssh.user_key}\n")
    assert await says_hello(own_openssh)

"""Certificates of users and of hosts, as a real sshd and ssh-keygen make them."""

import subprocess
from pathlib import Path

import pytest
from tests.openssh import PASSPHRASE, OpenSsh, fingerprint, make_key, running_agent
from tests.transport.test_login import refusal, says_hello

from specdeck.errors import HostKeyChanged, HostKeyUnknown, HostUnreachable, LoginRefused

pytestmark = pytest.mark.sshd


def sign(authority: Path, key: Path, *words: str) -> Path:
    """The certificate of a key: `KEY-cert.pub`, beside it."""
    subprocess.run(
        ["ssh-keygen", "-q", "-s", str(authority), "-I", "a test", *words, f"{key}.pub"],
        check=True,
        capture_output=True,
    )
    return key.with_name(f"{key.name}-cert.pub")


@pytest.fixture
def authority(own_openssh: OpenSsh) -> Path:
    """Whoever it signs may log in, and nobody else."""
    authority = make_key(own_openssh.folder / "authority")
    (own_openssh.folder / "authorized_keys").write_text("")
    (own_openssh.folder / "principals").write_text("team\n")
    own_openssh.reconfigure(
        TrustedUserCAKeys=f"{authority}.pub", AuthorizedPrincipalsFile=str(own_openssh.folder / "principals")
    )
    return authority


class TestOfAUser:
    async def test_a_certificate_beside_the_key_is_shown_by_itself(self, own_openssh: OpenSsh, authority: Path) -> None:
        sign(authority, own_openssh.user_key, "-n", "team")
        assert await says_hello(own_openssh)

    async def test_one_that_the_configuration_names_may_lie_elsewhere(
        self, own_openssh: OpenSsh, authority: Path, tmp_path: Path
    ) -> None:
        elsewhere = sign(authority, own_openssh.user_key, "-n", "team").rename(tmp_path / "mine.pub")
        own_openssh.write_config(extra=f"  CertificateFile {elsewhere}\n")
        assert await says_hello(own_openssh)

    async def test_a_named_one_counts_although_an_old_one_lies_beside_the_key(
        self, own_openssh: OpenSsh, authority: Path, tmp_path: Path
    ) -> None:
        elsewhere = sign(authority, own_openssh.user_key, "-n", "team").rename(tmp_path / "mine.pub")
        sign(authority, own_openssh.user_key, "-n", "nobody")
        own_openssh.write_config(extra=f"  CertificateFile {elsewhere}\n")
        assert await says_hello(own_openssh)

    async def test_one_that_cannot_be_read_does_not_cost_the_key(self, own_openssh: OpenSsh, tmp_path: Path) -> None:
        broken = tmp_path / "broken-cert.pub"
        broken.write_text("ssh-ed25519-cert-v01@openssh.com AAAAnonsense\n")
        own_openssh.write_config(extra=f"  CertificateFile {broken}\n")
        assert await says_hello(own_openssh)

    @pytest.mark.parametrize("only", ["yes", "no"])
    async def test_one_that_the_agent_holds_is_used(
        self, own_openssh: OpenSsh, authority: Path, tmp_path: Path, only: str
    ) -> None:
        locked = make_key(own_openssh.folder / "locked", passphrase=PASSPHRASE)
        sign(authority, locked, "-n", "team")
        with running_agent(tmp_path, locked) as agent:
            own_openssh.write_config(identity=locked)
            text = own_openssh.ssh_config.read_text().replace("IdentityAgent none", f"IdentityAgent {agent}")
            own_openssh.ssh_config.write_text(text.replace("IdentitiesOnly yes", f"IdentitiesOnly {only}"))
            assert await says_hello(own_openssh)

    async def test_one_that_has_run_out_is_named_with_the_time(self, own_openssh: OpenSsh, authority: Path) -> None:
        certificate = sign(authority, own_openssh.user_key, "-n", "team", "-V", "20200101:20200102")
        error = await refusal(own_openssh)
        assert isinstance(error, LoginRefused)
        assert f"the certificate {certificate} ran out on 2020-01-0" in str(error)
        assert "get a new one" in str(error)


class TestOfAHost:
    def signed(self, sshd: OpenSsh, *words: str) -> Path:
        """Its sshd shows a certificate; the authority that made it."""
        authority = make_key(sshd.folder / "host_authority")
        certificate = sign(authority, sshd.host_key, "-h", *words)
        sshd.reconfigure(HostCertificate=str(certificate))
        return authority

    def know_authority(self, sshd: OpenSsh, authority: Path, name: str | None = None) -> None:
        kind, text, *_ = sshd.public(authority).read_text().split()
        sshd.known_hosts.write_text(f"@cert-authority {name or f'[127.0.0.1]:{sshd.port}'} {kind} {text}\n")

    async def test_a_host_that_a_known_authority_signed_is_known(self, own_openssh: OpenSsh) -> None:
        self.know_authority(own_openssh, self.signed(own_openssh, "-n", "127.0.0.1"))
        assert await says_hello(own_openssh)

    async def test_the_name_in_it_may_be_the_alias_of_the_configuration(self, own_openssh: OpenSsh) -> None:
        self.know_authority(own_openssh, self.signed(own_openssh, "-n", "gpu-a.example"), "*.example")
        own_openssh.write_config(extra="  HostKeyAlias gpu-a.example\n")
        assert await says_hello(own_openssh)

    async def test_one_for_another_host_is_said_to_be_so(self, own_openssh: OpenSsh) -> None:
        self.know_authority(own_openssh, self.signed(own_openssh, "-n", "gpu-z.example"))
        error = await refusal(own_openssh)
        assert isinstance(error, HostUnreachable | HostKeyUnknown)
        assert "its host certificate is not for 127.0.0.1" in str(error)

    async def test_one_that_has_run_out_is_said_to_be_so(self, own_openssh: OpenSsh) -> None:
        self.know_authority(own_openssh, self.signed(own_openssh, "-n", "127.0.0.1", "-V", "20200101:20200102"))
        error = await refusal(own_openssh)
        assert "its host certificate has run out" in str(error)

    async def test_without_its_authority_the_key_itself_counts(self, own_openssh: OpenSsh) -> None:
        self.signed(own_openssh, "-n", "127.0.0.1")
        assert await says_hello(own_openssh)
        own_openssh.known_hosts.write_text("")
        error = await refusal(own_openssh)
        assert isinstance(error, HostKeyUnknown)
        assert fingerprint(own_openssh.host_key) in str(error)

    async def test_a_revoked_authority_is_refused(self, own_openssh: OpenSsh) -> None:
        authority = self.signed(own_openssh, "-n", "127.0.0.1")
        self.know_authority(own_openssh, authority)
        kind, text, *_ = own_openssh.public(authority).read_text().split()
        with own_openssh.known_hosts.open("a") as file:
            file.write(f"@revoked * {kind} {text}\n")
        error = await refusal(own_openssh)
        assert isinstance(error, HostKeyChanged)
        assert "revoked" in str(error)

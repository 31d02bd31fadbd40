"""Where a host's key may be known: under an alias, in several files, hashed, with a port, and what overrules it."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.openssh import OpenSsh, fingerprint, hash_names, make_key
from tests.transport.asked import Person
from tests.transport.test_login import refusal, says_hello
from tests.transport.test_questions import logged_in

from specdeck.errors import HostKeyChanged, HostKeyUnknown
from specdeck.transport.host_keys import ACCEPTED
from specdeck.transport.questions import Memory

pytestmark = pytest.mark.sshd


def entry(sshd: OpenSsh, name: str, key: Path | None = None) -> str:
    """A line of known_hosts."""
    kind, text, *_ = sshd.public(key or sshd.host_key).read_text().split()
    return f"{name} {kind} {text}\n"


def use_alias(sshd: OpenSsh, alias: str = "gpu-a-key") -> None:
    with sshd.ssh_config.open("a") as file:
        file.write(f"  HostKeyAlias {alias}\n")


class TestAlias:
    async def test_the_key_is_known_under_the_alias_without_a_port(self, own_openssh: OpenSsh) -> None:
        use_alias(own_openssh)
        own_openssh.known_hosts.write_text(entry(own_openssh, "gpu-a-key"))
        assert await says_hello(own_openssh)

    async def test_the_address_counts_no_more(self, own_openssh: OpenSsh) -> None:
        use_alias(own_openssh)
        assert isinstance(await refusal(own_openssh), HostKeyUnknown)

    async def test_a_new_key_is_written_down_under_the_alias(self, own_openssh: OpenSsh) -> None:
        use_alias(own_openssh)
        text = own_openssh.ssh_config.read_text().replace("Checking yes", "Checking accept-new")
        own_openssh.ssh_config.write_text(text)
        own_openssh.known_hosts.write_text("")
        assert await says_hello(own_openssh)
        assert own_openssh.known_hosts.read_text() == entry(own_openssh, "gpu-a-key")

    async def test_a_changed_one_is_removed_under_the_alias(self, own_openssh: OpenSsh) -> None:
        use_alias(own_openssh)
        old = make_key(own_openssh.folder / "old")
        own_openssh.known_hosts.write_text(entry(own_openssh, "gpu-a-key", old))
        error = await refusal(own_openssh)
        assert isinstance(error, HostKeyChanged)
        assert f"ssh-keygen -f {own_openssh.known_hosts} -R gpu-a-key" in str(error)


class TestSeveralFiles:
    @pytest.fixture
    def second(self, own_openssh: OpenSsh) -> Path:
        """Read after the first."""
        second = own_openssh.folder / "known_hosts2"
        text = own_openssh.ssh_config.read_text()
        own_openssh.ssh_config.write_text(
            text.replace(f"HostsFile {own_openssh.known_hosts}", f"HostsFile {own_openssh.known_hosts} {second}")
        )
        return second

    @pytest.mark.parametrize("is_hashed", [False, True])
    async def test_a_key_in_the_second_file_is_known(self, own_openssh: OpenSsh, second: Path, is_hashed: bool) -> None:
        own_openssh.known_hosts.rename(second)
        if is_hashed:
            hash_names(second)
        assert await says_hello(own_openssh)

    async def test_one_in_the_global_file_is_known(self, own_openssh: OpenSsh, tmp_path: Path) -> None:
        everybodys = own_openssh.known_hosts.rename(tmp_path / "everybodys")
        text = own_openssh.ssh_config.read_text().replace("HostsFile /dev/null", f"HostsFile {everybodys}")
        own_openssh.ssh_config.write_text(text)
        assert await says_hello(own_openssh)

    async def test_a_changed_key_is_removed_from_the_file_that_holds_it(
        self, own_openssh: OpenSsh, second: Path
    ) -> None:
        old = make_key(own_openssh.folder / "old")
        own_openssh.known_hosts.write_text("# other hosts\n")
        second.write_text(entry(own_openssh, f"[127.0.0.1]:{own_openssh.port}", old))  # noqa: ASYNC240
        error = await refusal(own_openssh)
        assert isinstance(error, HostKeyChanged)
        assert f"ssh-keygen -f {second} -R '[127.0.0.1]:{own_openssh.port}'" in str(error)

    async def test_the_command_of_the_sentence_mends_it(self, own_openssh: OpenSsh, second: Path) -> None:
        old = make_key(own_openssh.folder / "old")
        for file in (own_openssh.known_hosts, second):
            file.write_text(entry(own_openssh, f"[127.0.0.1]:{own_openssh.port}", old))
            hash_names(file)
        command = str(await refusal(own_openssh)).partition("If it was installed anew: ")[2]
        subprocess.run(["sh", "-c", command], check=True, capture_output=True)  # noqa: ASYNC221
        error = await refusal(own_openssh)
        assert isinstance(error, HostKeyUnknown)
        assert fingerprint(own_openssh.host_key) in str(error)


class TestOverruled:
    async def test_a_revoked_key_is_refused_although_another_file_knows_it(self, own_openssh: OpenSsh) -> None:
        revoked = own_openssh.folder / "revoked"
        revoked.write_text(f"@revoked * {entry(own_openssh, '').strip()}\n")
        text = own_openssh.ssh_config.read_text().replace("HostsFile /dev/null", f"HostsFile {revoked}")
        own_openssh.ssh_config.write_text(text)
        error = await refusal(own_openssh)
        assert isinstance(error, HostKeyChanged)
        assert "marks as revoked; do not connect" in str(error)

    async def test_a_pattern_that_leaves_this_host_out_does_not_know_it(self, own_openssh: OpenSsh) -> None:
        own_openssh.known_hosts.write_text(entry(own_openssh, f"[127.0.0.*]:*,![127.0.0.1]:{own_openssh.port}"))
        assert isinstance(await refusal(own_openssh), HostKeyUnknown)

    async def test_two_keys_of_one_name_are_both_good(self, own_openssh: OpenSsh) -> None:
        """A pair of hosts behind one name, or a host whose key is being changed."""
        name = f"[127.0.0.1]:{own_openssh.port}"
        old = make_key(own_openssh.folder / "old")
        own_openssh.known_hosts.write_text(entry(own_openssh, name, old) + entry(own_openssh, name))
        assert await says_hello(own_openssh)


class TestNoneKept:
    """`UserKnownHostsFile /dev/null`, as clusters that install their hosts anew every night have it."""

    @pytest.fixture(autouse=True)
    def nothing_is_kept(self, own_openssh: OpenSsh) -> Iterator[None]:
        text = own_openssh.ssh_config.read_text()
        own_openssh.ssh_config.write_text(text.replace(f"HostsFile {own_openssh.known_hosts}", "HostsFile /dev/null"))
        yield
        ACCEPTED.clear()

    def set_checking(self, sshd: OpenSsh, word: str) -> None:
        sshd.ssh_config.write_text(sshd.ssh_config.read_text().replace("Checking yes", f"Checking {word}"))

    async def test_a_user_who_checks_nothing_gets_in(self, own_openssh: OpenSsh) -> None:
        self.set_checking(own_openssh, "no")
        assert await says_hello(own_openssh)
        assert await says_hello(own_openssh)

    async def test_a_user_who_is_asked_is_asked_once(self, own_openssh: OpenSsh) -> None:
        person = Person("yes", memory=Memory())
        for _ in range(2):
            async with logged_in(own_openssh.host(), person):
                pass
        assert person.kinds == ["host-key"]

    async def test_a_key_that_changes_meanwhile_is_refused(self, own_openssh: OpenSsh) -> None:
        self.set_checking(own_openssh, "no")
        assert await says_hello(own_openssh)
        make_key(own_openssh.host_key)
        own_openssh.restart()
        error = await refusal(own_openssh)
        assert isinstance(error, HostKeyChanged)
        assert str(error).endswith("If it was installed anew: start specdeck again")

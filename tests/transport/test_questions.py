"""What a login must ask a human: once, in order, only if nothing else works, and never again by itself."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.openssh import PASSPHRASE, OpenSsh, fingerprint, make_key, running_agent
from tests.transport.asked import Person, SilentPerson
from tests.transport.password_host import CODE, PASSWORD, PasswordHost

from specdeck.config.objects import Host
from specdeck.errors import HostKeyChanged, HostKeyUnknown, HostUnreachable, LoginRefused, TransportError
from specdeck.state.snapshot import Question
from specdeck.transport.script import Script
from specdeck.transport.ssh import SshTransport


@asynccontextmanager
async def logged_in(host: Host, person: Person | None) -> AsyncIterator[SshTransport]:
    transport = SshTransport(host, person)
    try:
        await transport.connect()
        yield transport
    finally:
        await transport.close()


async def refusal(host: Host, person: Person | None) -> TransportError:
    with pytest.raises(TransportError) as caught:
        async with logged_in(host, person):
            pass
    return caught.value


@pytest.fixture
async def password_host(tmp_path: Path) -> AsyncIterator[PasswordHost]:
    async with PasswordHost(tmp_path).running() as host:
        yield host


@pytest.mark.sshd
class TestHostKey:
    async def test_a_new_key_is_shown_with_its_fingerprint_and_written_down_once_accepted(
        self, own_openssh: OpenSsh
    ) -> None:
        right = own_openssh.known_hosts.read_text()
        own_openssh.known_hosts.write_text("")
        person = Person("yes")
        async with logged_in(own_openssh.host(), person) as transport:
            assert (await transport.run(Script("echo hello"))).stdout == b"hello\n"
        assert person.kinds == ["host-key"]
        assert person.questions[0].place == f"gpu-a (127.0.0.1:{own_openssh.port})"
        assert fingerprint(own_openssh.host_key) in person.questions[0].text
        assert own_openssh.known_hosts.read_text() == right

    async def test_anything_but_yes_leaves_it_unknown(self, own_openssh: OpenSsh) -> None:
        own_openssh.known_hosts.write_text("")
        person = Person("y")
        error = await refusal(own_openssh.host(), person)
        assert isinstance(error, HostKeyUnknown)
        assert str(error).endswith("; you did not accept it")
        assert (own_openssh.known_hosts.read_text(), person.kinds) == ("", ["host-key"])

    async def test_a_changed_key_is_never_a_question(self, own_openssh: OpenSsh) -> None:
        own_openssh.know_host_key(make_key(own_openssh.folder / "old"))
        person = Person("yes")
        assert isinstance(await refusal(own_openssh.host(), person), HostKeyChanged)
        assert person.kinds == []

    async def test_a_known_hosts_file_that_cannot_be_written_is_named(self, own_openssh: OpenSsh) -> None:
        own_openssh.known_hosts.unlink()
        own_openssh.known_hosts.mkdir()
        error = await refusal(own_openssh.host(), Person("yes"))
        assert isinstance(error, HostUnreachable)
        assert f"its key cannot be written into {own_openssh.known_hosts}" in str(error)


@pytest.mark.sshd
class TestPassphrase:
    @pytest.fixture
    def locked(self, own_openssh: OpenSsh) -> Path:
        """The only key that the host takes."""
        key = make_key(own_openssh.folder / "locked", passphrase=PASSPHRASE)
        (own_openssh.folder / "authorized_keys").write_text(own_openssh.public(key).read_text())
        own_openssh.write_config(identity=key)
        return key

    async def test_a_locked_key_is_opened_by_its_passphrase(self, own_openssh: OpenSsh, locked: Path) -> None:
        person = Person(PASSPHRASE)
        async with logged_in(own_openssh.host(), person):
            pass
        assert [(each.kind, each.place, each.is_secret) for each in person.questions] == [
            ("passphrase", str(locked), True)
        ]

    async def test_nothing_is_asked_where_the_agent_holds_the_key(
        self, own_openssh: OpenSsh, locked: Path, tmp_path: Path
    ) -> None:
        with running_agent(tmp_path, locked) as agent:
            text = own_openssh.ssh_config.read_text().replace("IdentityAgent none", f"IdentityAgent {agent}")
            own_openssh.ssh_config.write_text(text)
            person = Person(PASSPHRASE)
            async with logged_in(own_openssh.host(), person):
                pass
        assert person.kinds == []

    async def test_nothing_is_asked_where_another_key_works(self, own_openssh: OpenSsh, locked: Path) -> None:
        with (own_openssh.folder / "authorized_keys").open("a") as keys:
            keys.write(own_openssh.public(own_openssh.user_key).read_text())
        with own_openssh.ssh_config.open("a") as file:
            file.write(f"  IdentityFile {own_openssh.user_key}\n")
        person = Person(PASSPHRASE)
        async with logged_in(own_openssh.host(), person):
            pass
        assert person.kinds == []

    async def test_a_wrong_passphrase_is_no_login_and_asked_anew_with_a_word(
        self, own_openssh: OpenSsh, locked: Path
    ) -> None:
        person = Person("wrong", PASSPHRASE)
        async with logged_in(own_openssh.host(), person):
            pass
        assert [each.text for each in person.questions] == [
            "passphrase of the key",
            "that does not open it; passphrase of the key",
        ]

    async def test_eight_hosts_with_one_key_ask_once(self, own_openssh: OpenSsh, locked: Path) -> None:
        person = Person(PASSPHRASE)
        hosts = [SshTransport(own_openssh.host(str(number)), person) for number in range(8)]
        await asyncio.gather(*(host.connect() for host in hosts))
        assert person.kinds == ["passphrase"]
        await hosts[0].connect()
        assert person.kinds == ["passphrase"], "a new connection uses the key that is open"
        await asyncio.gather(*(host.close() for host in hosts))

    async def test_declined_it_says_what_to_run(self, own_openssh: OpenSsh, locked: Path) -> None:
        error = await refusal(own_openssh.host(), Person(None))
        assert isinstance(error, LoginRefused)
        assert f"is locked and not in the agent; run: ssh-add {locked}" in str(error)

    async def test_a_new_host_asks_for_its_key_first_then_for_the_passphrase(
        self, own_openssh: OpenSsh, locked: Path
    ) -> None:
        own_openssh.known_hosts.write_text("")
        person = Person("yes", PASSPHRASE)
        async with logged_in(own_openssh.host(), person):
            pass
        assert person.kinds == ["host-key", "passphrase"]


class TestPassword:
    async def test_the_right_one_logs_in(self, password_host: PasswordHost) -> None:
        person = Person(PASSWORD)
        async with logged_in(password_host.host, person) as transport:
            assert (await transport.run(Script("echo hello"))).stdout == b"hello\n"
        assert (person.kinds, password_host.tried) == (["password"], [PASSWORD])
        assert person.questions[0].is_secret

    async def test_a_wrong_one_is_sent_once_and_is_in_no_sentence(self, password_host: PasswordHost) -> None:
        person = Person("hunter2", PASSWORD)
        error = await refusal(password_host.host, person)
        assert isinstance(error, LoginRefused)
        assert "refused ann: the answer was not accepted" in str(error)
        assert password_host.tried == ["hunter2"]
        assert "hunter2" not in f"{error!r} {error.__cause__!r} {person.memory!r}"

    async def test_without_anybody_to_ask_the_sentence_says_so(self, password_host: PasswordHost) -> None:
        error = await refusal(password_host.host, None)
        assert isinstance(error, LoginRefused)
        assert "it takes a password, and nobody can be asked here: run specdeck in a terminal" in str(error)
        assert password_host.tried == []

    @pytest.mark.parametrize("line", ["PasswordAuthentication no", "BatchMode yes"])
    async def test_who_wants_no_passwords_is_not_asked_for_one(self, password_host: PasswordHost, line: str) -> None:
        host = password_host.host
        assert host.ssh_config is not None
        with host.ssh_config.open("a") as file:
            file.write(f"  {line}\n")
        person = Person(PASSWORD)
        assert isinstance(await refusal(host, person), LoginRefused)
        assert (person.kinds, password_host.tried) == ([], [])

    async def test_declined_it_is_refused(self, password_host: PasswordHost) -> None:
        error = await refusal(password_host.host, Person(None))
        assert isinstance(error, LoginRefused)
        assert "the question was not answered" in str(error)

    async def test_a_connection_that_comes_back_uses_the_one_that_worked(self, password_host: PasswordHost) -> None:
        person = Person(PASSWORD)
        async with logged_in(password_host.host, person) as transport:
            password_host.drop_all()
            await transport.wait_lost()
            await transport.connect()
            assert (await transport.run(Script("echo again"))).stdout == b"again\n"
        assert (person.kinds, password_host.logins) == (["password"], 2)

    async def test_who_thinks_for_a_minute_gets_in_all_the_same(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No limit of a connection or a login runs on meanwhile; the minute is a jump of the loop's clock."""
        loop, thought = asyncio.get_running_loop(), [0.0]
        now = loop.time
        monkeypatch.setattr(loop, "time", lambda: now() + sum(thought))

        class Thinker(Person):
            async def ask(self, question: Question) -> str | None:
                thought.append(60.0)
                for _ in range(20):
                    await asyncio.sleep(0)  # whatever is due now happens
                return await super().ask(question)

        async with PasswordHost(tmp_path, grace_seconds=0).running() as host, logged_in(host.host, Thinker(PASSWORD)):
            assert host.tried == [PASSWORD]

    async def test_a_host_that_loses_patience_is_not_tried_again_by_itself(self, tmp_path: Path) -> None:
        async with PasswordHost(tmp_path, grace_seconds=1.5).running() as host:
            error = await refusal(host.host, SilentPerson())
        assert isinstance(error, LoginRefused)
        assert "no answer came in time" in str(error)

    async def test_a_host_that_hangs_up_on_a_wrong_one_is_not_tried_again_by_itself(self, tmp_path: Path) -> None:
        async with PasswordHost(tmp_path, drops_who_errs=True).running() as host:
            error = await refusal(host.host, Person("hunter2", "hunter3"))
        assert isinstance(error, LoginRefused)
        assert str(error).endswith("ended the connection after the answer of ann; it is not tried again by itself")
        assert host.tried == ["hunter2"]


class TestSecondFactor:
    async def test_each_prompt_of_the_host_is_a_question(self, tmp_path: Path) -> None:
        async with PasswordHost(tmp_path, wants=("code",)).running() as host:
            person = Person(PASSWORD, CODE)
            async with logged_in(host.host, person):
                pass
        assert [(each.text, each.is_secret) for each in person.questions] == [
            ("Two steps. Password:", True),
            ("Two steps. Verification code:", False),
        ]

    async def test_a_wrong_code_is_sent_once(self, tmp_path: Path) -> None:
        async with PasswordHost(tmp_path, wants=("code", "password")).running() as host:
            person = Person(PASSWORD, "000000", PASSWORD, CODE)
            assert isinstance(await refusal(host.host, person), LoginRefused)
            assert (len(person.questions), host.tried) == (2, [PASSWORD, "000000"])

    async def test_a_prompt_that_would_drive_the_terminal_is_plain_text(self, tmp_path: Path) -> None:
        prompt = "\x1b]0;title\x07\x1b[2J[@click=app.quit]Code\r\n‮: "
        async with PasswordHost(tmp_path, wants=("code",), prompt=prompt).running() as host:
            person = Person(PASSWORD, CODE)
            async with logged_in(host.host, person):
                pass
        assert person.questions[1].text.isprintable()
        assert person.questions[1].text.startswith("Two steps. [@click=app.quit]Code")

    async def test_a_code_is_asked_anew_after_a_loss(self, tmp_path: Path) -> None:
        async with PasswordHost(tmp_path, wants=("code",)).running() as host:
            person = Person(PASSWORD, CODE, None)
            async with logged_in(host.host, person) as transport:
                host.drop_all()
                await transport.wait_lost()
                with pytest.raises(LoginRefused):
                    await transport.connect()
            assert len(person.questions) == 3


@pytest.mark.sshd
async def test_the_question_of_a_jump_host_names_the_jump_host(own_openssh: OpenSsh) -> None:
    own_openssh.known_hosts.write_text("")
    with own_openssh.ssh_config.open("a") as file:
        file.write(own_openssh.ssh_config.read_text().replace("Host gpu-a", "Host deep") + "  ProxyJump gpu-a\n")
    person = Person(None)
    error = await refusal(replace(own_openssh.host(), ssh="deep"), person)
    assert isinstance(error, HostKeyUnknown)
    assert person.questions[0].place == f"gpu-a (127.0.0.1:{own_openssh.port})"
    assert str(error).startswith("on the way to deep: gpu-a")
    gc.collect()

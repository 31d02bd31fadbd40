"""A host whose login asks, through the whole deck: the others go on, answers get into no state, nothing is tried by itself."""

import asyncio
import getpass
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.openssh import PASSPHRASE, OpenSsh, make_key
from tests.services.lab import Lab
from tests.services.waiting import until
from tests.transport.password_host import PASSWORD, PasswordHost

from specdeck.config.objects import Fleet, Host
from specdeck.services.open_deck import open_deck
from specdeck.services.own_log import own_log_path
from specdeck.services.watching import WatchingDeck
from specdeck.state.snapshot import Question
from specdeck.ui.drawing.server_table import link_words


@pytest.fixture
async def asks(tmp_path: Path) -> AsyncIterator[PasswordHost]:
    folder = tmp_path / "password-host"
    folder.mkdir()
    async with PasswordHost(folder).running() as host:
        yield host


def fleet(asks: PasswordHost, lab: Lab) -> Fleet:
    """One host asks, the other is this machine."""
    return Fleet((asks.host, Host("here", "localhost", env=lab.env)), {})


async def question_of(deck: WatchingDeck) -> Question:
    state = await until(deck, lambda state: state.hosts[0].question)
    question = state.hosts[0].question
    assert question is not None
    return question


async def test_the_other_host_is_up_while_one_waits_and_the_answer_lets_it_in(
    asks: PasswordHost, tmp_path: Path
) -> None:
    lab = Lab(tmp_path)
    async with open_deck(fleet(asks, lab), ask="screen") as deck:
        question = await question_of(deck)
        assert (question.kind, question.text) == ("password", "password of ann")
        await until(deck, lambda state: state.hosts[1].link == "up")
        deck.answer(question, PASSWORD)
        state = await until(deck, lambda state: state.hosts[0].link == "up")
        assert state.hosts[0].question is None
        asks.drop_all()
        await until(deck, lambda state: state.hosts[0].link == "down")
        await until(deck, lambda state: state.hosts[0].link == "up")
    assert asks.tried == [PASSWORD, PASSWORD], "asked once, used again after the loss"
    assert PASSWORD not in repr(deck.store.state)


async def test_a_wrong_answer_is_final_until_the_user_refreshes(asks: PasswordHost, tmp_path: Path) -> None:
    async with open_deck(fleet(asks, Lab(tmp_path)), ask="screen") as deck:
        deck.answer(await question_of(deck), "hunter2")
        state = await until(deck, lambda state: state.hosts[0].link == "down")
        assert (state.hosts[0].retry_at, state.hosts[0].question) == (None, None)
        assert "the answer was not accepted" in (state.hosts[0].error or "")
        await deck.refresh()
        deck.answer(await question_of(deck), PASSWORD)
        await until(deck, lambda state: state.hosts[0].link == "up")
    assert asks.tried == ["hunter2", PASSWORD]
    assert "hunter2" not in repr(deck.store.state)
    assert not own_log_path().exists() or "hunter2" not in own_log_path().read_text()


async def test_a_declined_question_leaves_the_host_alone(asks: PasswordHost, tmp_path: Path) -> None:
    async with open_deck(fleet(asks, Lab(tmp_path)), ask="screen") as deck:
        deck.answer(await question_of(deck), None)
        state = await until(deck, lambda state: state.hosts[0].link == "down")
    assert state.hosts[0].retry_at is None
    assert "the question was not answered" in (state.hosts[0].error or "")


async def test_without_anybody_to_ask_the_host_says_so(asks: PasswordHost, tmp_path: Path) -> None:
    async with open_deck(fleet(asks, Lab(tmp_path))) as deck:
        state = await until(deck, lambda state: state.hosts[0].link == "down")
    assert "nobody can be asked here: run specdeck in a terminal" in (state.hosts[0].error or "")


async def test_a_verb_that_asks_waits_for_its_user(asks: PasswordHost, tmp_path: Path) -> None:
    thinking = asyncio.Event()

    async def ask(question: Question) -> str | None:
        await thinking.wait()
        return PASSWORD

    async with open_deck(fleet(asks, Lab(tmp_path)), ask=ask) as deck:
        waiting = asyncio.create_task(deck.wait_answered(0.2))
        await question_of(deck)
        done, _ = await asyncio.wait([waiting], timeout=0.5)
        assert not done
        thinking.set()
        async with asyncio.timeout(90):
            await waiting
            await until(deck, lambda state: state.hosts[0].link == "up")


@pytest.mark.sshd
async def test_who_waits_for_another_ones_answer_says_so_and_has_all_the_time(
    own_openssh: OpenSsh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three hosts behind a bastion whose key is new; then one locked key for all three. Each question takes an hour."""
    loop, thought = asyncio.get_running_loop(), [0.0]
    now = loop.time
    monkeypatch.setattr(loop, "time", lambda: now() + sum(thought))
    locked = make_key(own_openssh.folder / "locked", passphrase=PASSPHRASE)
    with (own_openssh.folder / "authorized_keys").open("a") as file:
        file.write(own_openssh.public(locked).read_text())
    bastion = own_openssh.ssh_config.read_text().replace(str(own_openssh.known_hosts), f"{tmp_path}/none")
    deep = own_openssh.ssh_config.read_text().replace("Host gpu-a", "Host deep*")
    deep = deep.replace(str(own_openssh.user_key), str(locked)) + "  ProxyJump gpu-a\n"
    own_openssh.ssh_config.write_text(bastion + deep)
    hosts = tuple(Host(f"deep{n}", f"deep{n}", ssh_config=own_openssh.ssh_config) for n in range(3))
    async with open_deck(Fleet(hosts, {}), ask="screen") as deck:
        place = f"gpu-a (127.0.0.1:{own_openssh.port})"
        for waits, answer in (
            (f"waits for your word on the new host key of {place}", "yes"),
            (f"waits for the passphrase of {locked}", PASSPHRASE),
        ):
            state = await until(deck, lambda state: all(each.waits_for for each in state.hosts))
            assert [link_words(host, state.at) for host in state.hosts] == [waits] * 3
            (question,) = [host.question for host in state.hosts if host.question]
            thought.append(3600.0)
            for _ in range(50):
                await asyncio.sleep(0)  # whatever is due now happens
            assert [host.link for host in deck.store.state.hosts] == ["connecting"] * 3
            deck.answer(question, answer)
            await until(deck, lambda state: all(each.waits_for != waits for each in state.hosts))  # noqa: B023
        state = await until(deck, lambda state: all(host.link == "up" for host in state.hosts))
    assert [host.waits_for for host in state.hosts] == [None] * 3
    user = getpass.getuser()
    assert [host.route for host in state.hosts] == [
        f"{user}@deep{number} (127.0.0.1:{own_openssh.port}) through {place}" for number in range(3)
    ]

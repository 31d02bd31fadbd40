"""What an answer of the health endpoint means, and where the key comes from."""

from pathlib import Path

import pytest
from tests.services.lab import Lab

from specdeck.config.objects import Host
from specdeck.services.api_keys import Key, read_key
from specdeck.services.health_words import witness
from specdeck.transport.asking import Asker, NoReply, Reply
from specdeck.transport.local import LocalTransport


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (200, "ok"),
        (204, "ok"),
        (401, "key-needed"),
        (403, "key-needed"),
        (503, "unavailable"),
        (500, "error"),
        (404, "error"),
    ],
)
def test_a_status_has_one_meaning(status: int, state: str) -> None:
    assert witness(Reply(status, b"", 0.5), 7.0).state == state


@pytest.mark.parametrize("why", ["refused", "timeout", "error"])
def test_no_answer_keeps_its_reason(why: str) -> None:
    seen = witness(NoReply(why, "words"), 7.0)  # type: ignore[arg-type]
    assert (seen.state, seen.status, seen.detail, seen.at) == (why, None, "words", 7.0)


async def test_the_key_comes_from_the_environment_or_a_file_and_a_missing_one_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path)
    transport = LocalTransport(Host("lab", "localhost"))
    (tmp_path / "key").write_text("from-a-file\n")
    (tmp_path / "two").write_text("first-line\nsecond-line\n")
    monkeypatch.setenv("A_KEY", "from-the-environment")

    async def value(**keys: str) -> str | None:
        return (await read_key(transport, lab.server(**keys))).value

    assert await value(api_key_env="A_KEY") == "from-the-environment"
    assert await value(api_key_file=str(tmp_path / "key")) == "from-a-file"
    assert await value(api_key_file=str(tmp_path / "two")) is None
    assert await value(api_key_file=str(tmp_path / "nope")) is None
    assert await value(api_key_env="NO_SUCH_KEY") is None
    assert await value() is None


def test_a_key_is_in_no_representation() -> None:
    assert "secret" not in repr(Key("secret", "the key in $A is refused"))


def test_a_403_shows_what_stands_in_front_without_its_markup() -> None:
    seen = witness(
        Reply(403, b"<html><b>proxy says no</b>\x1b[31m</html>" + b"x" * 500, 0.1), 7.0, Key(trouble="set a key")
    )
    assert seen.detail.startswith('"proxy says no')
    assert "<" not in seen.detail
    assert "\x1b" not in seen.detail
    assert seen.detail.endswith("; set a key")
    assert len(seen.detail) < 110


async def test_a_closed_port_is_refused_and_no_proxy_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    transport = LocalTransport(Host("lab", "localhost"))
    asker = Asker(transport, f"http://127.0.0.1:{Lab(tmp_path).port}")
    reply = await asker.get("/health", limit_seconds=5.0)
    await asker.close()
    assert isinstance(reply, NoReply)
    assert reply.why == "refused"

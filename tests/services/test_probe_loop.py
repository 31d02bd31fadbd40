"""What an answer of the health endpoint means, and where the key comes from."""

from pathlib import Path

import pytest
from tests.services.lab import Lab

from specdeck.config.objects import Host
from specdeck.services.probe_loop import api_key, witness
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


def test_the_key_comes_from_the_environment_or_a_file_and_a_missing_one_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path)
    (tmp_path / "key").write_text("from-a-file\n")
    monkeypatch.setenv("A_KEY", "from-the-environment")
    assert api_key(lab.server(api_key_env="A_KEY")) == "from-the-environment"
    assert api_key(lab.server(api_key_file=str(tmp_path / "key"))) == "from-a-file"
    assert api_key(lab.server(api_key_file=str(tmp_path / "nope"))) is None
    assert api_key(lab.server(api_key_env="NO_SUCH_KEY")) is None
    assert api_key(lab.server()) is None


async def test_a_closed_port_is_refused_and_no_proxy_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    transport = LocalTransport(Host("lab", "localhost"))
    asker = Asker(transport, f"http://127.0.0.1:{Lab(tmp_path).port}")
    reply = await asker.get("/health", limit_seconds=5.0)
    await asker.close()
    assert isinstance(reply, NoReply)
    assert reply.why == "refused"

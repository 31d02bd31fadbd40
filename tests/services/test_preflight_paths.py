"""Which paths a preflight looks for on the host: those of the fleet file and those that a profile's flags name."""

import pytest

from specdeck.config.objects import Server
from specdeck.services.preflight.script import paths_of

SERVER = Server("kimi", "lab", "/data/models/kimi", 30000, draft_model="/data/eagle3/draft")


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ("--speculative-draft-model-path /data/nowhere", ["/data/nowhere"]),
        ("--tokenizer-path=/data/other --tp-size 8", ["/data/other"]),
        ("--model-path /data/models/kimi --chat-template ~/chat.jinja", ["~/chat.jinja"]),
        ("--tokenizer org/name --file-storage-path /var/new --log-dir /var/log", []),
        ("--tokenizer-path", []),
    ],
)
def test_flags_that_an_engine_reads_from_name_paths_that_must_be_there(words: str, more: list[str]) -> None:
    assert paths_of(SERVER, ["python3", "-m", "engine", *words.split()]) == [
        *("/data/models/kimi", "/data/eagle3/draft"),
        *more,
    ]


def test_a_model_that_is_a_name_on_a_hub_is_no_path() -> None:
    assert paths_of(Server("kimi", "lab", "org/kimi", 30000), ["vllm", "serve", "org/kimi"]) == []

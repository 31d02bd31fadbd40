"""What a pivot between v1 and v2 means by version: the table of the releases, read from their sources."""

import pytest

from specdeck.engines.sglang.modes import mode_note

V1 = {"--speculative-algorithm": "EAGLE3", "--speculative-eagle-topk": "4"}
V2 = {"--speculative-algorithm": "EAGLE3", "--speculative-eagle-topk": "1"}
ON, OFF = {"SGLANG_ENABLE_SPEC_V2": "True"}, {"SGLANG_ENABLE_SPEC_V2": "False"}


@pytest.mark.parametrize(
    ("version", "flags", "env", "says"),
    [
        ("0.5.4", V2, ON, "the v1 worker, the only one of this version"),
        ("0.5.7", V2, {}, "the v1 worker"),
        ("0.5.7", V2, ON, "the v2 worker with overlap"),
        ("0.5.5", V1, ON, "not rejected but fails while it loads"),
        ("0.5.10", V1, ON, "it will refuse to start"),
        ("0.5.12", V1, OFF, "the v1 worker, a tree of topk 4"),
        ("0.5.12", V1, {}, "the v1 worker: v2 takes topk 1 only, and with topk 4 this version falls back silently"),
        ("0.5.12", V2, {}, "the v2 worker with overlap"),
        ("0.5.13", V1, OFF, "the v2 worker, synchronous (v1 is gone)"),
        ("0.5.13", V1, ON, "the v2 worker, with overlap (v1 is gone)"),
        ("0.5.23", V1, OFF, "the v2 worker, with overlap (v1 is gone); SGLANG_ENABLE_SPEC_V2 is ignored"),
        ("0.5.23", {**V1, "--disable-overlap-schedule": ""}, {}, "the v2 worker, synchronous (v1 is gone)"),
    ],
)
def test_the_worker_follows_from_version_variable_and_topk(
    version: str, flags: dict[str, str], env: dict[str, str], says: str
) -> None:
    note = mode_note(version, flags, env)
    assert note is not None
    assert note.startswith(f"On SGLang {version}: ")
    assert says in note


def test_without_speculation_there_is_nothing_to_say() -> None:
    assert mode_note("0.5.12", {}, ON) is None
    assert mode_note("0.5.12", {"--speculative-algorithm": "NGRAM"}, {}) is None

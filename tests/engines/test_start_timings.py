"""What SGLang itself says of its start: the same figures from its log and from its endpoint, and what is made of them."""

import gzip
import json

import pytest
from tests.engines.reading import CAPTURES

from specdeck.engines.reader import LogReader
from specdeck.engines.registry import ENGINES
from specdeck.state.timings import StartTimings, lengths_without_log, refined

LINE = (
    "[2026-11-29 14:38:50] Engine startup timings (s): load_weight=25.10, kv_cache_allocation=1.20, scheduler_e2e=480.00, "
    "cuda_graph={prefill=10.00, decode=20.00, target_verify=120.00, draft_prefill=0.00, draft_decode=7.50, draft_extend=2.50}, "
    "tokenizer_e2e=492.00\n"
)
MEASURED = StartTimings((("weights", 25.1), ("kv_cache", 1.2), ("graphs", 150.0), ("draft_graphs", 10.0)), 480.0, 492.0)


def told(line: str) -> StartTimings | None:
    reader = LogReader("sglang")
    reader.feed(line.encode(), 0.0)
    return reader.story.timings


def test_the_line_of_the_log_tells_weights_pool_and_both_kinds_of_graphs() -> None:
    assert told(LINE) == MEASURED


@pytest.mark.parametrize("piece", ["load_weight=25.10, ", "scheduler_e2e=480.00, ", "25.10"])
def test_a_line_without_one_of_them_tells_nothing(piece: str) -> None:
    assert told(LINE.replace(piece, "" if piece != "25.10" else "2.5.1")) is None


def test_a_real_server_says_in_its_endpoint_what_it_said_in_its_log() -> None:
    tape = gzip.decompress((CAPTURES / "recordings" / "sglang_baseline.rec.gz").read_bytes())
    lines = tape.decode().splitlines()
    entries = [json.loads(line) for line in lines[1:]]
    body = next(each["content"] for each in entries if each["name"].endswith("/server_info"))
    text = "".join(each.get("content", "") for each in entries if each["name"] == "log_follow")
    engine = ENGINES["sglang"]
    probe = next(probe for probe in engine.probes if probe.path == "/server_info")
    answered = engine.read_answer(probe, body.encode()).timings
    logged = told(text[text.index("[2026-11-29 17:30:29] Engine startup") :])
    assert logged == StartTimings((("weights", 1.13), ("kv_cache", 2.32)), 11.46, 97.0)
    assert answered is not None
    assert [(name, round(seconds, 2)) for name, seconds in answered.phases] == [("weights", 1.13), ("kv_cache", 2.32)]
    assert (round(answered.scheduler_seconds, 2), round(answered.whole_seconds, 2)) == (11.46, 97.0)


def test_stamps_of_whole_seconds_are_refined_and_what_differs_more_is_kept() -> None:
    spans = (("import", 9.0), ("weights", 26.0), ("kv_cache", 2.0), ("graphs", 160.0), ("http", 0.0))
    assert refined(spans, MEASURED) == (
        *(("import", 9.0), ("weights", 25.1), ("kv_cache", 1.2)),
        *(("graphs", 160.0), ("http", 0.0)),  # it waited for something else as well
    )
    assert refined(spans, None) == spans


def test_a_start_without_a_log_has_the_lengths_that_the_engine_measured_and_what_lies_around_them() -> None:
    lengths = lengths_without_log(MEASURED)
    assert [name for name, _ in lengths] == [
        "processes",
        "distributed",
        "weights",
        "kv_cache",
        "graphs",
        "draft_graphs",
    ]
    assert sum(seconds for _, seconds in lengths) == pytest.approx(492.0)
    assert dict(lengths)["distributed"] == pytest.approx(480.0 - 25.1 - 1.2 - 150.0 - 10.0)
    assert lengths_without_log(None) == ()

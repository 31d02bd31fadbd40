"""Expositions of a real SGLang (an H200, 32 streams) and broken ones."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdeck.parsing.prometheus import Sample, samples

CAPTURE = Path(__file__).parents[1] / "captures" / "h200" / "sglang_metrics.txt"
TOKENS = frozenset({"sglang:realtime_tokens_total"})


def names_and_values(body: bytes, *wanted: str) -> list[tuple[str, float]]:
    return [(sample.name, sample.value) for sample in samples(body, frozenset(wanted))]


def test_a_real_counter_keeps_its_label_sets_apart() -> None:
    found = {sample.labels["mode"]: sample.value for sample in samples(CAPTURE.read_bytes(), TOKENS)}
    assert found == {"prefill_compute": 38974.0, "decode": 50186.0}


def test_the_labels_of_a_real_gauge_are_read() -> None:
    (running,) = samples(CAPTURE.read_bytes(), frozenset({"sglang:num_running_reqs"}))
    assert running == Sample(
        "sglang:num_running_reqs",
        {
            "engine_type": "unified",
            "model_name": "/data/models/llama-9b-rand",
            "moe_ep_rank": "0",
            "pp_rank": "0",
            "tp_rank": "0",
        },
        31.0,
    )


def test_a_name_that_only_begins_like_a_wanted_one_is_left_out() -> None:
    body = b"sglang:num_running_reqs 1\nsglang:num_running_reqs_offline_batch 2\n"
    assert names_and_values(body, "sglang:num_running_reqs") == [("sglang:num_running_reqs", 1.0)]


def test_a_broken_line_takes_no_other_with_it() -> None:
    body = b'up{a="1"} 5\nup{a="2 6\nup{a="3"} seven\nup{a="4"} 8\n'
    assert names_and_values(body, "up") == [("up", 5.0), ("up", 8.0)]


def test_a_body_that_is_cut_in_the_middle_keeps_what_is_whole() -> None:
    assert names_and_values(b'up{a="1"} 5\nup{a="2', "up") == [("up", 5.0)]


@pytest.mark.parametrize("value", [b"NaN", b"+Inf", b"-Inf", b"1" + b"0" * 400])
def test_a_value_that_is_no_number_is_no_sample(value: bytes) -> None:
    assert names_and_values(b"up " + value + b"\ndown 1\n", "up", "down") == [("down", 1.0)]


def test_windows_line_ends_time_stamps_and_empty_labels_are_read() -> None:
    assert names_and_values(b"up{} 3\r\nup 4 1700000000000\r\n", "up") == [("up", 3.0), ("up", 4.0)]


def test_a_quoted_label_may_hold_braces_commas_and_escapes() -> None:
    (sample,) = samples(b'up{m="a},{b\\"=\\n"} 1\n', frozenset({"up"}))
    assert sample.labels == {"m": 'a},{b"=\n'}


def test_a_page_that_is_no_exposition_gives_nothing() -> None:
    assert samples(b"<html>up 5</html>", frozenset({"up"})) == ()


@given(st.binary())
def test_any_bytes_are_read_without_an_error(body: bytes) -> None:
    samples(b"up" + body + b"\nup{" + body + b"} 1", frozenset({"up"}))


@given(st.text(alphabet='up{}=",\\ \t\n1_#e+"'))
def test_any_near_exposition_is_read_without_an_error(text: str) -> None:
    samples(text.encode(), frozenset({"up", "u", "p"}))

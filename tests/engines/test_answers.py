"""What the engines' endpoints answer, against bodies that real servers sent."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.reading import CAPTURES

from specdeck.engines.base import Engine, Probe
from specdeck.engines.registry import ENGINES
from specdeck.state.load import LoadReading
from specdeck.state.serving import CounterKey

V1 = CAPTURES / "sglang_h200" / "eagle3_v1"


def read(engine: str, kind: str, body: Path | bytes) -> LoadReading:
    """The reading of one answer."""
    probe = next(probe for probe in ENGINES[engine].probes if probe.kind == kind)
    return ENGINES[engine].read_answer(probe, body.read_bytes() if isinstance(body, Path) else body)


def test_sglang_loads_tell_requests_cache_and_accept_length() -> None:
    reading = read("sglang", "load", V1 / "load1_under_v1_loads.txt")
    assert (reading.running, reading.queued, reading.kv_usage) == (1, 0, 0.0002)
    assert reading.accept_length == pytest.approx(1.7173913)
    assert reading.engine_version == "0.5.12"


def test_sglang_loads_of_several_replicas_add_up() -> None:
    body = (
        b'{"loads":[{"num_running_reqs":2,"num_waiting_reqs":1,"token_usage":0.5},'
        b'{"num_running_reqs":3,"token_usage":0.25}]}'
    )
    reading = read("sglang", "load", body)
    assert (reading.running, reading.queued, reading.kv_usage) == (5, 1, 0.5)


def test_sglang_counts_decoded_tokens_only_and_names_the_series() -> None:
    body = (
        b'sglang:realtime_tokens_total{dp_rank="0",mode="decode"} 100\nsglang:realtime_tokens_total{dp_rank="1",mode="decode"} 50\n'
        b'sglang:realtime_tokens_total{dp_rank="0",mode="prefill_compute"} 7000\nsglang:generation_tokens_total{dp_rank="0"} 9\n'
    )
    reading = read("sglang", "metrics", body)
    assert reading.decode_tokens == 150
    assert "dp_rank=1" in reading.counter_series
    one = read("sglang", "metrics", body.splitlines()[0])
    assert one.counter_series != reading.counter_series


def test_a_real_sglang_metrics_page_is_read() -> None:
    page = V1 / "load32_under_metrics.txt"
    text = page.read_text()
    reading = read("sglang", "metrics", page)
    decoded = [
        line
        for line in text.splitlines()
        if line.startswith("sglang:realtime_tokens_total") and 'mode="decode"' in line
    ]
    assert reading.decode_tokens == float(decoded[0].split()[-1])
    assert reading.running is not None


def test_sglang_details_tell_version_and_mode() -> None:
    reading = read("sglang", "details", V1 / "load1_under_server_info.txt")
    assert (reading.engine_version, reading.speculation) == ("0.5.12", "v1")


def test_without_overlap_a_release_that_has_no_v1_runs_v2_in_step() -> None:
    body = b'{"version":"0.5.13","speculative_algorithm":"EAGLE3","disable_overlap_schedule":true}'
    assert read("sglang", "details", body).speculation == "v2 sync"


def test_a_real_vllm_metrics_page_is_read() -> None:
    reading = read("vllm", "metrics", CAPTURES / "vllm/serve_underload_metrics_3.txt")
    assert (reading.running, reading.queued) == (16, 9)
    assert reading.kv_usage == pytest.approx(0.020517830972)
    assert reading.decode_tokens is not None
    assert reading.accept_length is None


def test_a_real_page_of_a_draft_model_counts_drafts_by_position_and_latencies() -> None:
    page = read("vllm", "metrics", CAPTURES / "vllm/spec_greedy_afterload_metrics.txt").page
    series = "engine=0,model_name=tiny"
    assert page[CounterKey("drafts", series)] == 1130
    assert page[CounterKey("accepted", series)] == 3630
    assert [page[CounterKey("accepted_at", series, str(place))] for place in range(4)] == [1078, 899, 841, 812]
    assert page[CounterKey("prefix_queries", series)] == 11427
    assert page[CounterKey("prefix_hits", series)] == 4480
    assert page[CounterKey("ttft", series, "7.5")] == 24
    assert page[CounterKey("tpot", series, "0.05")] == 23
    assert page[CounterKey("itl", series, "+Inf")] == 1218


def test_old_names_of_vllm_count_the_same_and_a_new_name_beside_one_counts_once() -> None:
    old = b'vllm:time_per_output_token_seconds_bucket{le="0.1"} 5\nvllm:gpu_prefix_cache_hits_total 3\n'
    both = b'vllm:inter_token_latency_seconds_bucket{le="0.1"} 7\n' + old
    assert read("vllm", "metrics", old).page == {CounterKey("itl", "", "0.1"): 5, CounterKey("prefix_hits", ""): 3}
    assert read("vllm", "metrics", both).page[CounterKey("itl", "", "0.1")] == 7


def test_a_real_sglang_page_counts_latencies_with_their_label_sets_and_the_prompt_tokens_of_the_cache() -> None:
    page = read("sglang", "metrics", CAPTURES / "sglang/retract_afterload_metrics.txt").page
    ttft = [key for key in page if key.name == "ttft" and key.part == "+Inf"]
    assert {page[key] for key in ttft} == {9, 8}
    assert sum(value for key, value in page.items() if key.name == "prefix_queries") == 5371 + 2884
    assert sum(value for key, value in page.items() if key.name == "prefix_hits") == 2884


def test_an_accept_length_of_sglang_is_of_now_only_while_something_runs() -> None:
    body = b"sglang:num_running_reqs %d\nsglang:spec_accept_length 2.5\n"
    assert read("sglang", "metrics", body % 1).accept_length == 2.5
    assert read("sglang", "metrics", body % 0).accept_length is None


def test_vllm_tells_its_version() -> None:
    assert read("vllm", "details", CAPTURES / "vllm/spec_afterload_version.txt").engine_version == "0.32.0"


def test_llamacpp_tells_requests_and_keeps_quiet_on_tokens_that_move_at_the_end_of_a_request() -> None:
    reading = read("llamacpp", "metrics", CAPTURES / "llamacpp/medium_underload_metrics.txt")
    assert (reading.running, reading.queued, reading.decode_tokens) == (1, 0, None)
    assert read("llamacpp", "load", CAPTURES / "llamacpp/medium_underload_slots.txt").running == 1


@pytest.mark.parametrize("engine", ENGINES.values(), ids=lambda engine: engine.name)
def test_health_costs_a_generation_on_sglang_and_is_asked_rarely_enough(engine: Engine) -> None:
    health = next(probe for probe in engine.probes if probe.kind == "health")
    assert health.path == ("/" if engine.name == "ollama" else "/health")
    if engine.name == "sglang":
        assert (health.every_seconds, health.limit_seconds) == (10.0, 25.0)


BODIES = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [
            b"[]",
            b"null",
            b'{"loads":3}',
            b'{"loads":[1,null,{}]}',
            b'{"version":7}',
            b"[" * 2000,
            b'{"loads":[{"token_usage":1e999}]}',
        ]
    ),
)


@given(st.sampled_from([(engine, probe) for engine in ENGINES.values() for probe in engine.probes]), BODIES)
def test_no_answer_raises(asked: tuple[Engine, Probe], body: bytes) -> None:
    engine, probe = asked
    assert isinstance(engine.read_answer(probe, body), LoadReading)

"""The engine's effective speculation against what the profile asked for, and what stands on the server's row."""

from dataclasses import replace

import pytest

from specdeck.config.asked import asked_speculation
from specdeck.config.objects import Fleet, Host, Profile, Server
from specdeck.state import events
from specdeck.state.initial import initial_state
from specdeck.state.load import LoadReading
from specdeck.state.log_story import LogStory
from specdeck.state.reduce import reduce
from specdeck.state.snapshot import FleetState, RunIdentity, ServerState
from specdeck.state.warnings import mode_warning, row_warning, warnings_of

EAGLE = {"speculative-algorithm": "EAGLE3"}
V2 = Profile("eagle3-v2", "sglang", env={"SGLANG_ENABLE_SPEC_V2": "True"}, args=EAGLE)
BASELINE = Profile("baseline", "sglang")


@pytest.mark.parametrize(
    ("profile", "asked"),
    [
        (V2, "v2"),
        (Profile("a", "sglang", env={"SGLANG_ENABLE_SPEC_V2": "0"}, base_args=EAGLE), "v1"),
        (Profile("a", "sglang", args=EAGLE), None),
        (Profile("a", "sglang", args={"--speculative_algorithm": "NGRAM"}), "ngram"),
        (BASELINE, "none"),
        (Profile("a", "vllm", args={"speculative-config": '{"method":"eagle3","num_speculative_tokens":2}'}), "eagle3"),
        (Profile("a", "vllm", args={"speculative-config": "{broken"}), None),
        (Profile("a", "vllm", args={"spec-method": "ngram"}), "ngram"),
        (Profile("a", "vllm"), "none"),
        (Profile("a", "tgi"), None),
    ],
)
def test_what_a_profile_asks_for_follows_from_its_arguments_and_environment(
    profile: Profile, asked: str | None
) -> None:
    assert asked_speculation(profile) == asked


def started(profile: Profile) -> FleetState:
    """A fleet whose server runs with this profile."""
    server = Server("kimi", "lab", "/m", 30000, profiles=(profile.name,))
    fleet = Fleet((Host("lab", "lab", servers=(server,)),), {profile.name: profile})
    run = RunIdentity("0001", 7, 1, "boot", profile=profile.name)
    return reduce(initial_state(fleet, 0.0), events.RunFound("kimi", run), 1.0)


def kimi(state: FleetState) -> ServerState:
    server = state.server("kimi")
    assert server is not None
    return server


@pytest.mark.parametrize(
    ("profile", "effective", "warning"),
    [
        (V2, "v1", "eagle3-v2 asks for v2, the engine runs v1"),
        (V2, "v2", None),
        (V2, "v2 sync", None),
        (V2, None, None),
        (BASELINE, "v2", "baseline asks for no speculation, the engine runs v2"),
    ],
)
def test_a_mode_that_is_not_the_profiles_is_a_warning_by_log_or_endpoint(
    profile: Profile, effective: str | None, warning: str | None
) -> None:
    state = started(profile)
    logged = reduce(state, events.LogAdvanced("kimi", LogStory(engine="sglang", speculation=effective)), 2.0)
    assert mode_warning(kimi(logged)) == warning
    told = reduce(state, events.LoadSampled("kimi", LoadReading(speculation=effective)), 2.0)
    assert mode_warning(kimi(told)) == warning


def test_the_endpoints_word_outweighs_the_logs() -> None:
    state = reduce(started(V2), events.LogAdvanced("kimi", LogStory(engine="sglang", speculation="v1")), 2.0)
    assert mode_warning(kimi(reduce(state, events.LoadSampled("kimi", LoadReading(speculation="v2")), 3.0))) is None


def test_the_row_shows_the_mode_first_and_else_the_engines_newest_warning() -> None:
    story = LogStory(engine="sglang", speculation="v1", warnings=("old", "KV cache pool is full"))
    state = reduce(started(V2), events.LogAdvanced("kimi", story), 2.0)
    assert row_warning(kimi(state)) == "eagle3-v2 asks for v2, the engine runs v1"
    assert warnings_of(kimi(state))[1:] == ("old", "KV cache pool is full")
    same = reduce(state, events.LogAdvanced("kimi", replace(story, speculation="v2")), 3.0)
    assert row_warning(kimi(same)) == "KV cache pool is full"


def test_a_log_that_is_faster_than_its_line_is_a_warning_while_it_is_behind() -> None:
    state = initial_state(Fleet((Host("lab", "lab", servers=(Server("kimi", "lab", "/m", 30000),)),), {}), 0.0)
    behind = reduce(state, events.LogAdvanced("kimi", LogStory(), behind_bytes=12_300_000), 1.0)
    told = "its log is 12 MB behind: it grows faster than the line to its host carries"
    assert (warnings_of(behind.servers[0]), row_warning(behind.servers[0])) == ((told,), told)
    assert warnings_of(reduce(behind, events.LogAdvanced("kimi", LogStory()), 2.0).servers[0]) == ()

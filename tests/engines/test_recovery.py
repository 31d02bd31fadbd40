"""A server of others as a fleet file would say it: what was typed is what comes back, by eye from the command lines."""

import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from specdeck.config.fleet import read_fleet
from specdeck.config.objects import Profile
from specdeck.config.problems import Problems
from specdeck.engines.command import assemble
from specdeck.engines.recovery import Recovered, Running, recover
from specdeck.engines.registry import ENGINES

PY = "/opt/env/bin/python3"
EAGLE = (
    "--speculative-algorithm EAGLE3 --speculative-draft-model-path /m/draft --speculative-num-steps 3 "
    "--speculative-eagle-topk {topk} --speculative-num-draft-tokens {tokens}"
)
V1 = {"SGLANG_ENABLE_SPEC_V2": "False"}


@pytest.fixture(scope="module")
def shipped() -> tuple[Profile, ...]:
    """The profiles that come with specdeck."""
    return tuple(read_fleet(None, Problems()).profiles.values())


def found(
    line: str, profiles: tuple[Profile, ...], env: Mapping[str, str] | None = None, *, port: int = 30000, **more: object
) -> Recovered:
    """Recovered from a command line as it would be typed."""
    argv = tuple(shlex.split(line))
    engine = next(engine for engine in ENGINES.values() if engine.recognises_command(argv))
    running = Running(argv, port, env or {}, python=argv[0] if argv[0].startswith("/") else "", **more)  # type: ignore[arg-type]
    return recover(engine, running, profiles, name="kimi", host="lab", home="/root")


def again(recovered: Recovered) -> str:
    """The command line that a launch would have."""
    return shlex.join(assemble(ENGINES[recovered.profile.engine], recovered.server, recovered.profile).argv)


def sglang(words: str) -> str:
    return f"{PY} -m sglang.launch_server --model-path /m/kimi --host 127.0.0.1 --port 30000 {words}".strip()


def test_a_profile_that_runs_as_it_is_written_is_named_alone(shipped: tuple[Profile, ...]) -> None:
    line = sglang(f"--tp-size 8 --enable-metrics --max-running-requests 48 {EAGLE.format(topk=4, tokens=16)}")
    seen = found(line, shipped, {**V1, "CUDA_VISIBLE_DEVICES": "0,1"})
    assert seen.nearest is not None
    assert (seen.nearest.words, seen.is_profile_new, seen.notes) == ("eagle3-v1", False, ())
    assert (seen.server.args, seen.server.draft_model) == ({"tp-size": "8"}, "/m/draft")
    assert seen.server.env == {"CUDA_VISIBLE_DEVICES": "0,1"}
    assert sorted(shlex.split(again(seen))) == sorted(shlex.split(line))


@pytest.mark.parametrize(
    ("words", "env", "said"),
    [
        (EAGLE.format(topk=8, tokens=16), V1, "eagle3-v1, but topk 8"),
        (EAGLE.format(topk=1, tokens=4), {}, "eagle3-v2, but no SGLANG_ENABLE_SPEC_V2"),
        (EAGLE.format(topk=8, tokens=32), V1, "eagle3-v1, but topk 8, draft-tokens 32"),
    ],
)
def test_a_profile_that_nearly_runs_is_named_with_its_difference(
    shipped: tuple[Profile, ...], words: str, env: dict[str, str], said: str
) -> None:
    seen = found(sglang(words), shipped, env)
    assert seen.nearest is not None
    assert seen.nearest.words == said
    assert (seen.profile.name, seen.profile.describe, seen.is_profile_new) == ("kimi-found", said, True)
    assert seen.notes == ()
    assert sorted(shlex.split(again(seen))) == sorted(shlex.split(sglang(words)))


@pytest.mark.parametrize(
    ("words", "args"),
    [
        ("--enable-metrics --max-running-requests 64", {"max-running-requests": "64"}),
        ("", {"enable-metrics": None, "max-running-requests": None}),
    ],
)
def test_what_a_server_says_otherwise_than_the_defaults_of_its_profile_becomes_its_own_arguments(
    shipped: tuple[Profile, ...], words: str, args: dict[str, str | None]
) -> None:
    seen = found(sglang(words), shipped)
    assert seen.nearest is not None
    assert (seen.nearest.words, seen.is_profile_new, seen.server.args) == ("baseline", False, args)
    assert sorted(shlex.split(again(seen))) == sorted(shlex.split(sglang(words)))


def test_an_own_profile_of_the_same_words_comes_before_a_shipped_one_only_where_it_is_preferred(
    shipped: tuple[Profile, ...],
) -> None:
    mine = Profile("zz-mine", "sglang", args={"enable-metrics": True, "max-running-requests": 48})
    argv = tuple(shlex.split(sglang("--enable-metrics --max-running-requests 48")))
    running = Running(argv, 30000, {}, python=PY)
    for preferred, name in (((), "baseline"), (("zz-mine",), "zz-mine")):
        seen = recover(ENGINES["sglang"], running, (*shipped, mine), name="kimi", host="lab", preferred=preferred)
        assert seen.profile.name == name


@pytest.mark.parametrize(
    ("line", "again_line", "port"),
    [
        (f"{PY} -m sglang.launch_server --model /m/kimi --tp 8 --port 30000 --host ::1",
         f"{PY} -m sglang.launch_server --model-path /m/kimi --host ::1 --port 30000 --tp 8", 30000),
        (f"{PY} /opt/env/bin/vllm serve /m/kimi -tp 2 --lora-modules a=/l/a b=/l/b --host 127.0.0.1 --port 8000",
         f"{PY} -m vllm.entrypoints.cli.main serve /m/kimi --host 127.0.0.1 --port 8000 -tp 2 --lora-modules a=/l/a b=/l/b", 8000),
        (f"""{PY} -m vllm.entrypoints.openai.api_server --model=/m/kimi --speculative-config '{{"method": "mtp"}}'""",
         f"{PY} -m vllm.entrypoints.cli.main serve /m/kimi --host 0.0.0.0 --port 8000 "
         """--speculative-config '{"method": "mtp"}'""", 8000),
        ("/usr/bin/llama-server -m /m/kimi.gguf -c 4096 -ngl 99 --lora /l/a --lora /l/b",
         "/usr/bin/llama-server --model /m/kimi.gguf --host 127.0.0.1 --port 8080 -c 4096 -ngl 99 --lora /l/a --lora /l/b", 8080),
        ("/usr/bin/llama-server -hf org/kimi", "/usr/bin/llama-server --host 127.0.0.1 --port 8080 -hf org/kimi", 8080),
        (f"{PY} /opt/env/bin/trtllm-serve /m/kimi --tp_size 8",
         "/opt/env/bin/trtllm-serve /m/kimi --host 127.0.0.1 --port 8000 --tp_size 8", 8000),
        ("/usr/bin/text-generation-launcher --model-id /m/kimi --max-concurrent-requests 128 -p 3000",
         "/usr/bin/text-generation-launcher --model-id /m/kimi --hostname 0.0.0.0 --port 3000 --max-concurrent-requests 128", 3000),
        ("/usr/bin/ollama serve", "/usr/bin/ollama serve", 11434),
    ],
)  # fmt: skip
def test_every_engine_starts_again_as_it_was_started(
    shipped: tuple[Profile, ...], line: str, again_line: str, port: int
) -> None:
    seen = found(line, shipped, port=port)
    assert again(seen) == again_line
    assert not any("could not be recovered" in note for note in seen.notes)


def test_an_address_that_was_only_seen_is_said_outright(shipped: tuple[Profile, ...]) -> None:
    seen = found(f"{PY} -m sglang.launch_server --model-path /m/kimi", shipped, bind="0.0.0.0")  # noqa: S104
    assert "--host 0.0.0.0 --port 30000" in again(seen)
    assert seen.notes == ("--host and --port will be said outright: what holds by default",)


def test_secrets_are_left_out_and_what_to_do_instead_is_said(shipped: tuple[Profile, ...]) -> None:
    line = sglang("--api-key sk-1234567 --admin-api-key=sk-7654321 --hf-token hf_abcdefghijklmnopqrst")
    seen = found(line, shipped, secret_names=("HF_TOKEN",))
    told = f"{seen} {again(seen)}"
    assert not any(secret in told for secret in ("sk-1234567", "sk-7654321", "hf_abcdefghijklmnopqrst"))
    assert seen.server.api_key_env == "KIMI_API_KEY"
    assert [note.partition(":")[0] for note in seen.notes] == [
        "--admin-api-key holds a secret, which is never written",
        "--api-key holds a secret, which is never written",
        "--hf-token holds a secret, which is never written",
        "HF_TOKEN holds a secret, which is never written",
    ]


def test_a_key_in_the_engines_own_variable_asks_for_a_variable_here(shipped: tuple[Profile, ...]) -> None:
    seen = found(f"{PY} /opt/env/bin/vllm serve /m/kimi", shipped, port=8000, secret_names=("VLLM_API_KEY",))
    assert seen.server.api_key_env == "KIMI_API_KEY"


def test_another_way_to_start_it_is_told(shipped: tuple[Profile, ...]) -> None:
    seen = found(f"{PY} /opt/env/bin/sglang serve --model-path /m/kimi --host ::1 --port 30000", shipped)
    assert seen.notes == (
        "it was started as `python3 sglang serve`, and would be started as `python3 -m sglang.launch_server`",
    )


def test_a_program_whose_place_is_unknown_is_told(shipped: tuple[Profile, ...]) -> None:
    seen = found("python3 -m sglang.launch_server --model-path /m/kimi --host ::1 --port 30000", shipped)
    assert "where its `python3` lies could not be read: check `python`" in seen.notes


def test_words_that_look_like_placeholders_stay_what_they_are(shipped: tuple[Profile, ...]) -> None:
    seen = found(sglang("--served-model-name '{model}-a'"), shipped, {"NCCL_DEBUG_FILE": "/tmp/{port}.log"})
    assert "'{model}-a'" in again(seen)
    assert seen.server.env == {"NCCL_DEBUG_FILE": "/tmp/{{port}}.log"}


def test_the_home_folder_is_no_workdir_and_any_other_is(shipped: tuple[Profile, ...]) -> None:
    assert found(sglang(""), shipped, workdir="/root").server.workdir is None
    assert found(sglang(""), shipped, workdir="/srv/serve").server.workdir == "/srv/serve"


def test_an_engine_without_a_profile_gets_one_of_its_own(shipped: tuple[Profile, ...]) -> None:
    seen = found("/usr/bin/ollama serve", shipped, port=11434)
    assert (seen.nearest, seen.profile.name, seen.profile.describe) == (None, "kimi-found", "Ollama as it was found")
    assert seen.profile.source is None
    assert isinstance(shipped[0].source, Path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "baseline, but no enable-metrics, no max-running-requests"),
        ("--enable-metrics --max-running-requests 48", "baseline"),
        ("--enable-metrics --max-running-requests 48 --context-length 131072", "long-context"),
        ("--enable-metrics --context-length 131072", "long-context"),
        ("--enable-metrics --max-running-requests 32", "baseline, but max-running-requests 32"),
    ],
)
def test_what_extends_a_profile_is_no_nearer_than_that_by_having_few_arguments_of_its_own(
    words: str, said: str
) -> None:
    base = Profile("baseline", "sglang", args={"enable-metrics": True, "max-running-requests": 48})
    children = [
        Profile("demo-bad-flag", "sglang", args={"no-such-flag": True}, base_args=base.args),
        Profile("a-bigger-one", "sglang", args={"max-running-requests": 64}, base_args=base.args),
        Profile("long-context", "sglang", args={"context-length": 131072}, base_args=base.args),
    ]
    seen = found(sglang(words), (*children, base))
    assert seen.nearest is not None
    assert seen.nearest.words == said

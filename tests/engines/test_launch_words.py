"""What launches each engine: its entry, its own arguments, how its version and its flags are asked."""

import subprocess
import sys

import pytest
from tests.engines.launched import a_server

from specdeck.config.objects import ArgValue
from specdeck.engines.asking_flags import MARK, asking
from specdeck.engines.registry import ENGINES
from specdeck.engines.scan_words import LIVES, scan_pattern
from specdeck.engines.unknown import UNKNOWN
from specdeck.parsing.lines import Line, Lines

PYTHON = "/venv/bin/python3"
HOST_AND_PORT: dict[str, ArgValue] = {"host": "127.0.0.1", "port": 30000}


@pytest.mark.parametrize(
    ("name", "entry", "own"),
    [
        ("sglang", (PYTHON, "-m", "sglang.launch_server"), {"model-path": "/m/kimi", **HOST_AND_PORT}),
        ("vllm", (PYTHON, "-m", "vllm.entrypoints.cli.main", "serve", "/m/kimi"), HOST_AND_PORT),
        ("llamacpp", ("llama-server",), {"model": "/m/kimi", **HOST_AND_PORT}),
        ("tgi", ("text-generation-launcher",), {"model-id": "/m/kimi", "hostname": "127.0.0.1", "port": 30000}),
        ("trtllm", ("trtllm-serve", "/m/kimi"), HOST_AND_PORT),
        ("ollama", ("ollama", "serve"), {}),
    ],
)
def test_each_engine_is_started_by_its_own_words(name: str, entry: tuple[str, ...], own: dict[str, ArgValue]) -> None:
    server, engine = a_server(python=PYTHON, bind="127.0.0.1"), ENGINES[name]
    assert engine.entry(server) == entry
    assert dict(engine.own_args(server)) == own


@pytest.mark.parametrize("name", ["llamacpp", "tgi", "trtllm", "ollama"])
def test_a_program_of_its_own_stands_in_the_place_of_the_interpreter(name: str) -> None:
    assert ENGINES[name].entry(a_server(python="/opt/bin/mine"))[0] == "/opt/bin/mine"


@pytest.mark.parametrize("name", ENGINES)
def test_the_script_that_asks_the_version_is_python(name: str) -> None:
    compile(ENGINES[name].version_script(), name, "exec")


@pytest.mark.parametrize("name", ENGINES)
def test_the_words_that_its_parser_is_asked_about_are_those_after_its_entry(name: str) -> None:
    engine, server = ENGINES[name], a_server(python=PYTHON)
    argv = (*engine.entry(server), "--port", "30000")
    told = tuple(engine.flag_words(argv))
    assert told[-2:] == ("--port", "30000")
    assert PYTHON not in told


def said(body: str, *words: str) -> str:
    """What the program that asks a parser prints, for a parser with this body."""
    done = subprocess.run(
        [sys.executable, "-c", asking(body), *words], capture_output=True, text=True, check=True, timeout=30
    )
    return done.stdout.strip()


def test_a_parser_that_is_asked_says_known_refused_doubtful_or_why_it_cannot_be_asked() -> None:
    assert said("pass\n") == f"{MARK} known"
    assert said('tell("refused", f"no {sys.argv[1]}\\n at all")\n', "--x") == f"{MARK} refused no --x at all"
    assert said("import no_such_module\n") == f"{MARK} unknown ModuleNotFoundError: No module named 'no_such_module'"


def test_what_is_looked_for_in_a_long_log_is_found_by_grep() -> None:
    log = "".join(f"[2026-01-05 10:00:00] {words}(x\n" for words in LIVES) + "Killed\nnot Killed here\n"
    found = subprocess.run(
        ["grep", "-c", "-E", scan_pattern()], input=log, capture_output=True, text=True, check=True, timeout=20
    )
    assert int(found.stdout) == len(LIVES) + 1


def test_the_unknown_engine_recognises_nothing_and_reads_bars() -> None:
    assert not UNKNOWN.recognises_command(("python3", "serve.py"))
    assert not UNKNOWN.recognises_line("server_args=ServerArgs(")
    grammar = UNKNOWN.grammar()
    bar = Line("Loading safetensors checkpoint shards:  50%|#| 2/4 [00:01<00:01, 2.00it/s]", 1, 0)
    grammar.read(Lines.of((bar,)), 0.0)
    assert grammar.story.progress is not None
    assert grammar.story.progress.percent == 50.0

"""Which command lines are a server's main process, and how one is started."""

import importlib.metadata
import re
import subprocess
import sys

import pytest

from specdeck.config.objects import Server
from specdeck.engines.base import Engine
from specdeck.engines.registry import ENGINES

SERVER = Server(name="kimi", host="lab", model="/data/kimi", port=30000, bind="127.0.0.1", python="/opt/ml/bin/python3")


@pytest.mark.parametrize(
    ("engine", "command"),
    [
        ("sglang", "python3 -m sglang.launch_server --model-path /m --port 30000"),
        ("sglang", "/opt/ml/bin/python3.12 -u -m sglang.launch_server --model-path /m"),
        ("sglang", "/opt/ml/bin/python3 /opt/ml/bin/sglang serve --model-path /m"),
        ("sglang", "python launch_server.py --model-path /m"),
        ("vllm", "/opt/ml/bin/python3 /opt/ml/bin/vllm serve /m --port 8000"),
        ("vllm", "python3 -m vllm.entrypoints.openai.api_server --model /m"),
        ("vllm", "python3 -m vllm.entrypoints.cli.main serve /m"),
        ("llamacpp", "/usr/local/bin/llama-server -m /m.gguf"),
        ("tgi", "text-generation-launcher --model-id /m --port 8080"),
        ("trtllm", "/opt/ml/bin/python3 /opt/ml/bin/trtllm-serve /m --tp_size 8"),
        ("ollama", "/usr/local/bin/ollama serve"),
    ],
)
def test_a_servers_main_process_is_recognised_by_its_engine_alone(engine: str, command: str) -> None:
    assert [name for name, known in ENGINES.items() if known.recognises_command(command.split())] == [engine]


@pytest.mark.parametrize(
    "command",
    [
        "sglang::scheduler_TP0",
        "VLLM::EngineCore",
        "python3 -m sglang.bench_serving --backend sglang",
        "python3 -c from multiprocessing.spawn import spawn_main; spawn_main() sglang.launch_server",
        "bash -c python3 -m sglang.launch_server --model-path /m",
        "grep sglang.launch_server",
        "vim /opt/vllm/serve",
        "vllm bench serve",
        "python3 -m sglang_router.launch_router",
        "/usr/local/bin/ollama run llama3",
        "/usr/local/lib/ollama/runners/cuda_v12/ollama_llama_server --port 40001",
        "/usr/local/bin/ollama runner --model /m --port 40001",
        "text-generation-server serve /m --sharded",
        "text-generation-router --port 8080",
        "python3 -m mpi4py.futures.server",
        "",
    ],
)
def test_workers_clients_shells_and_editors_are_not(command: str) -> None:
    assert not any(engine.recognises_command(command.split()) for engine in ENGINES.values())


def test_a_server_is_started_with_its_own_python_model_address_and_port() -> None:
    sglang, vllm = ENGINES["sglang"], ENGINES["vllm"]
    assert sglang.entry(SERVER) == ("/opt/ml/bin/python3", "-m", "sglang.launch_server")
    assert sglang.own_args(SERVER) == {"model-path": "/data/kimi", "host": "127.0.0.1", "port": 30000}
    assert vllm.entry(SERVER)[-2:] == ("serve", "/data/kimi")
    assert vllm.own_args(SERVER) == {"host": "127.0.0.1", "port": 30000}
    assert ENGINES["llamacpp"].own_args(SERVER)["model"] == "/data/kimi"


@pytest.mark.parametrize("engine", ENGINES.values(), ids=lambda engine: engine.name)
def test_every_engine_is_looked_for_by_words_that_its_command_line_holds(engine: Engine) -> None:
    assert re.search(engine.command_words, " ".join(engine.entry(SERVER)))


@pytest.mark.parametrize("engine", ENGINES.values(), ids=lambda engine: engine.name)
def test_every_engine_recognises_what_it_starts(engine: Engine) -> None:

    assert engine.recognises_command([*engine.entry(SERVER), "--port", "30000"])


def test_the_version_is_asked_of_the_package_and_not_of_the_engine() -> None:
    script = ENGINES["sglang"].version_script().replace("'sglang'", "'click'")
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == importlib.metadata.version("click")

"""Processes that are servers, by eye from the answer of discover.sh."""

import pytest

from specdeck.services.discovery import as_server, read_discovery

ANSWER = b"""\
@arg 10 /opt/env/bin/python3
@arg 10 -m
@arg 10 sglang.launch_server
@arg 10 --model-path
@arg 10 /data/models/kimi/
@arg 10 --host=0.0.0.0
@cwd 10 /srv/serve
@socket 501 10
@out 10 /srv/serve/kimi.log
@err 10 /srv/serve/kimi.log
@arg 11 sglang::scheduler_TP0
@arg 12 vim
@arg 12 sglang_notes.txt
@arg 13 python3
@arg 13 -m
@arg 13 sglang.launch_server
@arg 13 --model
@arg 13 org/kimi
@arg 13 --port
@arg 13 30001
@out 13 pipe:[7]
@listen 7918 501 00000000
@listen 0016 3 0100007F
"""


def test_servers_are_found_with_port_and_log_and_nothing_else_is() -> None:
    first, second = read_discovery(ANSWER)
    assert (first.process.pid, first.engine, first.port) == (10, "sglang", 31000)
    assert (second.process.pid, second.port, second.process.log) == (13, 30001, None)


@pytest.mark.parametrize(
    ("words", "engine", "name", "port"),
    [
        ("/usr/bin/text-generation-launcher --model-id org/kimi --hostname 0.0.0.0", "tgi", "kimi", 3000),
        ("/opt/bin/python3 /opt/bin/trtllm-serve /m/kimi --port 8123", "trtllm", "kimi", 8123),
        ("/opt/bin/python3 /opt/bin/vllm serve /m/kimi", "vllm", "kimi", 8000),
        ("/usr/local/bin/ollama serve", "ollama", "ollama", 11434),
    ],
)
def test_servers_of_other_engines_are_found_with_their_model_and_port(
    words: str, engine: str, name: str, port: int
) -> None:
    answer = "".join(f"@arg 5 {word}\n" for word in words.split()).encode()
    (found,) = read_discovery(answer)
    assert (found.engine, found.port, as_server(found, "lab", ()).server.name) == (engine, port, name)


def test_a_server_is_called_by_its_model_and_names_are_unique() -> None:
    first, second = read_discovery(ANSWER)
    server = as_server(first, "lab", ()).server
    assert (server.name, server.host, server.model, server.bind) == ("kimi", "lab", "/data/models/kimi/", "0.0.0.0")  # noqa: S104
    assert (server.port, server.workdir, server.python) == (31000, "/srv/serve", "/opt/env/bin/python3")
    assert first.process.log == "/srv/serve/kimi.log"
    assert as_server(second, "lab", ("kimi", "kimi-2")).server.name == "kimi-3"


def test_hostile_names_become_harmless() -> None:
    answer = b"@arg 5 python3\n@arg 5 -m\n@arg 5 sglang.launch_server\n@arg 5 --model\n@arg 5 /m/[/x] $(boo);\x1b[31m\n"
    (found,) = read_discovery(answer)
    assert as_server(found, "lab", ()).server.name == "x----boo----31m"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("--model-path /root/.cache/huggingface/hub/models--org--Kimi-K2/snapshots/0123456789abcdef", "Kimi-K2"),
        ("--model-path /m/0001 --served-model-name org/kimi", "kimi"),
        ("--model-path /m/" + "x" * 90, "x" * 40),
        ("--model-path /m/日本", "sglang"),
    ],
)
def test_a_name_is_what_people_call_the_model(words: str, name: str) -> None:
    answer = "".join(f"@arg 5 {word}\n" for word in f"python3 -m sglang.launch_server {words}".split()).encode()
    (found,) = read_discovery(answer)
    assert as_server(found, "lab", ()).server.name == name


def test_a_part_of_a_server_over_several_hosts_is_told() -> None:
    words = "python3 -m sglang.launch_server --model-path /m/kimi --nnodes 2 --node-rank 1 --dist-init-addr a:5000"
    (found,) = read_discovery("".join(f"@arg 5 {word}\n" for word in words.split()).encode())
    assert (
        "it is rank 1 of 2 of a server over several hosts: `nodes` makes one server of them"
        in as_server(found, "lab", ()).notes
    )

"""Whether the engine's own parser knows the flags: asked on the host by the server's interpreter, before anything is stopped."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.services.desk import desk, program

from specdeck.engines.registry import ENGINES
from specdeck.errors import Refused

SERVER_ARGS = """
import os, time
open(os.environ["HOME"] + "/asked", "a").write(repr(os.environ["CUDA_VISIBLE_DEVICES"]) + "\\n")
class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model-path", required=True)
        parser.add_argument("--host")
        parser.add_argument("--port", type=int)
        parser.add_argument("--tp-size", "--tp", type=int)
        parser.add_argument("--config")
    @classmethod
    def from_cli_args(cls, args):
        if args.tp_size == 3:
            raise ValueError("tp_size must divide the heads")
        if args.tp_size == 5:
            raise RuntimeError("No accelerator is available")
"""


def install(folder: Path, server_args: str = SERVER_ARGS) -> None:
    """An interpreter that has a package `sglang` with a parser of its own."""
    package = folder / "site" / "sglang" / "srt"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "server_args.py").write_text(server_args)
    metadata = folder / "site" / "sglang-0.5.12.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: sglang\nVersion: 0.5.12\n")
    python = folder / "bin" / "python3"
    python.parent.mkdir(exist_ok=True)
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder}/site exec {sys.executable} "$@"\n')
    python.chmod(0o755)


async def test_flags_that_the_parser_knows_pass_and_no_gpu_is_seen(tmp_path: Path) -> None:
    install(tmp_path)
    async with desk(tmp_path, args={"tp": 8}, env={"CUDA_VISIBLE_DEVICES": "0,1"}) as one:
        check = await one.check("flags")
    assert (check.state, check.detail) == ("passed", "SGLang 0.5.12 knows them all")
    assert (tmp_path / "asked").read_text() == "''\n"


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"foo": "1"}, "unrecognized arguments: --foo 1"),
        ({"tp-size": "two"}, "argument --tp-size/--tp: invalid int value: 'two'"),
        ({"model-path": None}, "the following arguments are required: --model-path"),
    ],
)
async def test_the_engines_own_sentence_says_what_it_refuses(
    tmp_path: Path, args: dict[str, str | None], sentence: str
) -> None:
    install(tmp_path)
    async with desk(tmp_path, args=args) as one:
        check = await one.check("flags")
        assert check.state == "failed"
        assert check.detail == f"SGLang 0.5.12: {sentence}: change profile one or the server's `args`"
        with pytest.raises(Refused):
            await one.launch()


async def test_what_the_engine_doubts_without_a_gpu_is_told_and_stops_nothing(tmp_path: Path) -> None:
    install(tmp_path)
    async with desk(tmp_path, args={"tp": 3}) as one:
        check = await one.check("flags")
    assert check.state == "unknown"
    assert check.detail == "known, but without a GPU SGLang 0.5.12 says: tp_size must divide the heads"


async def test_a_check_that_only_misses_the_gpu_says_nothing(tmp_path: Path) -> None:
    install(tmp_path)
    async with desk(tmp_path, args={"tp": 5}) as one:
        assert (await one.check("flags")).state == "passed"


async def test_a_parser_that_cannot_be_asked_is_unknown_with_the_reason_and_never_failed(tmp_path: Path) -> None:
    install(tmp_path, "raise ImportError('libcuda.so.1: cannot open shared object file')")
    async with desk(tmp_path) as one:
        check = await one.check("flags")
    assert check.state == "unknown"
    assert check.detail == "SGLang 0.5.12 could not be asked: ImportError: libcuda.so.1: cannot open shared object file"


async def test_a_parser_that_does_not_answer_in_time_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "import time; time.sleep(600)")
    script = ENGINES["sglang"].flags_script()
    assert script is not None
    monkeypatch.setattr("specdeck.engines.sglang.FLAGS_SCRIPT", script.replace("signal.alarm(60)", "signal.alarm(1)"))
    async with desk(tmp_path) as one:
        check = await one.check("flags")
    assert (check.state, check.detail) == ("unknown", "SGLang 0.5.12 could not be asked: no answer in a minute")


async def test_an_answer_is_kept_until_flags_or_interpreter_change(tmp_path: Path) -> None:
    install(tmp_path)
    asked = tmp_path / "asked"
    async with desk(tmp_path, args={"tp": 2}) as one:
        assert [(await one.check("flags")).state for _ in range(2)] == ["passed", "passed"]
        assert len(asked.read_text().splitlines()) == 1
    async with desk(tmp_path, args={"tp": 4}, port=one.server.port) as other:
        await other.check("flags")
        assert len(asked.read_text().splitlines()) == 2
        (tmp_path / "bin" / "python3").touch()
        subprocess.run(["touch", "-d", "2020-01-01", str(tmp_path / "bin" / "python3")], check=True)  # noqa: ASYNC221
        await other.check("flags")
    assert len(asked.read_text().splitlines()) == 3


async def test_an_engine_without_a_parser_to_ask_says_so(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "llama-server", version="b7000")
    async with desk(tmp_path, engine="llamacpp", python=str(tmp_path / "bin" / "llama-server")) as one:
        check = await one.check("flags")
    assert (check.state, check.detail) == ("unknown", "llama.cpp b7000 has no parser that could be asked")


async def test_hostile_words_of_a_parser_arrive_without_control_characters(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "python3", flags=r"printf '\nspecdeck-flags refused \033[31mred\a\n'")
    async with desk(tmp_path) as one:
        assert "\x1b" not in (await one.check("flags")).detail


VLLM_CLI = """
import argparse
class FlexibleArgumentParser(argparse.ArgumentParser):
    pass
def make_arg_parser(parser):
    parser.add_argument("model_tag", nargs="?")
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--enable-auto-tool-choice", action="store_true")
    return parser
def validate_parsed_serve_args(args):
    assert args.subparser == "serve" and args.model_tag == "tiny"
    if args.enable_auto_tool_choice:
        raise TypeError("Error: --enable-auto-tool-choice requires --tool-call-parser")
"""


@pytest.mark.parametrize("module", ["openai", "launchers"])
@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({}, "passed: vLLM 0.32.0 knows them all"),
        ({"use-v2-block-manager": True}, "failed: vLLM 0.32.0: unrecognized arguments: --use-v2-block-manager"),
        (
            {"enable-auto-tool-choice": True},
            "failed: vLLM 0.32.0: Error: --enable-auto-tool-choice requires --tool-call-parser",
        ),
    ],
)
async def test_vllm_is_asked_where_its_release_keeps_the_parser(
    tmp_path: Path, module: str, args: dict[str, bool], said: str
) -> None:
    install(tmp_path)
    folder = tmp_path / "site" / "vllm" / "entrypoints" / module
    folder.mkdir(parents=True)
    (folder / "cli_args.py").write_text(VLLM_CLI)
    metadata = tmp_path / "site" / "vllm-0.32.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0\n")
    async with desk(tmp_path, engine="vllm", args=args) as one:
        check = await one.check("flags")
    assert f"{check.state}: {check.detail}".removesuffix(": change profile one or the server's `args`") == said

"""Why a server failed: the first cause in the whole log, however long, with its exit, the kernel's words and what to do."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from specdeck.cli.diagnosis_json import diagnosis_json
from specdeck.config.objects import Host
from specdeck.engines.advice import advice
from specdeck.engines.reader import LogReader
from specdeck.parsing.lines import Line
from specdeck.services import log_scan
from specdeck.services.diagnosis import diagnose, driver_words, kernel_words
from specdeck.services.diagnosis_words import diagnosis_words
from specdeck.services.log_scan import Scan, places, read_scan
from specdeck.services.log_source import LogSource
from specdeck.state.diagnosis import Diagnosis
from specdeck.state.gpu_snapshot import Gpu, GpuProcess
from specdeck.state.log_story import Cause, LogStory
from specdeck.state.snapshot import Evidence, HostState, ProcessWitness, RunIdentity, ServerState, Word
from specdeck.transport.local import LocalTransport

TESTS = Path(__file__).parents[1]
CASES = TESTS / "cases"


@pytest.fixture
async def here() -> AsyncIterator[LocalTransport]:
    """This machine as the host."""
    transport = LocalTransport(Host("lab", "localhost"))
    await transport.connect()
    yield transport
    await transport.close()


def server(
    *, status: int | None = 1, engine: str = "", pid: int = 4_000_000, command: str | None = None
) -> ServerState:
    """One whose process is gone."""
    return ServerState(
        "kimi", "lab", 30000, engine,
        run=RunIdentity("0001", pid, 100, "boot-1", command=command), word=Word.CRASHED,
        evidence=Evidence(process=ProcessWitness("gone", pid, (pid,), status)),
    )  # fmt: skip


def inspected(log: Path) -> LogStory:
    """What `inspect` says of the same file."""
    reader = LogReader()
    reader.feed(log.read_bytes(), 0.0)
    reader.end()
    return reader.story


async def test_the_cause_is_found_a_thousand_lines_above_the_last_line(here: LocalTransport) -> None:
    log = CASES / "B07_cause_far_above_tail" / "server.log"
    found = await diagnose(here, server(), None, str(log))
    assert found.cause is not None
    assert (found.cause.line, found.cause.rank) == (59, "EngineCore_DP0")
    assert found.cause.message.startswith("ValueError: To serve at least one request with max seq len 131072")
    assert found.cause == inspected(log).cause
    assert (found.ended, len(found.context)) == ("exit 1", 11)
    words = diagnosis_words(found)
    assert words[0] == "kimi crashed  (exit 1)"
    assert any(line.startswith("  >     59  ") for line in words)
    assert "see root cause above" in words[-1].lower()


async def test_a_death_without_a_word_says_how_far_it_was(here: LocalTransport) -> None:
    found = await diagnose(here, server(status=137), None, str(CASES / "B10_silent_death" / "server.log"))
    assert found.cause is not None
    assert (found.cause.kind, found.ended) == ("killed", "exit 137, SIGKILL")
    assert found.cause.message == "ended without an error message at 47/163 (target weights)"


def test_the_kernel_names_what_it_killed_after_this_run_began() -> None:
    text = (CASES / "B10_silent_death" / "dmesg_ok.txt").read_text()
    (sentence,) = kernel_words(text, server())
    assert sentence == (
        "killed by the kernel: memory limit of example.service (cgroup), pid 70211 (sglang::schedul), about 94 GiB resident"
    )
    later = server()
    assert later.run is not None
    began_later = ServerState("kimi", "lab", 1, "", run=RunIdentity("2", 7, 9_000_000, "b"))
    assert kernel_words(text, began_later) == ()


def test_the_driver_names_the_gpu_that_fell_off_the_bus_and_the_fault_of_the_servers_own_process() -> None:
    text = (
        "[ 10.0] NVRM: Xid (PCI:0000:1a:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
        "[ 90000.1] NVRM: Xid (PCI:0000:1a:00): 31, pid=70211, name=sglang::schedul, MMU Fault\n"
        "[ 90000.2] NVRM: Xid (PCI:0000:1b:00): 31, pid=4, name=other, MMU Fault\n"
        "[ 90000.3] NVRM: Xid (PCI:0000:1a:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    )
    run = RunIdentity("2", 70211, 8_000_000, "b")  # it began 80,000 seconds after the boot
    assert driver_words(text, ServerState("kimi", "lab", 1, "", run=run)) == (
        "the driver says of GPU 1A:00: Xid 31: memory page fault, mostly of the program (pid 70211)",
        "the driver says of GPU 1A:00: Xid 79: GPU has fallen off the bus",
    )


def test_a_kernel_log_that_may_not_be_read_names_the_command_for_an_admin() -> None:
    (sentence,) = kernel_words((CASES / "B10_silent_death" / "dmesg_denied.txt").read_text(), server())
    assert "may not be read by this user" in sentence
    assert "dmesg -T | grep" in sentence
    assert "sudo" not in sentence


SERVING = (
    b"[2026-01-05 10:00:10] Decode batch, #running-req: 3, #token: 163, token usage: 0.00, cuda graph: True, "
    b"gen throughput (token/s): 158.34, #queue-req: 0\n"
    b'[2026-01-05 10:00:20] INFO:     127.0.0.1:42960 - "GET /health HTTP/1.1" 200 OK\n'
)
CRASH = b"""[2026-01-05 11:00:00 TP3] Scheduler hit an exception: Traceback (most recent call last):
  File "/opt/scheduler.py", line 10, in run
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. Process 387746 has 78.89 GiB memory in use

[2026-01-05 11:00:00 TP5] Scheduler hit an exception: Traceback (most recent call last):
  File "/opt/scheduler.py", line 10, in run
torch.distributed.DistBackendError: NCCL error in: x

[2026-01-05 11:00:01] SIGQUIT received. signum=None, frame=None. It usually means one child failed.
"""
DUMP = b'Thread 0x7f (idle): "MainThread"\n    select (selectors.py:416)\n'


@pytest.fixture
def long_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A start with bars, much serving, a crash in the middle, and then dumps for longer than any tail."""
    monkeypatch.setattr(log_scan, "WHOLE_BYTES", 1_000_000)
    monkeypatch.setattr(log_scan, "HEAD_BYTES", 100_000)
    monkeypatch.setattr(log_scan, "TAIL_BYTES", 200_000)
    start = (TESTS / "captures" / "sglang_h200" / "eagle3_v1" / "server.log").read_bytes()
    ready = start.index(b"fired up")
    start = start[: start.index(b"\n", ready) + 1]
    assert b"\r" in start
    log = tmp_path / "server.log"
    log.write_bytes(start + SERVING * 10_000 + CRASH + DUMP * 40_000)
    assert log.stat().st_size > 4_500_000
    return log


async def test_the_cause_in_the_middle_of_a_long_log_is_that_of_the_whole_file(
    here: LocalTransport, long_log: Path
) -> None:
    found = await diagnose(here, server(engine="sglang", status=137), None, str(long_log))
    whole = inspected(long_log)
    assert found.cause is not None
    assert (found.cause.kind, found.cause.rank, found.cause.other_ranks) == ("out-of-memory", "TP3", 1)
    assert found.cause == whole.cause
    assert found.story is not None
    assert (found.story.lines, found.story.word) == (whole.lines, "crashed")
    assert found.advice[0].startswith("Process 387746 holds 78.89 GiB of this GPU.")
    (shown,) = (line for line in found.context if line.number == found.cause.line)
    assert shown.text.startswith("torch.OutOfMemoryError")


async def test_a_long_log_is_not_sent_over_the_wire(
    here: LocalTransport, long_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    read = LogSource.read

    async def counted(self: LogSource, offset: int, size: int) -> bytes:
        content = await read(self, offset, size)
        sizes.append(len(content))
        return content

    monkeypatch.setattr(LogSource, "read", counted)
    await diagnose(here, server(engine="sglang"), None, str(long_log))
    assert sum(sizes) <= 100_000 + 200_000 + 2 * log_scan.PLACE_BYTES


HANDLED = b"""[2026-01-05 10:30:00] INFO:     127.0.0.1:1 - "POST /generate HTTP/1.1" 500 Internal Server Error
Exception in ASGI application
Traceback (most recent call last):
  File "/opt/http_server.py", line 10, in handle
ValueError: a prompt that was too long

"""
BARE = b"""Loading the tokenizer of the draft
Traceback (most recent call last):
  File "/opt/launch_server.py", line 10, in <module>
ImportError: libcudart.so.12: cannot open shared object file

"""
"""Before the ready line, and no word of the engine announces it."""


@pytest.fixture
def long_start(long_log: Path) -> Path:
    """The same start with much talk in it, and a traceback that nothing announces in its middle."""
    start = (TESTS / "captures" / "sglang_h200" / "eagle3_v1" / "server.log").read_bytes()
    start = start[: start.index(b"fired up")]
    start = start[: start.rindex(b"\n") + 1]
    handled = HANDLED * 50
    long_log.write_bytes(start + handled + DUMP * 20_000 + handled + BARE + DUMP * 40_000)
    return long_log


async def test_a_bare_traceback_in_the_middle_of_a_long_log_is_its_cause_and_handled_ones_are_not(
    here: LocalTransport, long_start: Path
) -> None:
    found = await diagnose(here, server(engine="sglang", status=1), None, str(long_start))
    assert found.cause is not None
    assert found.cause.message == "ImportError: libcudart.so.12: cannot open shared object file"
    assert found.cause == inspected(long_start).cause
    (shown,) = (line for line in found.context if line.number == found.cause.line)
    assert shown.text.startswith("ImportError")


async def test_a_log_that_is_not_there_is_said_so_and_the_rest_is_told(here: LocalTransport, tmp_path: Path) -> None:
    found = await diagnose(here, server(), None, str(tmp_path / "gone.log"))
    assert (found.cause, found.ended) == (None, "exit 1")
    assert found.because == (f"no log file at {tmp_path}/gone.log",)


@pytest.fixture
def proxied() -> Iterator[int]:
    """A process in whose environment a proxy is set."""
    env = {**os.environ, "http_proxy": "http://ann:sec/ret@proxy.example:3128", "no_proxy": "localhost,127.0.0.1"}
    words = [sys.executable, "-c", "print(1, flush=True); input()"]
    process = subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield process.pid
    process.communicate(b"\n", timeout=10)


@pytest.mark.parametrize("log", ["dead.log", "looping.log"])
async def test_the_proxies_of_the_server_itself_are_named_without_passwords(
    here: LocalTransport, proxied: int, log: str
) -> None:
    found = await diagnose(
        here, server(engine="sglang", pid=proxied), None, str(CASES / "B45_warmup_through_proxy" / log)
    )
    assert found.advice[-2:] == (
        "http_proxy=http://proxy.example:3128 in the server's environment",
        "no_proxy=localhost,127.0.0.1 in the server's environment",
    )


def test_memory_advice_names_the_value_of_this_command() -> None:
    oom = Cause("out-of-memory", "CUDA out of memory", hint="Lower it.")
    command = "python3 -m sglang.launch_server \\\n  --mem-fraction-static 0.9 \\\n  --port 30000"
    assert advice(oom, command) == ("Lower it.", "this run had --mem-fraction-static 0.9: try 0.85")
    small = Cause("not-enough-memory", "Not enough memory")
    assert advice(small, "vllm serve --gpu-memory-utilization=0.5") == (
        "this run had --gpu-memory-utilization 0.5: try 0.55",
    )
    assert advice(small, "vllm serve") == ()
    assert advice(None, command) == ()


async def test_who_holds_the_memory_now_is_named(here: LocalTransport, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(CRASH)
    stranger = GpuProcess(387746, "python3", "GPU-a", 80_783)
    host = HostState("lab", "lab", gpus=(Gpu(0, "GPU-a", "H200", processes=(stranger,)),))
    found = await diagnose(here, server(engine="sglang"), host, str(log))
    assert found.memory == ("pid 387746 (python3) holds 78.9 GiB of GPU 0: no server of this fleet",)


async def test_a_process_of_its_own_is_not_who_holds_the_memory(here: LocalTransport, tmp_path: Path) -> None:
    """In a container torch calls its own process by the number on the host."""
    log = tmp_path / "log"
    log.write_bytes(CRASH)
    found = await diagnose(here, server(engine="sglang", pid=387746), None, str(log))
    assert found.cause is not None
    assert found.cause.hint == found.advice[0]
    assert found.advice[0].startswith("Lower --mem-fraction-static")


@pytest.mark.parametrize(
    ("command", "gpus"),
    [
        ("python3 -m sglang.launch_server", [1]),
        ("env CUDA_VISIBLE_DEVICES=2,3 python3 -m sglang.launch_server", [3]),
        ("env CUDA_VISIBLE_DEVICES=GPU-a,GPU-b python3 -m sglang.launch_server", [0, 1, 2, 3]),
    ],
)
async def test_of_the_gpu_that_the_cause_names_the_holders_are_named(
    here: LocalTransport, tmp_path: Path, command: str, gpus: list[int]
) -> None:
    log = tmp_path / "log"
    log.write_bytes(CRASH.replace(b"2.00 GiB. Proc", b"2.00 GiB. GPU 1 has a total capacity of 79.11 GiB. Proc"))
    host = HostState(
        "lab",
        "lab",
        gpus=tuple(
            Gpu(each, f"GPU-{each}", "H200", processes=(GpuProcess(500 + each, "job", f"GPU-{each}", 1024),))
            for each in range(4)
        ),
    )
    found = await diagnose(here, server(engine="sglang", command=command), host, str(log))
    assert list(found.memory) == [
        f"pid {500 + each} (job) holds 1.0 GiB of GPU {each}: no server of this fleet" for each in gpus
    ]


def test_hits_that_one_read_covers_are_read_once_and_there_is_a_limit() -> None:
    hits = ((10, 1000), (11, 1100), (12, 100_000), (9000, 5_000_000))
    assert places(Scan(10_000_000, 10_000, hits, ()), 0, 4_000_000) == [(10, 1000), (12, 100_000)]
    many = tuple((number, number * log_scan.PLACE_BYTES) for number in range(500))
    assert len(places(Scan(10**9, 1, many, ()), 0, 10**9)) == log_scan.FIRST_PLACES + log_scan.LAST_PLACES


def test_the_answer_of_the_scan_counts_lines_as_the_reader_does() -> None:
    scan = read_scan(
        b"@size 20\n@lines 3\n@return 0:a\rb\rc\n@return 6:crlf\r\n@hit 3:12:x:y\n@hit junk\n@lines x\n\xff"
    )
    assert scan == Scan(20, 3, ((2, 12),), (1, 3))
    assert scan.number_at(12, 2) == 5


@pytest.mark.parametrize(
    ("last", "told"),
    [
        (range(62, 71), []),
        (range(62, 74), ["  last lines:", "        71  line 71", "        72  line 72", "        73  line 73"]),
    ],
)
def test_the_last_lines_are_those_after_the_lines_around_the_cause(last: range, told: list[str]) -> None:
    def lines(numbers: range) -> tuple[Line, ...]:
        return tuple(Line(f"line {number}", number, 0) for number in numbers)

    cause = Cause("out-of-memory", "CUDA out of memory", line=65)
    found = Diagnosis("kimi", "crashed", "/log", cause=cause, context=lines(range(63, 71)), last=lines(last))
    words = diagnosis_words(found)
    assert words[words.index("        70  line 70") + 1 :] == told


def test_a_diagnosis_in_json_keeps_unknown_as_null() -> None:
    told = diagnosis_json(Diagnosis("kimi", "unknown"))
    assert (told["cause"], told["ended"], told["log"], told["advice"]) == (None, None, None, [])

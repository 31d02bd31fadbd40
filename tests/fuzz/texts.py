"""What holds of every text from a host, whatever stands in it: logs, answers of nvidia-smi and HTTP, files of /proc."""

import math
from dataclasses import asdict, is_dataclass

from tests.engines.reading import CAPTURES, content
from tests.fuzz.spelling import Choices, can_be_shown, spelled

from specdeck.engines.reader import LogReader
from specdeck.engines.registry import ENGINES
from specdeck.parsing.addresses import in_the_way_of
from specdeck.parsing.cgroup import owner_of
from specdeck.parsing.kernel_log import is_denied, kernel_kills
from specdeck.parsing.nvidia_smi_answer import read_answer
from specdeck.parsing.proc import argv, boot_id, environment, host_memory, listeners, process_stat, socket_inode
from specdeck.parsing.secrets import without_secrets
from specdeck.services.answers import AnswerReader, loopback_of
from specdeck.services.described import read_descriptions
from specdeck.services.discovery import read_discovery
from specdeck.services.run_records import HostClock, is_actor_needed, read_act, read_actor, read_exit, read_run
from specdeck.services.survey import read_survey

READY_LINES = (
    b"fired up and ready to roll",
    b"Application startup complete",
    b"listening on http",
    b"Connected",
    b"Listening on",
    b"started server process",
    b"Uvicorn running on",
)


def _lines_of(*names: str) -> tuple[bytes, ...]:
    """Some of each file: its lines, and the ends between them."""
    lines: list[bytes] = [b"\n", b"\r", b"\r\n"]
    for name in names:
        rows = [row for row in (CAPTURES / name).read_bytes().replace(b"\r", b"\n").split(b"\n") if row]
        lines += [row[:400] for row in rows[:: max(1, len(rows) // 40)]]
    return tuple(lines)


LOG_WORDS = _lines_of(
    "sglang_h200/eagle3_v1_b/server.log",
    "sglang_h200/fail_port_in_use/B_second.log",
    "vllm/serve.log",
    "llamacpp/tiny_server.log",
)
BAR_WORDS = (
    *(
        b"100%|##| ",
        b" 50%|#  | ",
        b"0",
        b"1",
        b"2",
        b"64",
        b"/",
        b" [",
        b"00:01",
        b"<",
        b"?",
        b", ",
        b"it/s]",
        b"s/it]",
    ),
    *(b"\r", b"\n", b"(Worker_TP0 pid=7) ", b"Load weight begin.", b"Capture cuda graph begin.", b"k", b"B", b"."),
    *(b"Capture draft cuda graph begin.", b"[2026-01-05 10:00:00] ", b"[2026-01-05 10:00:07 TP1] ", b"9" * 13),
)
SMI_WORDS = (
    *(b"0", b"1", b", ", b"\n", b"[N/A]", b"GPU-1", b"NVIDIA H200", b"143771", b"MiB", b"0x", b"F", b".5", b"%", b"|"),
    *(b"index", b"uuid", b"pid", b"name", b"memory.used [MiB]", b"utilization.gpu [%]", b"process_name", b" ", b"nan"),
    *(
        b"| NVIDIA-SMI 580 |\n",
        b"|   0  N/A  N/A   10  C  python3   100MiB |\n",
        b"Unable to determine the device handle",
    ),
    *(b'Field "x" is not a valid field to query.', b"No devices were found", b"[Unknown Error]", b"-", b"1e999"),
)
ANSWER_WORDS = (
    *(b"{", b"}", b"[", b"]", b'"', b":", b",", b"null", b"true", b"NaN", b"Infinity", b"1e999", b"-1", b"0.5", b"12"),
    *(b"9" * 400, b'"loads"', b'"num_running_reqs"', b'"token_usage"', b'"version"', b'"0.5.12"', b'"speculative"'),
    *(b'"accept_length"', b'"internal_states"', b"\n", b" ", b"sglang:realtime_tokens_total", b'{mode="decode"}'),
    *(b"sglang:time_to_first_token_seconds_bucket", b'{le="+Inf"}', b'{le="0.5"}', b"vllm:num_requests_running"),
    *(b"vllm:generation_tokens_total", b"llamacpp:tokens_predicted_total", b"# TYPE x counter\n", b"[" * 200),
)
PROC_WORDS = (
    *(b"1", b"41233", b" ", b"(", b")", b"S", b"Z", b"\n", b"\0", b"=", b"python3", b"0A", b"0100007F:7530", b"@stat "),
    *(
        b"@socket ",
        b"@app ",
        b"@apps-end",
        b"@memory ",
        b"@uptime ",
        b"@clock ",
        b"@user ",
        b"@arg ",
        b"@cwd ",
        b"@out ",
    ),
    *(
        b"MemTotal: ",
        b" kB",
        b"socket:[7]",
        b"0::/",
        b"system.slice",
        b"docker-",
        b".scope",
        b"kubepods",
        b"-",
        b"x" * 64,
    ),
    *(b"@run k ", b"@item k ", b"@act k ", b"@actor k ", b"@pid 7 ", b"@listen ", b"@lock k ", b"@watcher ", b"0001"),
    *(b"pid ", b"started ", b"exit ", b"launch ", b"term", b"done", b"stop", b"Out of memory: Killed process 7 (x)"),
    *(b"[  12.5] ", b"Memory cgroup out of memory: ", b"UID:0", b"-9", b"137", b"9" * 30, b"127.0.0.1", b"::1", b"*"),
)


def logs(raw: bytes) -> None:
    """In any pieces a log says the same; ready needs a ready line; a bar never runs backwards under one name."""
    choices = Choices(raw)
    engine = choices.one_of((None, *ENGINES))
    words = choices.one_of((LOG_WORDS, BAR_WORDS))
    step = 1 + choices.number()
    log = spelled(choices.rest()[:120], words)
    reader, shown = LogReader(engine), dict[str, float]()
    for begin in range(0, len(log), step):
        reader.feed(log[begin : begin + step], 0.0)
        bar = reader.story.progress
        if bar is not None and reader.story.engine is not None:
            assert bar.percent >= shown.get(bar.label, 0.0), (bar, shown)
            assert 0 <= bar.percent <= 100
            shown[bar.label] = bar.percent
    reader.end()
    whole = LogReader(engine)
    whole.feed(log, 0.0)
    whole.end()
    assert content(reader.story) == content(whole.story)
    if whole.story.word == "ready" and whole.story.batch is None:
        assert any(line in log for line in READY_LINES), whole.story
    _is_sound(whole.story)


def smi_answers(raw: bytes) -> None:
    """Each field on its own; what cannot be read is None, never nan."""
    text = spelled(raw, SMI_WORDS).decode("utf-8", "replace")
    for code in (None, 6):
        answer = read_answer(text, exit_code=code)
        for gpu in answer.gpus:
            _is_sound(gpu)
        for process in answer.processes:
            assert can_be_shown(process.name)
            _is_sound(process)
        assert all(can_be_shown(each.sentence) for each in answer.complaints)


def http_answers(raw: bytes) -> None:
    """Every endpoint of every engine may answer anything."""
    choices = Choices(raw)
    engine = choices.one_of(tuple(ENGINES.values()))
    body = spelled(choices.rest(), ANSWER_WORDS)
    for probe in engine.probes:
        reading = engine.read_answer(probe, body)
        _is_sound(reading)
        assert all(count is None or count >= 0 for count in (reading.running, reading.queued)), reading


def host_answers(raw: bytes) -> None:
    """Files of /proc and what the scripts on the host print."""
    answer = spelled(raw, PROC_WORDS)
    text = answer.decode("utf-8", "surrogateescape")
    for parse in (process_stat, listeners, argv, environment, boot_id, host_memory):
        parse(answer)
    for read in (socket_inode, in_the_way_of, kernel_kills, is_denied, loopback_of, without_secrets):
        read(text)
    owner = owner_of(text, "0::/")
    assert owner is None or owner.words
    survey = read_survey(answer)
    for pid in survey.processes:
        survey.family(pid)
        survey.left_behind(pid, {}, 5)
    read_descriptions(answer)
    read_discovery(answer)
    _runs(text)


def _runs(text: str) -> None:
    reader, clock = AnswerReader(), HostClock(0.0)
    for line in text.split("\n"):
        reader.read(line)
    for files in reader.answers.runs.values():
        read_run(files, "/", clock)
        read_exit(files)
        read_actor(files)
        is_actor_needed(files)
        read_act(files, clock)


def _is_sound(value: object) -> None:
    """No number that JSON cannot say, at any depth."""
    for number in _numbers(asdict(value) if is_dataclass(value) and not isinstance(value, type) else value):
        assert math.isfinite(number), value


def _numbers(value: object) -> list[float]:
    if isinstance(value, dict):
        return [number for each in value.values() for number in _numbers(each)]
    if isinstance(value, (list, tuple)):
        return [number for each in value for number in _numbers(each)]
    return [value] if isinstance(value, float) else []

"""The simulated nvidia-smi beside the words of a real one (H200, driver 580)."""

import asyncio
import re
from pathlib import Path

import asyncssh
import pytest
from tests.demo.running import V1, shell, start, used_mib
from tests.waiting import until

from specdeck.demo.host import ALIAS, DemoHost

CAPTURES = Path(__file__).parents[1] / "captures" / "h200"


def form(word: str) -> str:
    """A word without its figures: `126.67 W` becomes `N W`."""
    return re.sub(r"0x[0-9A-F]+|\d+(\.\d+)?", "N", word.strip())


async def test_all_fields_have_the_headers_of_the_real_one_and_words_of_its_forms(demo: DemoHost) -> None:
    header, real = (CAPTURES / "all_idle.csv").read_text("ascii").splitlines()[:2]
    fields = ",".join(word.split(" [")[0] for word in header.split(", "))
    lines = (await shell(demo, f"nvidia-smi --query-gpu={fields} --format=csv")).splitlines()
    assert lines[0].split(", ") == header.split(", ")
    assert len(lines) == 1 + 8
    varying = {"uuid", "clocks_event_reasons.active"}
    for name, word, ours in zip(header.split(", "), real.split(", "), lines[1].split(", "), strict=True):
        assert name in varying or form(ours) == form(word), name


async def test_rows_without_header_and_units_look_like_the_real_ones(demo: DemoHost) -> None:
    query = "index,uuid,name,memory.used,memory.total,temperature.gpu,power.draw,power.limit,fan.speed,pstate"
    lines = (await shell(demo, f"nvidia-smi --query-gpu={query} --format=csv,noheader,nounits")).splitlines()
    assert (
        lines[3] == "3, GPU-00000003-1111-2222-3333-444455556663, NVIDIA H200, 0, 143771, 36, 121.70, 700.00, [N/A], P0"
    )


async def test_an_unknown_field_is_refused_in_the_real_words(demo: DemoHost) -> None:
    real = (CAPTURES / "err_badfield.txt").read_text("ascii")
    assert await shell(demo, "nvidia-smi --query-gpu=index,nosuchfield --format=csv; echo rc=$?") == real


async def test_an_unknown_gpu_is_refused_in_the_real_words(demo: DemoHost) -> None:
    real = (CAPTURES / "err_badindex.txt").read_text("ascii")
    assert await shell(demo, "nvidia-smi -i 9 --query-gpu=index --format=csv; echo rc=$?") == real


async def test_older_names_of_fields_are_taken(demo: DemoHost) -> None:
    text = await shell(
        demo, "nvidia-smi -i 0 --query-gpu=clocks_throttle_reasons.active,gpu_name --format=csv,noheader"
    )
    assert text == "0x0000000000000001, NVIDIA H200\n"


async def test_the_plain_table_has_the_frame_of_the_real_one(demo: DemoHost) -> None:
    real = (CAPTURES / "plain_load.txt").read_text("ascii").splitlines()
    ours = (await shell(demo, "nvidia-smi")).splitlines()
    assert ours[1:8] == real[1:8]
    assert re.sub(r"[0-9A-F]+", "N", ours[8]) == re.sub(r"[0-9A-F]+", "N", real[8])
    assert {len(line) for line in ours[1:] if line} == {91}


async def test_processes_are_named_and_hold_what_the_gpu_shows(demo: DemoHost) -> None:
    engine = await start(demo, V1)
    await engine.ready()
    query = "--query-compute-apps=pid,process_name,used_gpu_memory,gpu_uuid --format=csv"
    lines = (await shell(demo, f"nvidia-smi {query}")).splitlines()
    assert lines[0] == "pid, process_name, used_gpu_memory [MiB], gpu_uuid"
    assert [line.split(", ")[1] for line in lines[1:]] == [f"sglang::scheduler_TP{rank}" for rank in range(8)]
    assert {int(line.split(", ")[0]) for line in lines[1:]} < set(engine.ranks().values())
    held = [int(line.split(", ")[2].removesuffix(" MiB")) for line in lines[1:]]
    assert [used - mib for used, mib in zip(await used_mib(demo), held, strict=True)] == [10] * 8
    assert held[0] > 100_000


async def test_no_process_means_no_row(demo: DemoHost) -> None:
    assert await shell(demo, "nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader") == ""


@pytest.mark.parametrize("flag", ["-lms 20", "--loop-ms=20"])
async def test_a_stream_gives_whole_rows_until_its_reader_leaves(demo: DemoHost, flag: str) -> None:
    command = f"exec nvidia-smi --query-gpu=timestamp,index,utilization.gpu --format=csv,noheader,nounits {flag}"
    async with (
        asyncssh.connect(ALIAS, config=[str(demo.tree.ssh_config)]) as connection,
        connection.create_process(f"echo $$; {command}", encoding=None) as process,
        asyncio.timeout(90),
    ):
        pid = int(await process.stdout.readline())
        rows = [await process.stdout.readline() for _ in range(40)]
    assert all(re.fullmatch(rb"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}, [0-7], 0\n", row) for row in rows)
    assert [row.split(b", ")[1] for row in rows[:8]] == [b"%d" % index for index in range(8)]
    await until(
        lambda: not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes(), "gone"
    )

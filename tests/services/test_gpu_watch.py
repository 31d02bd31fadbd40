"""The GPU watch through a real monitor channel on this machine, with a stand-in for nvidia-smi."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.services.heard import Heard
from tests.services.hung_smi import hung_nvidia_smi
from tests.services.smi_host import GPU, SmiHost

from specdeck.config.objects import Host
from specdeck.services import gpu_watch, monitor_channel, survey
from specdeck.services.gpu_watch import GpuWatch
from specdeck.services.monitor_channel import MonitorChannel, monitor_script
from specdeck.state.events import GpusSampled, GpusUnavailable, Noted
from specdeck.state.gpu_snapshot import LostGpu
from specdeck.transport.local import LocalTransport
from specdeck.transport.script import Script, script_text

CASES = Path(__file__).parents[1] / "cases"


@pytest.fixture
def smi(tmp_path: Path) -> SmiHost:
    """A host with one busy GPU."""
    host = SmiHost(tmp_path)
    host.say(gpus=[GPU])
    return host


@asynccontextmanager
async def watching(host: Host, heard: Heard) -> AsyncIterator[GpuWatch]:
    """A GPU watch at work."""
    transport = LocalTransport(host)
    await transport.connect()
    watch = GpuWatch("lab", heard.post)
    async with transport.open(monitor_script()) as channel:
        monitor = MonitorChannel(channel, watch.take)
        tasks = [asyncio.create_task(monitor.read()), asyncio.create_task(watch.run(monitor))]
        try:
            yield watch
        finally:
            for task in tasks:
                task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(*tasks)
    await transport.close()


async def test_rows_stream_from_one_process(smi: SmiHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_watch, "PERIOD_MS", 50)
    heard = Heard()
    async with watching(smi.host, heard):
        await heard.until(lambda: len(heard.of(GpusSampled)) >= 5)
    gpu = heard.of(GpusSampled)[0].gpus[0]
    assert (gpu.memory_used_mib, gpu.utilization_percent, gpu.power_w) == (70110, 50.0, 500.0)
    assert smi.started == 1


async def test_a_host_without_nvidia_smi_says_so(tmp_path: Path) -> None:
    heard = Heard()
    async with watching(Host("lab", "localhost", env={"PATH": "/usr/bin:/bin"}), heard):
        await heard.until(lambda: heard.of(GpusUnavailable))
    assert "nvidia-smi is not in the PATH" in heard.of(GpusUnavailable)[0].reason


async def test_fields_that_the_driver_does_not_know_are_left_out(smi: SmiHost) -> None:
    smi.say(gpus=[GPU], unknown_fields=["clocks_event_reasons.active", "clocks_throttle_reasons.active"])
    heard = Heard()
    async with watching(smi.host, heard):
        await heard.until(lambda: heard.of(GpusSampled))
    assert heard.of(GpusSampled)[0].gpus[0].memory_used_mib == 70110
    assert not heard.of(GpusUnavailable)
    assert smi.started == 3


async def test_an_error_is_shown_in_words_and_asked_again(smi: SmiHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_watch, "FAILED_PAUSE_SECONDS", 0.05)
    smi.say(stdout="Failed to initialize NVML: Driver/library version mismatch\n", rc=18)
    heard = Heard()
    async with watching(smi.host, heard):
        await heard.until(lambda: heard.of(GpusUnavailable))
        assert "driver was upgraded" in heard.of(GpusUnavailable)[0].reason
        smi.say(gpus=[GPU])
        await heard.until(lambda: heard.of(GpusSampled))


async def test_a_slow_nvidia_smi_is_called_one_at_a_time_and_hinted_once(
    smi: SmiHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_watch, "SLOW_SECONDS", 0.2)
    monkeypatch.setattr(gpu_watch, "HINT_SECONDS", 0.3)
    monkeypatch.setattr(gpu_watch, "PAUSE_SECONDS", 0.01)
    smi.say(gpus=[GPU], delay=0.4, streams=False)
    heard = Heard()
    async with watching(smi.host, heard) as watch:
        await heard.until(lambda: len(heard.of(GpusSampled)) >= 3)
        assert watch.is_slow
    assert smi.most_at_once == 1
    (hint,) = heard.of(Noted)
    assert hint.text.endswith("persistence mode may be off")


async def test_a_slow_stream_is_ended_and_no_stream_goes_on(smi: SmiHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_watch, "SLOW_SECONDS", 0.2)
    monkeypatch.setattr(gpu_watch, "PAUSE_SECONDS", 0.01)
    smi.say(gpus=[GPU], delay=0.4)
    heard = Heard()
    async with watching(smi.host, heard):
        await heard.until(lambda: len(heard.of(GpusSampled)) >= 3)
    assert heard.of(GpusSampled)[2].gpus[0].name == "NVIDIA Example 80GB"


@pytest.mark.parametrize("folder", ["/usr/local/nvidia/bin", "/usr/lib/wsl/lib"])
async def test_nvidia_smi_is_found_where_containers_and_wsl_keep_it(
    smi: SmiHost, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    scripts = {name: script_text(name).replace(folder, str(smi.folder / "bin")) for name in ("monitor", "survey")}
    monkeypatch.setattr(monitor_channel, "script_text", scripts.__getitem__)
    monkeypatch.setattr(survey, "script_text", scripts.__getitem__)
    smi.say(gpus=[GPU], apps=[{"gpu_uuid": GPU["uuid"], "pid": 4242, "process_name": "python3", "used_memory": 70000}])
    host = replace(smi.host, env={**smi.host.env, "PATH": "/usr/bin:/bin"})
    heard = Heard()
    async with watching(host, heard):
        await heard.until(lambda: heard.of(GpusSampled))
    seen = await survey.take_survey(LocalTransport(host), (), with_gpus=True)
    assert seen.gpu_rows is not None
    assert "4242, python3" in seen.gpu_rows[0]


async def test_a_new_driver_under_a_running_dashboard_gets_its_fields_back(
    smi: SmiHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_watch, "ASK_ALL_AGAIN_SECONDS", 2.0)
    monkeypatch.setattr(gpu_watch, "PAUSE_SECONDS", 0.05)
    smi.say(gpus=[GPU], unknown_fields=["power.draw"], streams=False)
    heard = Heard()
    async with watching(smi.host, heard):
        await heard.until(lambda: [row for row in heard.of(GpusSampled) if row.gpus[0].power_w is None])
        smi.say(gpus=[GPU], streams=False)
        await heard.until(lambda: [row for row in heard.of(GpusSampled) if row.gpus[0].power_w == 500.0])


SENTENCES = ("mismatch", "no_comm", "no_devices", "no_lib", "container", "not_found", "empty_ok")


async def test_each_way_to_have_no_driver_is_a_line_of_its_own_and_all_recover(
    smi: SmiHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_watch, "FAILED_PAUSE_SECONDS", 0.05)
    heard = Heard()
    smi.say(**no_driver(SENTENCES[0]))
    async with watching(smi.host, heard):
        for number, name in enumerate(SENTENCES, 1):
            smi.say(**no_driver(name))
            await heard.until(lambda number=number: len({each.reason for each in heard.of(GpusUnavailable)}) >= number)  # type: ignore[misc]
        smi.say(gpus=[GPU])
        await heard.until(lambda: heard.of(GpusSampled))
    reasons = {each.reason for each in heard.of(GpusUnavailable)}
    assert len(reasons) == len(SENTENCES)
    assert not [reason for reason in reasons if "Traceback" in reason]


def no_driver(name: str) -> dict[str, object]:
    """One of the recorded answers."""
    told = json.loads((CASES / "B16_no_driver_answers" / f"{name}.json").read_text())
    return {"stdout": told.get("stdout", ""), "rc": told.get("rc", 0)}


EIGHT: list[dict[str, object]] = [
    {**GPU, "index": index, "uuid": f"GPU-{index}", "pci.bus_id": f"00000000:1{index}:00.0"} for index in range(8)
]


async def test_of_eight_gpus_seven_go_on_beside_one_that_is_lost(smi: SmiHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_watch, "PERIOD_MS", 50)
    monkeypatch.setattr(gpu_watch, "PAUSE_SECONDS", 0.05)
    smi.say(gpus=EIGHT, streams=False)
    heard = Heard()
    async with watching(smi.host, heard) as watch:
        await heard.until(lambda: heard.of(GpusSampled))
        smi.say(gpus=EIGHT, lost=["13:00.0"])
        await heard.until(lambda: len([each for each in heard.of(GpusSampled) if each.lost]) >= 3)
        assert watch.living_ids == "GPU-0,GPU-1,GPU-2,GPU-4,GPU-5,GPU-6,GPU-7"
    last = heard.of(GpusSampled)[-1]
    assert [each.index for each in last.gpus] == [0, 1, 2, 4, 5, 6, 7]
    assert last.lost == (LostGpu("13:00.0", "GPU 13:00.0 lost, reboot needed"),)
    assert not heard.of(GpusUnavailable)


async def test_a_gpu_that_was_lost_before_the_first_look_is_left_out_by_the_drivers_own_list(
    smi: SmiHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    proc = smi.folder / "gpus"
    for index in range(8):
        (proc / f"0000:1{index}:00.0").mkdir(parents=True)
    text = script_text("monitor").replace("/proc/driver/nvidia/gpus", str(proc))
    monkeypatch.setattr(monitor_channel, "script_text", {"monitor": text}.__getitem__)
    smi.say(gpus=EIGHT, lost=["13:00.0"])
    heard = Heard()
    async with watching(smi.host, heard):
        await heard.until(lambda: heard.of(GpusSampled))
    first = heard.of(GpusSampled)[0]
    assert [each.index for each in first.gpus] == [0, 1, 2, 4, 5, 6, 7]
    assert [each.bus_id for each in first.lost] == ["13:00.0"]


async def test_where_no_other_gpu_can_be_asked_the_lost_one_is_the_reason(
    smi: SmiHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_watch, "FAILED_PAUSE_SECONDS", 0.05)
    text = (CASES / "B15_gpu_lost" / "unknown_error.json").read_text()
    smi.say(stdout=json.loads(text)["stdout"], rc=255)
    heard = Heard()
    async with watching(smi.host, heard):
        await heard.until(lambda: heard.of(GpusUnavailable))
        smi.say(gpus=[GPU])
        await heard.until(lambda: heard.of(GpusSampled))
    assert heard.of(GpusUnavailable)[0].reason == "GPU BA:80.0 does not answer: Unknown Error"
    assert heard.of(GpusSampled)[-1].lost == ()


async def test_a_sentence_between_good_rows_is_a_lost_gpu_and_no_row_is_renumbered(smi: SmiHost) -> None:
    text = (CASES / "B15_gpu_lost" / "mixed.txt").read_text().replace(" MiB", "").replace(" %", "").replace(" W", "")
    rows = [line.split(", ") for line in text.splitlines() if line[:1].isdigit()]
    ours = [
        f"{row[0]}, {row[2]}, {row[1]}, {row[5]}, {row[3]}, {row[4]}, {row[6]}, {row[7]}, {row[8]}, 0x0, 345, [N/A]"
        for row in rows
    ]
    sentence = next(line for line in text.splitlines() if line.startswith("Unable"))
    smi.say(stdout=f"{ours[0]}\n{sentence}\n{ours[1]}\n", rc=15)
    heard = Heard()
    async with watching(smi.host, heard):
        await heard.until(lambda: heard.of(GpusSampled))
    sample = heard.of(GpusSampled)[0]
    assert [(each.index, each.memory_used_mib) for each in sample.gpus] == [(0, 10), (2, 12)]
    assert [each.words for each in sample.lost] == ["GPU 1A:00.0 lost, reboot needed"]


async def test_a_stream_that_falls_silent_is_said_to_hang_and_no_second_one_is_started(
    smi: SmiHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_watch, "PERIOD_MS", 50)
    monkeypatch.setattr(gpu_watch, "STREAM_SILENT_SECONDS", 0.5)
    monkeypatch.setattr(gpu_watch, "_LOOK_SECONDS", 0.05)
    smi.say(gpus=[GPU], hangs_after=3)
    heard = Heard()
    async with watching(smi.host, heard) as watch:
        await heard.until(lambda: heard.of(GpusUnavailable))
        assert watch.is_stuck
        assert heard.of(GpusUnavailable)[0].reason == "nvidia-smi hangs; no second one is started beside it"
        assert smi.started == 1


async def test_one_that_hangs_since_an_earlier_connection_is_left_alone_and_none_is_started_beside_it(
    smi: SmiHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_watch, "FAILED_PAUSE_SECONDS", 0.05)
    smi.say(gpus=[GPU])
    heard = Heard()
    with hung_nvidia_smi(smi.folder) as pid:
        async with watching(smi.host, heard) as watch:
            await heard.until(lambda: heard.of(GpusUnavailable))
            assert watch.is_stuck
            seen = await survey.take_survey(LocalTransport(smi.host), (), with_gpus=True)
            checked = await LocalTransport(smi.host).run(Script(script_text("gpu_check"), ("index", "", "")))
            assert not smi.starts.exists()
            assert heard.of(GpusUnavailable)[0].reason.endswith(f"no second one is started beside it (pid {pid})")
            assert (seen.hung_pid, seen.gpu_rows) == (pid, None)
            assert f"@hung {pid} ".encode() in checked.stdout
            os.kill(pid, signal.SIGKILL)
            await heard.until(lambda: heard.of(GpusSampled))

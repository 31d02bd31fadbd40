"""The odd answers of nvidia-smi through a real sshd and the whole deck: what stands in the state at the end. (Cases B13 to B22.)"""

import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.openssh import OpenSsh
from tests.services import waiting
from tests.services.smi_host import GPU, SmiHost

from specdeck.config.objects import Fleet
from specdeck.services import gpu_watch, host_monitor
from specdeck.services.open_deck import open_deck
from specdeck.services.watching import WatchingDeck
from specdeck.state.snapshot import HostState

pytestmark = pytest.mark.sshd
CASES = Path(__file__).parents[1] / "cases"
UNITS = (" MiB", " %", " W")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses as short as they can be."""
    monkeypatch.setattr(host_monitor, "TICK_SECONDS", 0.1)
    monkeypatch.setattr(host_monitor, "LEAST_SURVEY_SECONDS", 0.1)
    monkeypatch.setattr(gpu_watch, "PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(gpu_watch, "FAILED_PAUSE_SECONDS", 0.05)


@pytest.fixture
def smi(tmp_path: Path) -> SmiHost:
    """Where the stand-in is."""
    return SmiHost(tmp_path)


@asynccontextmanager
async def watching(smi: SmiHost, sshd: OpenSsh) -> AsyncIterator[WatchingDeck]:
    """The deck on a host without servers."""
    env = {**smi.host.env, "PATH": f"{smi.folder / 'bin'}:{os.environ['PATH']}"}
    async with open_deck(Fleet((sshd.host("lab", env=env),), {})) as deck:
        yield deck


async def until(deck: WatchingDeck, is_so: Callable[[HostState], object]) -> HostState:
    """Wait for a state of the host."""
    return (await waiting.until(deck, lambda state: is_so(state.hosts[0]))).hosts[0]


def rows(name: str) -> list[dict[str, object]]:
    """A CSV of a case as the stand-in answers it: by field, without units."""
    header, *lines = (CASES / name).read_text("utf-8").splitlines()
    fields = [cell.split(" [")[0].strip() for cell in header.split(",")]
    return [dict(zip(fields, map(_bare, line.split(", ")), strict=True)) for line in lines if line.strip()]


def _bare(cell: str) -> str:
    return next((cell.removesuffix(unit) for unit in UNITS if cell.endswith(unit)), cell.strip())


def scenario(name: str) -> Mapping[str, object]:
    """A scripted answer of a case."""
    told: Mapping[str, object] = json.loads((CASES / name).read_text())
    return told


async def test_a_board_without_memory_of_its_own_has_the_hosts_and_what_its_processes_use(
    smi: SmiHost, openssh: OpenSsh
) -> None:
    uuid = "GPU-00000000-aaaa-4000-8000-000000000001"
    apps = [{**row, "gpu_uuid": uuid} for row in rows("B13_unified_memory/gb10_apps.csv")]
    smi.say(gpus=rows("B13_unified_memory/gb10_gpu.csv"), apps=apps)
    async with watching(smi, openssh) as deck:
        host = await until(deck, lambda host: host.gpus and host.gpus[0].is_memory_unified and host.gpus[0].processes)
    (gpu,) = host.gpus
    assert (gpu.name, gpu.memory_used_mib, gpu.memory_total_mib) == ("NVIDIA GB10", 60_095, host.memory_total_mib)
    assert (gpu.utilization_percent, gpu.temperature_c, gpu.power_w, gpu.power_limit_w) == (8.0, 45.0, 11.17, None)


async def test_every_bad_word_hides_one_field_of_one_gpu(smi: SmiHost, openssh: OpenSsh) -> None:
    smi.say(gpus=rows("B14_na_words/gpu.csv"))
    async with watching(smi, openssh) as deck:
        host = await until(deck, lambda host: host.gpus)
    known = [
        [each.memory_used_mib, each.utilization_percent, each.temperature_c, each.power_w].count(None)
        for each in host.gpus
    ]
    assert known == [0, 1, 1, 1, 1, 1, 1, 1]
    assert {each.memory_total_mib for each in host.gpus} == {81_559}


async def test_a_gpu_that_is_lost_stands_beside_seven_that_go_on(smi: SmiHost, openssh: OpenSsh) -> None:
    gpus = [
        {**GPU, "index": index, "uuid": f"GPU-{index}", "pci.bus_id": f"00000000:1{index}:00.0"} for index in range(8)
    ]
    smi.say(gpus=gpus, streams=False)
    async with watching(smi, openssh) as deck:
        await until(deck, lambda host: len(host.gpus) == 8)
        smi.say(gpus=gpus, streams=False, lost=["12:00.0"])
        host = await until(deck, lambda host: any(each.lost for each in host.gpus))
    assert [each.index for each in host.gpus] == list(range(8))
    assert [each.lost for each in host.gpus if each.lost] == ["GPU 12:00.0 lost, reboot needed"]
    assert [each.memory_used_mib for each in host.gpus] == [70_110, 70_110, None, *[70_110] * 5]


async def test_a_broken_driver_is_one_clear_line_and_recovers(smi: SmiHost, openssh: OpenSsh) -> None:
    told = scenario("B16_no_driver_answers/mismatch.json")
    smi.say(stdout=told["stdout"], rc=told["rc"])
    async with watching(smi, openssh) as deck:
        host = await until(deck, lambda host: host.gpu_error)
        assert host.link == "up"
        assert "NVML library 535.161" in str(host.gpu_error)
        smi.say(gpus=[GPU])
        await until(deck, lambda host: host.gpus and not host.gpu_error)


async def test_names_with_commas_shift_no_number(smi: SmiHost, openssh: OpenSsh) -> None:
    folder = CASES / "B18_process_name_commas"
    smi.say(gpus=[GPU], apps_text=(folder / "apps.csv").read_text("utf-8"))
    async with watching(smi, openssh) as deck:
        host = await until(deck, lambda host: host.processes)
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    assert [[each.pid, each.name, each.memory_mib] for each in host.processes] == expected


async def test_a_slow_nvidia_smi_is_never_there_twice_whoever_asks(
    smi: SmiHost, openssh: OpenSsh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_watch, "SLOW_SECONDS", 0.1)
    monkeypatch.setattr(host_monitor, "SURVEY_SECONDS", 1.0)
    smi.say(gpus=[GPU], delay=0.3, streams=False)
    async with watching(smi, openssh) as deck:
        await until(deck, lambda host: host.gpus and host.checkup)
        await until(deck, lambda _: smi.started >= 5)
    assert smi.most_at_once == 1


async def test_an_older_driver_gets_the_fields_it_knows(smi: SmiHost, openssh: OpenSsh) -> None:
    old = scenario("B22_fields_per_driver/old.json")
    smi.say(gpus=old["gpus"], unknown_fields=[*old["unknown_fields"], "clocks_throttle_reasons.active"])  # type: ignore[misc]
    async with watching(smi, openssh) as deck:
        host = await until(deck, lambda host: host.gpus)
    assert (host.gpus[0].memory_used_mib, host.gpus[0].power_w, host.gpu_error) == (1000, 40.0, None)
    new = scenario("B22_fields_per_driver/new.json")
    smi.say(gpus=new["gpus"])
    async with watching(smi, openssh) as deck:
        host = await until(deck, lambda host: host.gpus)
    assert host.gpus[0].power_w == 140.0

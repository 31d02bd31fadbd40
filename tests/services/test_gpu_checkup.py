"""The look of every few minutes through the real script on this machine, with stand-ins for nvidia-smi, dmesg and journalctl."""

import asyncio
import getpass
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from tests.services.heard import Heard
from tests.services.smi_host import GPU, SmiHost

from specdeck.parsing.nvlink import NvLinks
from specdeck.services import gpu_checkup
from specdeck.services.gpu_checkup import GpuCheckUps, read_checkup, tagged
from specdeck.services.gpu_watch import GpuWatch
from specdeck.services.survey import take_survey
from specdeck.state.events import GpusChecked
from specdeck.transport.local import LocalTransport

CHECK: dict[str, object] = {
    **GPU,
    "utilization.gpu": 99,
    "pcie.link.gen.current": 1,
    "pcie.link.gen.max": 5,
    "pcie.link.width.current": 16,
    "pcie.link.width.max": 16,
    "clocks.max.sm": 1980,
    "ecc.errors.uncorrected.volatile.total": 2,
    "remapped_rows.pending": "Yes",
    "mig.mode.current": "Disabled",
}
UPTIME = float(Path("/proc/uptime").read_text().split()[0])
XID = "[   12.5] NVRM: Xid (PCI:0000:1a:00): 79, pid=7, name=x, GPU has fallen off the bus."
NVLINKS = "GPU 0: A (UUID: GPU-0)\n\t Link 0: 26.5 GB/s\nGPU 1: A (UUID: GPU-1)\n\t Link 0: <inactive>\n"
MIG_LIST = "GPU 0: A (UUID: GPU-a)\n  MIG 3g.40gb     Device  0: (UUID: MIG-c1)\n"
MIG_XML = """\
<nvidia_smi_log><gpu id="00000000:1A:00.0"><uuid>GPU-a</uuid>
<mig_device><index>0</index><gpu_instance_id>2</gpu_instance_id>
<fb_memory_usage><total>40192 MiB</total><used>37 MiB</used></fb_memory_usage></mig_device>
<supported_clocks><supported_mem_clock>3201 MHz</supported_mem_clock></supported_clocks></gpu></nvidia_smi_log>
"""


@pytest.fixture
def smi(tmp_path: Path) -> SmiHost:
    """A host with a slow link and broken memory, whose kernel log may not be read."""
    host = SmiHost(tmp_path)
    host.say(gpus=[CHECK])
    program(host, "dmesg", "echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1")
    program(host, "journalctl", "exit 1")
    return host


def program(host: SmiHost, name: str, text: str) -> None:
    """A command of the host."""
    path = host.folder / "bin" / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@asynccontextmanager
async def checking(host: SmiHost, heard: Heard, *, gpus: int = 1) -> AsyncIterator[GpuWatch]:
    """Check-ups at work beside a watch that has seen so many GPUs."""
    watch = GpuWatch("lab", heard.post)
    watch.begin_call()
    for index in range(gpus):
        watch.take(f"{index}, GPU-{index}, A, 99, 1, 2, 3, 4, 5, 0x0, 1980, 00000000:1{index}:00.0")
    watch.take("@smi-end 0")
    checkups = GpuCheckUps("lab", watch, heard.post, lambda: 1000.0)
    task = asyncio.create_task(checkups.run(LocalTransport(host.host)))
    try:
        yield watch
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def first(smi: SmiHost, *, gpus: int = 1) -> GpusChecked:
    """What the first look says."""
    heard = Heard()
    async with checking(smi, heard, gpus=gpus):
        await heard.until(lambda: heard.of(GpusChecked))
    return heard.of(GpusChecked)[0]


async def test_one_look_tells_link_errors_and_repairs_and_that_the_kernel_log_may_not_be_read(smi: SmiHost) -> None:
    checkup = (await first(smi)).checkup
    (check,) = checkup.checks
    assert (check.bus_id, check.utilization_percent, check.clock_max_mhz) == ("1A:00.0", 99.0, 1980)
    assert check.link is not None
    assert check.link.words == "gen 1 x16 of gen 5 x16"
    assert (check.ecc_uncorrected, check.is_repair_pending, check.is_mig) == (2, True, False)
    assert checkup.xids is None


async def test_xids_are_dated_by_the_uptime_of_the_host(smi: SmiHost) -> None:
    program(smi, "dmesg", f"echo '{XID}'; echo '[ 13.0] usb 1-1: new device'")
    (xid,) = (await first(smi)).checkup.xids or ()
    assert (xid.number, xid.bus_id) == (79, "1A:00")
    assert xid.at is not None
    assert xid.at < 1000.0 - UPTIME + 12.5


async def test_the_journal_is_asked_where_dmesg_is_forbidden(smi: SmiHost) -> None:
    program(smi, "journalctl", f"echo '{XID}'")
    assert [xid.number for xid in (await first(smi)).checkup.xids or ()] == [79]


async def test_fields_that_the_driver_does_not_know_are_left_out_at_once(smi: SmiHost) -> None:
    smi.say(gpus=[CHECK], unknown_fields=["gpu_recovery_action", "remapped_rows.failure", "remapped_rows.pending"])
    (check,) = (await first(smi)).checkup.checks
    assert (check.ecc_uncorrected, check.is_repair_pending) == (2, None)


async def test_links_are_asked_for_where_there_are_several_gpus(smi: SmiHost) -> None:
    smi.say(gpus=[CHECK], nvlink=NVLINKS)
    assert (await first(smi)).checkup.links == {}
    assert (await first(smi, gpus=2)).checkup.links == {0: NvLinks(1, 1), 1: NvLinks(0, 1)}


async def test_instances_are_asked_for_once_a_gpu_is_in_mig_mode(smi: SmiHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_checkup, "LEAST_SECONDS", 0.01)
    smi.say(gpus=[{**CHECK, "mig.mode.current": "Enabled"}], list=MIG_LIST, xml=MIG_XML)
    heard = Heard()
    async with checking(smi, heard):
        await heard.until(lambda: [each for each in heard.of(GpusChecked) if each.checkup.instances])
    (instance,) = heard.of(GpusChecked)[-1].checkup.instances
    assert (instance.name, instance.uuid, instance.memory_used_mib, instance.memory_total_mib) == (
        "3g.40gb",
        "MIG-c1",
        37,
        40192,
    )


async def test_a_gpu_that_begins_to_work_is_looked_at_again_and_an_idle_one_is_not(
    smi: SmiHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_checkup, "LEAST_SECONDS", 0.01)
    smi.say(gpus=[{**CHECK, "utilization.gpu": 0}])
    heard = Heard()
    watch = GpuWatch("lab", heard.post)
    checkups = GpuCheckUps("lab", watch, heard.post, lambda: 1000.0)
    watch.known.set()
    task = asyncio.create_task(checkups.run(LocalTransport(smi.host)))
    try:
        await heard.until(lambda: heard.of(GpusChecked))
        checkups.look_at_rows()
        watch.begin_call()
        watch.take("0, GPU-0, A, 99, 1, 2, 3, 4, 5, 0x0, 1980, 00000000:1A:00.0")
        watch.take("@smi-end 0")
        smi.say(gpus=[CHECK])
        checkups.look_at_rows()
        await heard.until(lambda: len(heard.of(GpusChecked)) == 2)
        checkups.look_at_rows()  # it has been looked at under load
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    assert [each.checkup.checks[0].is_busy for each in heard.of(GpusChecked)] == [False, True]


async def test_a_host_whose_checks_cannot_be_read_is_not_asked_for_them_again_and_again(
    smi: SmiHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_checkup, "LEAST_SECONDS", 0.01)
    smi.say(stdout="", rc=0)
    heard = Heard()
    waits: list[bool] = []

    async def count(due: asyncio.Event, _: float) -> bool:
        waits.append(due.is_set())
        return await asyncio.Event().wait() if len(waits) > 1 else True

    monkeypatch.setattr(gpu_checkup, "wait_at_most", count)
    async with checking(smi, heard) as watch:
        checkups = GpuCheckUps("lab", watch, heard.post, lambda: 1000.0)
        task = asyncio.create_task(checkups.run(LocalTransport(smi.host)))
        await heard.until(lambda: len(waits) > 1)
        checkups.look_at_rows()  # its only GPU is busy, and was when it was looked at
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert not checkups.is_due


async def test_a_host_that_answers_nothing_was_asked_and_claims_nothing(tmp_path: Path) -> None:
    host = SmiHost(tmp_path)
    (host.folder / "bin" / "nvidia-smi").unlink()
    checkup = (await first(host)).checkup
    assert (checkup.checks, checkup.xids) == ((), None)


def test_lines_of_anything_else_are_passed_over() -> None:
    checkup = read_checkup(tagged(b"noise\n@check nonsense\n@kernel x\n@uptime abc\n\xff\n@end\n"), ("index",), 5.0)
    assert (checkup.checks, checkup.links, checkup.instances, checkup.xids) == ((), {}, (), ())


async def test_the_owner_of_hundreds_of_processes_is_looked_up_once(smi: SmiHost) -> None:
    rows = [
        {"gpu_uuid": "GPU-0", "pid": os.getpid(), "process_name": f"job {number}", "used_gpu_memory": 5}
        for number in range(3)
    ]
    rows += [{"gpu_uuid": "GPU-0", "pid": os.getppid(), "process_name": "a, b", "used_gpu_memory": 5}]
    asked = smi.folder / "asked"
    program(smi, "id", f'echo x >>{asked}; exec /usr/bin/id "$@"')
    smi.say(gpus=[GPU], apps=rows)
    seen = await take_survey(LocalTransport(smi.host), (), with_gpus=True)
    assert len(seen.gpu_rows or ()) == 4
    assert seen.users == {os.getpid(): getpass.getuser(), os.getppid(): getpass.getuser()}
    assert asked.read_text().split() == ["x"]


async def test_nothing_is_asked_while_nvidia_smi_hangs(smi: SmiHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_checkup, "LEAST_SECONDS", 0.01)
    monkeypatch.setattr(gpu_checkup, "EVERY_SECONDS", 0.02)
    heard = Heard()
    looks = 0

    async def count(*_: object) -> bool:
        nonlocal looks
        looks += 1
        if looks == 20:
            watch.is_stuck = False
        return False

    monkeypatch.setattr(gpu_checkup, "wait_at_most", count)
    async with checking(smi, heard) as watch:
        watch.is_stuck = True
        await heard.until(lambda: heard.of(GpusChecked))
    assert looks >= 20

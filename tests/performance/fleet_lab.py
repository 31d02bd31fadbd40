"""Hosts of eight GPUs with a serving server each, on this machine: real sshd, /proc, ports and logs; nvidia-smi is a stand-in."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.openssh import OpenSsh, free_port

METRICS = Path(__file__).parents[1] / "captures" / "h200" / "sglang_metrics.txt"
READY = "[2026-11-29 15:00:01] The server is fired up and ready to roll!\n"
NVIDIA_SMI = r"""#!/bin/sh
# Eight rows of a busy host in the order of specdeck's request, once a period; no processes.
case $1 in
--query-gpu=index,uuid,name,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw,power.limit,*) ;;
*) exit 0 ;;
esac
period=0
while [ $# -gt 0 ]; do [ "$1" = -lms ] && period=$2; shift; done
turn=0
while :; do
    gpu=0
    while [ $gpu -lt 8 ]; do
        u=$(((turn * 7 + gpu * 13) % 60 + 40))
        id="$gpu, GPU-0000000$gpu-aaaa-4000-8000-000000000000, NVIDIA H200"
        rest="700.00, 0x0000000000000000, 1980, 00000000:0$gpu:00.0"
        echo "$id, $u, $((120000 + u)), 143771, $((50 + u / 10)), $((400 + u)).25, $rest"
        gpu=$((gpu + 1))
    done
    [ "$period" = 0 ] && exit 0
    turn=$((turn + 1))
    [ -e "$0.still" ] && turn=1
    sleep "$((period / 1000)).$((period % 1000 / 100))"
done
"""


@dataclass(frozen=True)
class FleetLab:
    """What was laid out, and the process that serves."""

    folder: Path
    fleet: Path
    logs: tuple[Path, ...]
    serving: int

    @property
    def env(self) -> dict[str, str]:
        """Of the dashboard: nothing of the user's own is read or written."""
        places = {f"XDG_{kind}_HOME": str(self.folder / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE", "DATA")}
        return {"HOME": str(self.folder), **places}


@contextmanager
def fleet_lab(
    folder: Path, sshd: OpenSsh | None, *, hosts: int, lines_per_second: float = 1.0, is_still: bool = False
) -> Iterator[FleetLab]:
    """Everything up, until the context ends. Without sshd all hosts are this machine itself."""
    folder.mkdir(exist_ok=True)
    smi = folder / "bin" / "nvidia-smi"
    smi.parent.mkdir()
    smi.write_text(NVIDIA_SMI)
    smi.chmod(0o755)
    if is_still:
        smi.with_name("nvidia-smi.still").touch()
    ports = _different_ports(hosts)
    runs = [folder / f"host{n:02}" / "specdeck" / f"llm{n:02}" / "0001" for n in range(1, hosts + 1)]
    for run in runs:
        run.mkdir(parents=True)
        (run / "log").write_text(READY)
    servers = [
        {"port": port, "log": str(run / "log"), "metrics": str(METRICS)} for port, run in zip(ports, runs, strict=True)
    ]
    plan = folder / "plan.json"
    plan.write_text(json.dumps({"servers": servers, "lines_per_second": lines_per_second}))
    with serving(plan) as pid:
        for run, port in zip(runs, ports, strict=True):
            _tell_run(run, port, pid)
        fleet = folder / "fleet.yaml"
        fleet.write_text(_fleet_text(folder, ports, sshd))
        yield FleetLab(folder, fleet, tuple(run / "log" for run in runs), pid)


def _different_ports(count: int) -> list[int]:
    ports: set[int] = set()
    while len(ports) < count:
        ports.add(free_port())
    return sorted(ports)


@contextmanager
def serving(plan: Path) -> Iterator[int]:
    """The process that is the servers of a plan; its pid."""
    program = Path(__file__).with_name("fake_servers.py")
    process = subprocess.Popen(
        [sys.executable, str(program), str(plan)], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"listening\n"
        yield process.pid
    finally:
        process.kill()
        process.communicate(timeout=10)


def _tell_run(run: Path, port: int, pid: int) -> None:
    """The run folder as the launcher leaves it."""
    start = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    said = {
        "profile": "baseline",
        "port": port,
        "who": "ann",
        "started": 1795968000,
        "boot": boot,
        "pid": f"{pid} {start}",
    }
    for name, value in said.items():
        (run / name).write_text(f"{value}\n")
    (run / "command").write_text(f"python3 -m sglang.launch_server --port {port}\n")


def _fleet_text(folder: Path, ports: list[int], sshd: OpenSsh | None) -> str:
    way = f"ssh: gpu-a\n    ssh_config: {sshd.ssh_config}" if sshd else "ssh: localhost"
    hosts = [
        f"""
  host{n:02}:
    {way}
    env: {{PATH: "{folder}/bin:/usr/bin:/bin", XDG_STATE_HOME: {folder}/host{n:02}}}
    servers:
      llm{n:02}:
        model: /data/models/llm
        port: {port}
        profiles: [baseline]"""
        for n, port in enumerate(ports, 1)
    ]
    return "hosts:" + "".join(hosts) + "\n"

"""python -m tests.performance.peers VENV: other dashboards of the package index beside specdeck, one server each, in one run.

VENV has vllmstat, vllmops, vllm-htop and nvitop. By hand: it needs them, a quiet machine, and nvitop a machine with NVML.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.openssh import OpenSsh, free_port
from tests.performance.fleet_lab import fleet_lab, serving
from tests.performance.terminal import Terminal, cpu_so_far, resident_mib

EMPTY = Path(__file__).with_name("empty_app.py")
VLLM_METRICS = Path(__file__).parents[1] / "captures" / "vllm" / "serve_underload_metrics_3.txt"
FRAME_BYTES = 1500
"""More than any of them writes before its first frame."""
SETTLE_SECONDS, WATCH_SECONDS = 10.0, 30.0


def main(venv: Path) -> None:
    """Print the table."""
    print(f"{'':20}{'first frame':>12}{'CPU until':>12}{'CPU':>9}{'terminal':>12}{'memory':>10}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        show("empty Textual app", [sys.executable, str(EMPTY)], {"HOME": name}, frame_bytes=1)
        with vllm_at(folder) as port:
            for program, arguments in (
                ("vllmstat", ["--url", f"http://127.0.0.1:{port}"]),
                ("vllm-htop", ["--url", f"http://127.0.0.1:{port}", "--detail"]),
                ("nvitop", []),
            ):
                show(program, [str(venv / "bin" / program), *arguments], {"HOME": name})
            make_project(venv, folder / "project", port)
            show("vllmops", [str(venv / "bin" / "vllmops"), "tui"], {"HOME": name}, at=folder / "project")
        sshd = OpenSsh(folder / "sshd")
        sshd.start()
        try:
            with fleet_lab(folder / "lab", sshd, hosts=1) as lab:
                show("specdeck, over sshd", [sys.executable, "-m", "specdeck", "--fleet", str(lab.fleet)], lab.env)
        finally:
            sshd.stop()


def show(
    name: str, command: Sequence[str], env: Mapping[str, str], *, at: Path | None = None, frame_bytes: int = FRAME_BYTES
) -> None:
    """One row: seconds until the first frame, CPU seconds until then, CPU and bytes a second afterwards, memory."""
    command = command if at is None else ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", str(at), *command]
    with Terminal(command, env=env) as terminal:
        first = terminal.until_bytes(frame_bytes) - terminal.began
        cpu, said = cpu_so_far(terminal.pid), terminal.painted.decode("utf-8", "replace").strip()
        cost = memory = None
        with suppress(FileNotFoundError):  # of a program that has ended
            terminal.watch(SETTLE_SECONDS)
            cost, memory = terminal.watch(WATCH_SECONDS), resident_mib(terminal.pid)
    if cost is None or memory is None:
        print(f"{name:20}  not measured: {said.partition(chr(10))[0]}")
        return
    print(
        f"{name:20}{first:10.2f} s{cpu:10.2f} s{cost.cpu_percent:7.1f} %{cost.bytes_per_second / 1000:7.1f} KB/s{memory:6.0f} MiB"
    )


@contextmanager
def vllm_at(folder: Path) -> Iterator[int]:
    """A vLLM server as far as its metrics go; its port."""
    port, plan = free_port(), folder / "vllm.json"
    plan.write_text(
        f'{{"servers": [{{"port": {port}, "log": "/dev/null", "metrics": "{VLLM_METRICS}"}}], "lines_per_second": 0}}'
    )
    with serving(plan):
        yield port


def make_project(venv: Path, folder: Path, port: int) -> None:
    """What vllmops wants before it shows a server."""
    folder.mkdir()
    vllmops = str(venv / "bin" / "vllmops")
    for arguments in (["init"], ["create-model", "-n", "tiny", "-m", "/models/tiny", "-g", "0", "-p", str(port)]):
        subprocess.run([vllmops, *arguments], cwd=folder, check=True, capture_output=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

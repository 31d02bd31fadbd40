"""An nvidia-smi that does not end: SIGTERM is pending, as on one that is caught in the driver."""

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def hung_nvidia_smi(folder: Path) -> Iterator[int]:
    """Its pid; it is ended at the end."""
    tool = folder / "hung" / "nvidia-smi"
    tool.parent.mkdir()
    tool.symlink_to(shutil.which("sleep") or "/bin/sleep")

    def hold_back() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])

    with subprocess.Popen([tool, "600"], preexec_fn=hold_back) as process:
        process.terminate()
        try:
            yield process.pid
        finally:
            process.kill()

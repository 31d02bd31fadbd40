"""What to look for in a log that is too long to be read: lines that begin or end a life, and those that tell why it ended."""

import re

LIVES = (
    "server_args=ServerArgs", "server version ", "non-default args", "fired up and ready", "Application startup complete",
    "SIGTERM received", "INFO:     Shutting down", "shutdown triggered",
)  # fmt: skip
CAUSES = (
    "hit an exception", "fatal error", "failed to start", "nitialization failed", "OutOfMemoryError", "ut of memory",
    "CUDA error", "NCCL error", "DistBackendError", "Watchdog caught", "watchdog timeout", "crashed with exit code",
    "scheduler is dead", "died during initialization", "died unexpectedly", "exited unexpectedly", "SIGQUIT received",
    "Received sigquit", "ddress already in use", "attempting to bind", "ort is already in use", "terminate called after",
    "Fatal Python error", "Segmentation fault", "Bus error", "GGML_ABORT", "GGML_ASSERT", "Not enough memory",
    "memory capacity is unbalanced", "illegal memory access", "WorkerProc hit",
)  # fmt: skip


BARE_TRACEBACK = r"^(\([^)]*\) )?Traceback \(most recent call last\):"
"""An exception that no line of the engine announces; handled ones look the same, so there may be thousands."""


def scan_pattern() -> str:
    """One extended regular expression for grep; every word is plain text."""
    return "|".join((*map(re.escape, LIVES + CAUSES), "^Killed$", "^Aborted")).replace("\\ ", " ").replace("\\-", "-")

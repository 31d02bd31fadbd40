"""How the simulated nvidia-smi writes: a text is one write, so that rows of two streams never mix."""

import os
import time


def say(text: str) -> None:
    """One write for the whole text."""
    os.write(1, text.encode())


def stamp(at: float) -> str:
    """`2026/11/29 13:57:15.011`."""
    return time.strftime("%Y/%m/%d %H:%M:%S", time.localtime(at)) + f".{int(at % 1 * 1000):03d}"

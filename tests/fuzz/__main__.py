"""`python -m tests.fuzz [--seconds 60] [--with hypothesis|atheris] [TRIAL...]`: tries whatever bytes can say, for so long."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence

from tests.fuzz.trials import TRIALS


def main(words: Sequence[str]) -> int:
    """0: nothing found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz what reads the bytes of a host.")
    parser.add_argument("trials", nargs="*", choices=(*TRIALS, []), metavar="TRIAL", help=", ".join(TRIALS))
    parser.add_argument("--seconds", type=float, default=60.0, help="altogether, default 60")
    parser.add_argument("--with", dest="tool", choices=("hypothesis", "atheris"), default="hypothesis")
    chosen = parser.parse_args(words)
    names = chosen.trials or list(TRIALS)
    run = _with_hypothesis if chosen.tool == "hypothesis" else _with_atheris
    for name in names:
        began = time.monotonic()
        count = run(TRIALS[name], chosen.seconds / len(names))
        print(f"{name}: {count} inputs in {time.monotonic() - began:.0f} s, nothing found", flush=True)
    return 0


def _with_hypothesis(trial: Callable[[bytes], None], seconds: float) -> int:
    """New examples round after round; a failure is made small, printed and raised."""
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    count = 0

    @settings(max_examples=500, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.binary(max_size=400))
    def round_of(raw: bytes) -> None:
        nonlocal count
        count += 1
        trial(raw)

    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        round_of()
    return count


def _with_atheris(trial: Callable[[bytes], None], seconds: float) -> int:
    """Led by coverage; libFuzzer ends its process itself, so each trial has one of its own."""
    import atheris

    child = os.fork()
    if child == 0:
        atheris.instrument_all()
        atheris.Setup([sys.argv[0], f"-max_total_time={seconds:.0f}", "-max_len=400"], trial)
        atheris.Fuzz()
    _, status = os.waitpid(child, 0)
    if status:
        sys.exit("found something: the input is in the file that libFuzzer names above")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

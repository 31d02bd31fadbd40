"""`python -m tests.fuzz [--seconds 60] [--seed N] [--with atheris] [TRIAL...]`: tries whatever bytes can say, for so long."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count

Trial = Callable[[bytes], None]


def main(words: Sequence[str]) -> int:
    """0: nothing found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz what reads the bytes of a host.")
    parser.add_argument("trials", nargs="*", metavar="TRIAL", help="default all: see tests/fuzz/trials.py")
    parser.add_argument("--seconds", type=float, default=60.0, help="altogether, default 60")
    parser.add_argument("--with", dest="tool", choices=("hypothesis", "atheris"), default="hypothesis")
    parser.add_argument("--seed", type=int, help="hypothesis tries the same inputs in the same order")
    chosen = parser.parse_args(words)
    trials = _instrumented_trials() if chosen.tool == "atheris" else _trials()
    run = _with_atheris if chosen.tool == "atheris" else partial(_with_hypothesis, seed=chosen.seed)
    names = chosen.trials or list(trials)
    for name in names:
        began = time.monotonic()
        tried = run(trials[name], chosen.seconds / len(names))
        print(f"{name}: {tried} in {time.monotonic() - began:.0f} s, nothing found", flush=True)
    return 0


def _trials() -> Mapping[str, Trial]:
    from tests.fuzz.trials import TRIALS

    return TRIALS


def _instrumented_trials() -> Mapping[str, Trial]:
    """Atheris is led by the branches of specdeck alone; what is to be seen must be imported under its eyes."""
    import atheris

    with atheris.instrument_imports(include=["specdeck"]):
        return _trials()


def _with_hypothesis(trial: Trial, seconds: float, *, seed: int | None) -> str:
    """New examples round after round; a failure is made small, printed and raised."""
    import hypothesis
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    inputs = 0

    @settings(max_examples=500, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.binary(max_size=400))
    def round_of(raw: bytes) -> None:
        nonlocal inputs
        inputs += 1
        trial(raw)

    ends = time.monotonic() + seconds
    for number in count():
        if time.monotonic() >= ends:
            break
        (round_of if seed is None else hypothesis.seed(seed + number)(round_of))()
    return f"{inputs} inputs"


def _with_atheris(trial: Trial, seconds: float) -> str:
    """Led by coverage; libFuzzer ends its process itself, so each trial has one of its own."""
    import atheris

    child = os.fork()
    if child == 0:
        atheris.Setup([sys.argv[0], f"-max_total_time={seconds:.0f}", "-max_len=400"], trial)
        atheris.Fuzz()
    _, status = os.waitpid(child, 0)
    if status:
        sys.exit("found something: the input is in the file that libFuzzer names above")
    return "as many inputs as are told above"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

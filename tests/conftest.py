"""Fixtures that several test folders share; a skip where the machine must have what a test needs is a failure."""

import gc
import os
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from tests.openssh import SSHD, OpenSsh

# What a screen shows is the same wherever the tests run.
os.environ |= {"TZ": "UTC", "TERM": "xterm-256color", "COLORTERM": "truecolor"}
os.environ.pop("NO_COLOR", None)
time.tzset()
# Some hundred processes run specdeck: without bytecode each would compile all of it, and each worker all tests at every run.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A fifth of the dashboard's tests was the collector going through what lives as long as the session, 4,000 tests among it.
gc.set_threshold(10_000, 10, 10)


def pytest_collection_finish() -> None:
    """What was made until now stays: the collector need not look at it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def state_of_this_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What specdeck remembers on this machine is not the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def openssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSsh]:
    """One private sshd for the whole test session; a test that reconfigures it uses `own_openssh`."""
    yield from _running(tmp_path_factory.mktemp("openssh"))


@pytest.fixture
def own_openssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSsh]:
    """A private sshd for one test, to be stopped, reconfigured or broken."""
    yield from _running(tmp_path_factory.mktemp("openssh"))


def _running(folder: Path) -> Iterator[OpenSsh]:
    if SSHD is None:
        pytest.skip("sshd is not installed")
    server = OpenSsh(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """`SPECDECK_TESTS_REQUIRE=sshd,tmux`: tests with these markers may not be skipped."""
    report = yield
    required = set(os.environ.get("SPECDECK_TESTS_REQUIRE", "").split(",")) & {
        mark.name for mark in item.iter_markers()
    }
    if report.skipped and required and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, but this machine must have {', '.join(sorted(required))}"
    return report

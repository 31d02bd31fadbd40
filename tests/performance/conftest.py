"""Every test here prints what it measured beside its floor, at the end of the run."""

from collections.abc import Callable
from pathlib import Path

import pytest

FIGURE = "figure"
Tell = Callable[..., None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder are of performance."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.performance)


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Tell:
    """Say a figure: what, measured, floor, budget; shown at the end."""

    def say(what: str, measured: str, floor: str, budget: str) -> None:
        line = f"{what:<52} {measured:>22}   floor {floor:<22} budget {budget}"
        request.node.user_properties.append((FIGURE, line))

    return say


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    lines = [line for report in reports for name, line in report.user_properties if name == FIGURE]
    if lines:
        terminalreporter.section("measured")
    for line in lines:
        terminalreporter.write_line(line)

"""The driver's way to a terminal that is gone."""

import io

import pytest
from textual.app import App
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from specdeck.ui.hardy_driver import HardyDriver


class Gone(io.StringIO):
    """A terminal after its hang-up."""

    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # so a writer ends
async def test_who_writes_to_a_terminal_that_is_gone_is_never_held() -> None:
    driver = HardyDriver(App(), size=(80, 24))
    driver._writer_thread = writer = WriterThread(Gone())
    writer.start()
    for _ in range(3 * MAX_QUEUED_WRITES):  # more than its queue takes
        driver.write("x")
    driver.close()
    writer.join(30)
    assert not writer.is_alive()


async def test_all_that_was_written_is_there_when_it_is_closed() -> None:
    driver, shown = HardyDriver(App(), size=(80, 24)), io.StringIO()
    driver._writer_thread = writer = WriterThread(shown)
    writer.start()
    for number in range(2 * MAX_QUEUED_WRITES):
        driver.write(f"{number} ")
    driver.close()
    assert shown.getvalue().split() == [str(number) for number in range(2 * MAX_QUEUED_WRITES)]

"""The driver of the terminal, hardened: neither bytes that are no keys nor a terminal of a few cells end the dashboard.

Nor does a terminal that is gone keep it.
"""

import logging
import os
import select
import signal
from codecs import getincrementaldecoder
from contextlib import suppress
from queue import Full

from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

READ_BYTES = 4096
LOOK_SECONDS = 0.1
"""So often a lone Esc is told from the begin of a sequence, as textual does."""
LEAST_COLUMNS, LEAST_LINES = 20, 6
"""In less nothing can be laid out (textual divides by a width of 0): what is drawn there ends at the edge of the terminal."""

WRITER_SECONDS = 0.2
"""So often a writer whose queue is full is asked whether it lives."""

_log = logging.getLogger(__name__)


class HardyDriver(LinuxDriver):
    """Textual's ends the app for a byte that is not UTF-8 (an eight-bit Meta key, a pasted Latin-1 text) or an odd sequence."""

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        if size is None:
            self._size = self._get_terminal_size()

    def _get_terminal_size(self) -> tuple[int, int]:
        columns, lines = super()._get_terminal_size()
        return max(columns, LEAST_COLUMNS), max(lines, LEAST_LINES)

    def write(self, data: str) -> None:
        """The writer ends when its terminal is gone: its queue would fill up, and hold for ever whoever puts one more into it.

        A hang-up comes with a SIGCONT, after which textual begins anew, with another writer, on what is no terminal any more.
        """
        self._put(data)

    def close(self) -> None:
        """Nothing more is written; a writer that lives is waited for."""
        if self._writer_thread is not None and self._put(None):
            self._writer_thread.join()

    def _put(self, data: str | None) -> bool:
        """False: nobody writes any more."""
        writer = self._writer_thread
        while writer is not None and writer.is_alive():
            with suppress(Full):
                writer._queue.put(data, timeout=WRITER_SECONDS)
                return True
        return False

    def process_message(self, message: Message) -> None:
        """Terminals may also tell their size among the keys."""
        if isinstance(message, events.Resize):
            columns, lines = message.size
            at_least = (max(columns, LEAST_COLUMNS), max(lines, LEAST_LINES))
            message = events.Resize.from_dimensions(at_least, message.pixel_size)
        super().process_message(message)

    def run_input_thread(self) -> None:
        """Keys, until the driver stops; a terminal that is gone ends the dashboard as its hang-up does."""
        decode = getincrementaldecoder("utf-8")("replace").decode
        parser = XTermParser(self._debug)
        while not self.exit_event.is_set():
            try:
                text = decode(self._read())
            except (OSError, EOFError):
                self._app.call_later(self._app.exit, None, 128 + signal.SIGHUP)
                return
            try:
                self._tell(parser, text)
            except Exception:  # what no key has: the rest of this one read is lost with it
                _log.warning("the terminal sent what is no key: %r", text, exc_info=True)
                parser = XTermParser(self._debug)
        with suppress(OSError, EOFError):
            self._read()  # what the mouse still told: else it stands on the shell's line

    def _read(self) -> bytes:
        """What came; empty: nothing for a moment. Raises EOFError where nothing will come any more."""
        if not select.select([self.fileno], [], [], LOOK_SECONDS)[0]:
            return b""
        got = os.read(self.fileno, READ_BYTES)
        if not got:
            raise EOFError
        return got

    def _tell(self, parser: XTermParser, text: str) -> None:
        for event in parser.feed(text) if text else ():
            self.process_message(event)
        for event in parser.tick():
            self.process_message(event)


def hardened(driver: type[Driver]) -> type[Driver]:
    """The hardened form of textual's own driver; drivers of tests and of the web as they are."""
    return HardyDriver if driver is LinuxDriver else driver

"""Cuts a script's output out of what its channel says: sans-IO, for any chunking, holding back at most a mark."""

from secrets import token_hex

_NOISE_KEPT = 2000


def new_mark() -> str:
    """A mark that no output holds by chance or by intent."""
    return f"specdeck-{token_hex(16)}"


class MarkCutter:
    """Drops all up to the begin mark, passes on the output, and takes the exit status from the end mark."""

    def __init__(self, mark: str) -> None:
        self._begin = f"\x1e{mark}\n".encode()
        self._end = f"\x1e{mark} ".encode()
        self._held = b""
        self._status_line: bytes | None = None
        """What came of the end mark's line; None: the end mark was not seen."""
        self.has_begun = False
        self.has_ended = False
        self.exit_status: int | None = None
        self._noise = b""

    @property
    def noise(self) -> bytes:
        """The last bytes before the begin mark, for the message of a host that never gets to it."""
        return self._noise if self.has_begun else (self._noise + self._held)[-_NOISE_KEPT:]

    def feed(self, chunk: bytes) -> bytes:
        """The script's own output among what came so far and was not given yet."""
        if self.has_ended:
            return b""
        self._held += chunk
        if not self.has_begun:
            self._look_for_begin()
        if not self.has_begun:
            return b""
        return self._cut_output()

    def rest(self) -> bytes:
        """What was held back; ask when the channel ended without the end mark."""
        if not self.has_begun or self._status_line is not None:
            return b""
        held, self._held = self._held, b""
        return held

    def _look_for_begin(self) -> None:
        before, found, after = self._held.partition(self._begin)
        self.has_begun = bool(found)
        keep = 0 if found else min(len(before), len(self._begin) - 1)
        self._noise = (self._noise + before[: len(before) - keep])[-_NOISE_KEPT:]
        self._held = after if found else before[len(before) - keep :]

    def _cut_output(self) -> bytes:
        if self._status_line is not None:
            self._read_status(self._status_line + self._held)
            return b""
        output, found, after = self._held.partition(self._end)
        if found:
            self._read_status(after)
            return output
        keep = _overlap(self._held, self._end)
        output, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        return output

    def _read_status(self, text: bytes) -> None:
        line, newline, _ = text.partition(b"\n")
        self._status_line, self._held = line[:8], b""
        if newline:
            self.has_ended = True
            self.exit_status = int(line) if line.isdigit() else None


def _overlap(text: bytes, pattern: bytes) -> int:
    """How many bytes at the end of `text` may be the beginning of `pattern`."""
    longest = min(len(text), len(pattern) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(pattern[:size])), 0)

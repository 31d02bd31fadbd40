"""Cuts a script's output out of what its channel says: sans-IO, for any chunking, holding back at most a mark."""

from secrets import token_hex

from specdeck.quick_dataclass import dataclass

_NOISE_KEPT = 2000
_LONGEST_WORDS = 40


def new_mark() -> str:
    """A mark that no output holds by chance or by intent."""
    return f"specdeck-{token_hex(16)}"


@dataclass(frozen=True, slots=True)
class Leader:
    """The process that leads a script's session on the host: with its start, a pid names one process only."""

    pid: int
    start: int
    """Field 22 of /proc/PID/stat."""


class MarkCutter:
    """Drops all up to the begin mark, passes on the output, and takes the exit status from the end mark.

    Both marks are a record separator, the mark, a space, a few words and a newline.
    """

    def __init__(self, mark: str) -> None:
        self._mark = f"\x1e{mark} ".encode()
        self._held = b""
        self._words: bytes | None = None
        """What came of a mark's words; None: not inside a mark."""
        self._noise = b""
        self.has_begun = False
        self.has_ended = False
        self.leader: Leader | None = None
        self.exit_status: int | None = None

    @property
    def noise(self) -> bytes:
        """The last bytes before the begin mark, for the message of a host that never gets to it."""
        return self._noise if self.has_begun else (self._noise + self._held)[-_NOISE_KEPT:]

    def feed(self, chunk: bytes) -> bytes:
        """The script's own output among what came so far and was not given yet."""
        output = b""
        while chunk and not self.has_ended:
            if self._words is not None:
                chunk = self._read_words(chunk)
                continue
            before, chunk = self._up_to_mark(self._held + chunk)
            if self.has_begun:
                output += before
            else:
                self._noise = (self._noise + before)[-_NOISE_KEPT:]
        return output

    def rest(self) -> bytes:
        """What was held back; ask when the channel ended without the end mark."""
        if not self.has_begun or self.has_ended:
            return b""
        held, self._held = self._held, b""
        return held

    def _up_to_mark(self, text: bytes) -> tuple[bytes, bytes]:
        """What lies before the next mark, and what follows it; a part of a mark is held back."""
        before, found, after = text.partition(self._mark)
        keep = 0 if found else _overlap(text, self._mark)
        self._held = text[len(text) - keep :]
        self._words = b"" if found else None
        return before[: len(before) - keep] if keep else before, after

    def _read_words(self, chunk: bytes) -> bytes:
        """Read on inside a mark; gives what follows its line."""
        line, newline, after = ((self._words or b"") + chunk).partition(b"\n")
        self._words = line[:_LONGEST_WORDS]
        if newline:
            numbers = [int(word) for word in self._words.split() if word.isdigit()]
            self._words = None
            self._take(numbers)
        return after

    def _take(self, numbers: list[int]) -> None:
        if self.has_begun:
            self.has_ended = True
            self.exit_status = numbers[0] if numbers else None
        else:
            self.has_begun = True
            self.leader = Leader(*numbers) if len(numbers) == 2 else None


def _overlap(text: bytes, pattern: bytes) -> int:
    """How many bytes at the end of `text` may be the beginning of `pattern`."""
    longest = min(len(text), len(pattern) - 1)
    if pattern[:1] not in text[-longest:]:
        return 0
    return next((size for size in range(longest, 0, -1) if text.endswith(pattern[:size])), 0)

"""The client of services/scripts/monitor.sh: asks questions, waits for the beat, hands rows of nvidia-smi on."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from specdeck.errors import ConnectionLost
from specdeck.services.answers import AnswerReader, Answers
from specdeck.transport.base import Channel, Transport
from specdeck.transport.script import Script, script_text

LONGEST_LINE = 64 * 1024


def monitor_script(*questions: str) -> Script:
    """The script of the channel; with questions, one that answers them and ends."""
    return Script(script_text("monitor"), questions)


class Monitor(Protocol):
    """Something that answers questions about a host."""

    async def read(self) -> None:
        """Take what the host says; endless."""

    async def ask(self, questions: Sequence[str], limit_seconds: float) -> Answers:
        """The answers to these questions."""

    async def tell(self, question: str) -> None:
        """Ask something whose answer comes by itself: the rows of nvidia-smi."""


class _Lines:
    """Sorts lines: those of nvidia-smi go on, tagged ones are collected up to a beat."""

    def __init__(self, on_gpu_line: Callable[[str], None]) -> None:
        self._on_gpu_line = on_gpu_line
        self._reader = AnswerReader()

    def take(self, line: str) -> Answers | None:
        """The answers, where this line is the beat that ends them."""
        if not line.startswith("@"):
            if line.strip():
                self._on_gpu_line(line)
        elif line.startswith("@smi-"):
            self._on_gpu_line(line)
        elif line.startswith("@beat "):
            answers, self._reader = self._reader.answers, AnswerReader()
            return answers
        else:
            self._reader.read(line)
        return None


class MonitorChannel:
    """One open monitor. `read` must run beside `ask`."""

    def __init__(self, channel: Channel, on_gpu_line: Callable[[str], None]) -> None:
        self._channel = channel
        self._lines = _Lines(on_gpu_line)
        self._beat = 0
        self._waiting: asyncio.Future[Answers] | None = None

    async def read(self) -> None:
        """Take what the host says until the channel ends. Raises ConnectionLost: it must not end by itself."""
        rest = b""
        async for chunk in self._channel.chunks():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._take(line.decode("utf-8", "replace"))
            rest = rest[-LONGEST_LINE:]
        raise ConnectionLost("the monitor on the host ended by itself")

    async def ask(self, questions: Sequence[str], limit_seconds: float) -> Answers:
        """Everything that is answered up to the beat after these questions. Raises ConnectionLost after the limit."""
        self._beat += 1
        self._waiting = asyncio.get_running_loop().create_future()
        lines = "".join(f"{question}\n" for question in (*questions, f"beat {self._beat}"))
        try:
            async with asyncio.timeout(limit_seconds):
                await self._channel.write(lines.encode("utf-8", "surrogateescape"))
                return await self._waiting
        except TimeoutError as error:
            raise ConnectionLost(f"no answer from the host for {limit_seconds:.0f} s") from error

    async def tell(self, question: str) -> None:
        """Ask something whose answer comes by itself: the rows of nvidia-smi."""
        await self._channel.write(f"{question}\n".encode())

    def _take(self, line: str) -> None:
        answers = self._lines.take(line)
        waiting = self._waiting
        if answers is not None and waiting and not waiting.done() and line == f"@beat {self._beat}":
            waiting.set_result(answers)


class MonitorInTurns:
    """For a host that allows one session: every question is a script that ends; what is told waits for the next."""

    def __init__(self, transport: Transport, on_gpu_line: Callable[[str], None]) -> None:
        self._transport = transport
        self._lines = _Lines(on_gpu_line)
        self._told: list[str] = []

    async def read(self) -> None:
        """Nothing comes by itself."""
        await asyncio.Event().wait()

    async def ask(self, questions: Sequence[str], limit_seconds: float) -> Answers:
        """The answers to these questions; a call of nvidia-smi may take its time. Raises TransportError."""
        told, self._told = self._told, []
        script = monitor_script(*questions, *told, "beat 0")
        outcome = await self._transport.run(script, limit_seconds=limit_seconds + (60.0 if told else 0.0))
        answers = Answers()
        for line in outcome.stdout.decode("utf-8", "replace").split("\n"):
            answers = self._lines.take(line) or answers
        return answers

    async def tell(self, question: str) -> None:
        """Ask with the next questions; a stream is not possible, one answer is."""
        words = question.split(" ")
        if words[0] == "smi":
            self._told.append(" ".join(("smi", "0", *words[2:])))

"""Asks the questions of logins on the terminal, on stderr, so that stdout stays data; secrets are not echoed."""

import asyncio
import os
import sys
import termios
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from specdeck.cli.output import plain, say

if TYPE_CHECKING:
    from specdeck.services.front_desk import HostQuestions
    from specdeck.state.snapshot import Question

LONGEST_ANSWER = 4096


def asks_here() -> "Callable[[Question], Awaitable[str | None]] | None":
    """Who is asked: the user of this terminal; nobody where stdin or stderr is none."""
    return Terminal().ask if sys.stdin.isatty() and sys.stderr.isatty() else None


def questions_here(host: str) -> "HostQuestions | None":
    """The same for a verb that opens no deck."""
    return questions_for([host]).get(host)


def questions_for(hosts: Iterable[str]) -> "dict[str, HostQuestions]":
    """For several hosts at once: one terminal, one memory; empty where nobody can be asked."""
    from specdeck.services.front_desk import HostQuestions
    from specdeck.transport.questions import Memory, Patience

    ask, memory = asks_here(), Memory()
    return {host: HostQuestions(host, memory, ask, lambda _: None, Patience(0)) for host in hosts} if ask else {}


class Terminal:
    """One question at a time, whatever the other hosts do meanwhile."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def ask(self, question: "Question") -> str | None:
        """The line that the user types; an empty one declines."""
        async with self._turn:
            hint = "; type yes to accept it" if question.kind == "host-key" else ""
            prompt = plain(f"{question.place}: {question.text}{hint}: ")
            if not question.is_secret:
                return await _line(prompt)
            async with _without_echo():  # before the prompt: what is typed early is dropped, never shown
                answer = await _line(prompt)
            say("")
            return answer


async def _line(prompt: str) -> str | None:
    """One line of stdin without blocking the loop; None for an empty one or the end."""
    print(prompt, end="", file=sys.stderr, flush=True)
    loop, stdin = asyncio.get_running_loop(), sys.stdin.fileno()
    typed = asyncio.Event()
    loop.add_reader(stdin, typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(stdin)
    raw = os.read(stdin, LONGEST_ANSWER)
    return raw.decode("utf-8", "surrogateescape").rstrip("\r\n") or None


@asynccontextmanager
async def _without_echo() -> AsyncIterator[None]:
    stdin = sys.stdin.fileno()
    before = termios.tcgetattr(stdin)
    quiet = list(before)
    quiet[3] &= ~termios.ECHO
    termios.tcsetattr(stdin, termios.TCSAFLUSH, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(stdin, termios.TCSAFLUSH, before)

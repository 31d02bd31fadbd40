"""Questions of logins on their way to a human: out as events, back as answers that get into no event, log or state."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from specdeck.quick_dataclass import dataclass
from specdeck.state.events import Event, LoginAsked, LoginAwaited
from specdeck.state.snapshot import Question
from specdeck.transport.questions import Memory, Patience

Ask = Callable[[Question], Awaitable[str | None]]
"""Gives the answer, or None where the user declined."""


class FrontDesk:
    """Where the dashboard brings the answers."""

    def __init__(self) -> None:
        self._waiting: dict[Question, asyncio.Future[str | None]] = {}

    async def ask(self, question: Question) -> str | None:
        """Wait for the answer, as long as it takes."""
        self._waiting[question] = asyncio.get_running_loop().create_future()
        try:
            return await self._waiting[question]
        finally:
            del self._waiting[question]

    def answer(self, question: Question, answer: str | None) -> None:
        """An answer; one to a question that is no longer asked goes nowhere."""
        waiting = self._waiting.get(question)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)


@dataclass(frozen=True, slots=True, eq=False)
class HostQuestions:
    """Implements `questions.Questions` for one host: the others go on meanwhile."""

    host: str
    memory: Memory
    ask_user: Ask
    post: Callable[[Event], object]
    patience: Patience
    """The limit of whoever waits for this host's connection; it stands still while the user thinks."""

    async def ask(self, question: Question) -> str | None:
        """Show the question beside the host until it is answered."""
        self.post(LoginAsked(self.host, question))
        try:
            with self.patience.paused():
                return await self.ask_user(question)
        finally:
            self.post(LoginAsked(self.host, None))

    @contextmanager
    def waiting(self, question: Question) -> Iterator[None]:
        """Shown beside the host; its own time stands still."""
        self.post(LoginAwaited(self.host, question))
        try:
            with self.patience.paused():
                yield
        finally:
            self.post(LoginAwaited(self.host, None))

"""Somebody who answers the questions of logins as a test says, and remembers what was asked."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from specdeck.state.snapshot import Question
from specdeck.transport.questions import Memory


class Person:
    """Implements `questions.Questions`; without an answer left, a question is declined."""

    def __init__(self, *answers: str | None, memory: Memory | None = None) -> None:
        self.memory = memory or Memory()
        self.questions: list[Question] = []
        self._answers: Sequence[str | None] = answers
        self.awaited: list[Question] = []
        """What others were asked that this one waited for."""

    @property
    def kinds(self) -> list[str]:
        """What was asked, in order."""
        return [question.kind for question in self.questions]

    async def ask(self, question: Question) -> str | None:
        """The next answer."""
        self.questions.append(question)
        await asyncio.sleep(0)
        number = len(self.questions) - 1
        return self._answers[number] if number < len(self._answers) else None

    @contextmanager
    def waiting(self, question: Question) -> Iterator[None]:
        """Another one is asked."""
        self.awaited.append(question)
        yield


class SilentPerson(Person):
    """Reads the question and goes for lunch."""

    async def ask(self, question: Question) -> str | None:
        """Never."""
        self.questions.append(question)
        await asyncio.Event().wait()
        return None

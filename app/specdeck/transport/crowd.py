"""Who waits for an answer that another one is asked for: each of them is told what for, and its time stands still meanwhile."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from specdeck.state.snapshot import Question

if TYPE_CHECKING:
    from specdeck.transport.questions import Memory, Questions


class Crowd:
    """At one jump host, or before one locked key."""

    def __init__(self) -> None:
        self._question: Question | None = None
        self._waiting: list[tuple[Questions, ExitStack]] = []

    @contextmanager
    def joined(self, questions: "Questions | None") -> Iterator[None]:
        """Wait among the others; nobody to tell: just wait."""
        if questions is None:
            yield
            return
        with ExitStack() as told:
            place = (questions, told)
            self._waiting.append(place)
            if self._question is not None:
                told.enter_context(questions.waiting(self._question))
            try:
                yield
            finally:
                self._waiting.remove(place)

    @contextmanager
    def asked(self, question: Question, by: "Questions | None") -> Iterator[None]:
        """One of them is asked; all others wait for the answer."""
        self._question = question
        for questions, told in self._waiting:
            if questions is not by:
                told.enter_context(questions.waiting(question))
        try:
            yield
        finally:
            self._question = None
            for _, told in self._waiting:
                told.close()


class Spokesman:
    """Implements `questions.Questions` for the one of a crowd that is asked."""

    def __init__(self, questions: "Questions", crowd: Crowd) -> None:
        self._questions = questions
        self._crowd = crowd

    @property
    def memory(self) -> "Memory":
        """That of the one that is asked."""
        return self._questions.memory

    async def ask(self, question: Question) -> str | None:
        """The others wait for this answer."""
        with self._crowd.asked(question, by=self._questions):
            return await self._questions.ask(question)

    @contextmanager
    def waiting(self, question: Question) -> Iterator[None]:
        """All of this crowd wait for an answer that another crowd's spokesman gives."""
        with self._crowd.asked(question, by=None):
            yield

"""The questions of one login: each is asked once, answers that worked are remembered, and a wrong one is never sent again."""

from collections.abc import Callable, Sequence
from pathlib import Path

import asyncssh

from specdeck.errors import HostKeyUnknown, HostUnreachable
from specdeck.state.snapshot import Question
from specdeck.transport.crowd import Crowd
from specdeck.transport.host_keys import NewHostKey
from specdeck.transport.keys import Keys
from specdeck.transport.questions import Patience, Questions
from specdeck.transport.resolve import Route
from specdeck.transport.words import said

YES = "yes"
PASSPHRASE_TRIES = 3
"""A wrong passphrase is no failed login: nothing was sent."""


class LoginQuestions:
    """Between the login of one route and whoever can be asked."""

    def __init__(self, route: Route, questions: Questions | None, patience: Patience) -> None:
        self.patience = patience
        self.holds_back = False
        """Locked keys come before passwords: the host's own questions wait."""
        self.wanted: dict[str, None] = {}
        """What the host would take beside keys, in its order."""
        self.is_unanswered = False
        """Something was asked and no answer came."""
        self.has_answered = False
        """The host got an answer."""
        self.before_asking: Callable[[], None] = lambda: None
        """The user may take long."""
        self._route = route
        self._questions = questions
        self._who = f"{route.user}@{route.place}"
        self._is_kbdint_over = False
        self._sent_password: str | None = None

    @property
    def can_ask(self) -> bool:
        """There is somebody to ask."""
        return self._questions is not None

    async def password(self) -> str | None:
        """The host takes a password."""
        self.wanted["a password"] = None
        if self._questions is None or self.holds_back or self._is_kbdint_over or self._sent_password is not None:
            return None
        known = self._questions.memory.passwords.pop(self._who, None)
        text = f"password of {said(self._route.user)}"
        answer = known if known is not None else await self._ask(Question("password", self._route.place, text))
        self._sent_password = answer
        self.has_answered = answer is not None
        return answer

    def begins_interaction(self) -> bool:
        """The host has questions of its own (keyboard-interactive): whether it may ask them."""
        self.wanted["answers to its questions"] = None
        if self._questions is None or self.holds_back or self._is_kbdint_over:
            return False
        self._is_kbdint_over = True
        return True

    async def answers(self, words: str, prompts: Sequence[tuple[str, bool]]) -> list[str] | None:
        """The user's answers to the host's questions; None: declined. Without a question there is nothing to answer."""
        found: list[str] = []
        for prompt, is_shown in prompts:
            text = said(f"{words} {prompt}") or "the host asks something without words"
            question = Question("second-factor", self._route.place, text, is_secret=not is_shown)
            answer = await self._ask(question)
            if answer is None:
                return None
            self.has_answered = True
            found.append(answer)
        return found

    def accepted(self) -> None:
        """The login went well: a password that was part of it may be used again after a loss of the connection."""
        if self._questions is not None and self._sent_password is not None:
            self._questions.memory.passwords[self._who] = self._sent_password

    async def accept_key(self, error: NewHostKey) -> None:
        """Ask whether a new host key is right, and write it down. Raises the error where it is not, or nobody is there."""
        known = error.known
        if self._questions is None or known is None or known.refused is None:
            raise error
        text = f"its host key is in no known_hosts file; fingerprint {known.refused.get_fingerprint()}"
        if await self._ask(Question("host-key", self._route.place, text, is_secret=False)) != YES:
            raise HostKeyUnknown(f"{error}; you did not accept it") from error
        try:
            known.accept(known.refused)
        except OSError as err:
            file = self._route.new_keys_file
            raise HostUnreachable(
                f"{self._route.place}: its key cannot be written into {file}: {err.strerror}"
            ) from err

    async def unlock(self, keys: Keys) -> bool:
        """Ask for the passphrase of the locked key that comes first; True if a key is there now that was not before."""
        questions = self._questions
        if questions is None or not keys.locked:
            return False
        path, opened = keys.locked[0], questions.memory.opened
        crowd = questions.memory.crowd(path)
        with crowd.joined(questions):
            async with questions.memory.turn(path) as is_mine:
                if is_mine and path not in opened and (pairs := await self._open(keys, path, crowd)):
                    opened[path] = pairs
        keys.take_opened(opened)
        return path in opened

    async def _open(self, keys: Keys, path: Path, crowd: Crowd) -> list[asyncssh.SSHKeyPair]:
        text = "passphrase of the key"
        for _ in range(PASSPHRASE_TRIES):
            question = Question("passphrase", said(path), text)
            with crowd.asked(question, by=self._questions):
                answer = await self._ask(question)
            if answer is None:
                break
            if pairs := keys.open(path, answer):
                return pairs
            text = "that does not open it; passphrase of the key"
        return []

    async def _ask(self, question: Question) -> str | None:
        assert self._questions is not None  # noqa: S101 - every caller has looked
        self.is_unanswered = True
        self.before_asking()
        with self.patience.paused():
            answer = await self._questions.ask(question)
        self.is_unanswered = answer is None
        return answer

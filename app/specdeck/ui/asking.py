"""Which question of a login is on the screen: one at a time, each once, and none that nobody waits for any more."""

from functools import partial
from typing import TYPE_CHECKING

from textual.app import App

from specdeck.services.deck import Deck
from specdeck.state.snapshot import FleetState, Question
from specdeck.ui.screens.deck_screen import DeckScreen

if TYPE_CHECKING:
    from specdeck.ui.screens.question import QuestionScreen


class Asking:
    """Between the deck's questions and the screen."""

    def __init__(self, app: App[None], deck: Deck) -> None:
        self._app = app
        self._deck = deck
        self._answered: set[Question] = set()
        self._open: QuestionScreen | None = None

    def look(self, fleet: FleetState) -> None:
        """Bring the next question up once no sheet or list is open; take away the one that is asked no more."""
        asked = {host.question: host.name for host in fleet.hosts if host.question is not None}
        self._answered &= asked.keys()
        screen = self._app.screen
        if self._open is not None and screen is self._open:
            if self._open.question not in asked:
                self._open.dismiss(None)
        elif isinstance(screen, DeckScreen):
            for question in asked.keys() - self._answered:
                self._answered.add(question)
                self._ask(question, asked[question])
                return

    def _ask(self, question: Question, host: str) -> None:
        from specdeck.ui.screens.question import QuestionScreen  # few hosts ask: behind the first frame

        self._open = QuestionScreen(question, host)
        self._app.push_screen(self._open, partial(self._decided, question))

    def _decided(self, question: Question, answer: str | None) -> None:
        self._deck.answer(question, answer)
        self._app.call_after_refresh(lambda: self.look(self._deck.store.state))

"""What went wrong is said once, stands in the events, and ends nothing; a fault of specdeck's own leaves a report besides."""

import logging
from collections.abc import Callable, Sequence

from specdeck.services.store import Store
from specdeck.ui.drawing.spans import clean

_log = logging.getLogger(__name__)


class Faults:
    """Of one dashboard."""

    def __init__(self, store: Store, say: Callable[[str], None]) -> None:
        self._store = store
        self._say = say
        self._said: set[str] = set()
        self.own: list[Exception] = []
        """Those of specdeck itself, each kind once."""

    def tell(self, source: str, text: str) -> None:
        """A message the first time, and a line of the events each time."""
        from specdeck.state.events import Noted

        if text not in self._said:
            self._said.add(text)
            self._say(text)
        self._store.apply(Noted(source, clean(text.replace("\n", "; ")), "error"))

    def note(self, problems: Sequence[str]) -> None:
        """Lines of the events, for what was said at the start and is gone when somebody looks."""
        from specdeck.state.events import Noted

        for problem in problems:
            self._store.apply(Noted("specdeck", clean(problem), "warning"))

    def of_key(self, action: str, error: Exception) -> None:
        """What a key asked for failed; the same key is the retry."""
        from specdeck.services.crash_report import about

        is_new = not any(repr(error) == repr(known) for known in self.own)
        what = f"{_plain_name(action)} failed"
        if is_new:
            self.own.append(error)
            _log.error("%s", clean(what), exc_info=error)
        self.tell("specdeck", about(error, what=what) if is_new else f"{what} again")


def _plain_name(action: str) -> str:
    """`next error` for `app.next_error(1)`."""
    return action.partition("(")[0].rpartition(".")[2].replace("_", " ")

"""Panes of the server view: identity, hero, evidence."""

from collections.abc import Sequence

from specdeck.ui.drawing.evidence import command_rows, evidence_rows, short_evidence
from specdeck.ui.drawing.hero import hero, identity, start_in_rows
from specdeck.ui.drawing.spans import Row
from specdeck.ui.drawing.words import age
from specdeck.ui.panes.base import Pane
from specdeck.ui.view import View, heard_ago, is_old_news

ROOMY = 44


class IdentityPane(Pane):
    """Who it is and its word."""

    def draw(self, view: View, width: int, height: int) -> Sequence[Row]:
        """One line."""
        server = view.server
        return [
            identity(server, view, width) if server is not None else ((f" {view.server_name}: not known", "warning"),)
        ]


class HeroPane(Pane, can_focus=True):
    """The one thing that matters most now."""

    def draw(self, view: View, width: int, height: int) -> Sequence[Row]:
        """As many lines as that takes."""
        if view.server is None:
            return []
        rows = hero(view.server, view, width, is_roomy=self.app.size.height >= ROOMY and not self.is_alone)
        return [*rows, *start_in_rows(view.server, view, width)] if self.is_alone else rows


class EvidencePane(Pane, can_focus=True):
    """Why the word is what it is."""

    def draw(self, view: View, width: int, height: int) -> Sequence[Row]:
        """A line a witness, or all in one line; alone, also the command that runs and its log file."""
        if view.server is None:
            return []
        if self.is_compact:
            return [short_evidence(view.server, view, width)]
        rows = evidence_rows(view.server, view, width)
        return [*rows, *command_rows(view.server, width)] if self.is_alone else rows

    def heading(self, view: View) -> str:
        """A word; of a host that is not heard any more, how old all of it is."""
        heard = heard_ago(view.host, view.now) if is_old_news(view.host) else None
        return "evidence" if heard is None else f"evidence, {age(heard)} old"

"""The palette over what is offered. Textual's own reads names as markup: `End orphan 4711 [/x]` would end the dashboard."""

from collections.abc import Sequence

from rich.text import Text
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.markup import escape


class OfferSearch(Provider):
    """Names are text, whatever a host calls its processes."""

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for command in sorted(self.app.get_system_commands(self.screen), key=lambda command: command.title):
            yield DiscoveryHit(Text(command.title), command.callback, text=command.title, help=escape(command.help))

    async def search(self, query: str) -> Hits:
        """Those that match, the letters that do in bold."""
        matcher = self.matcher(query)
        for command in self.app.get_system_commands(self.screen):
            score, offsets = matcher.fuzzy_search.match(query, command.title)
            if score > 0:
                name = highlighted(command.title, offsets)
                yield Hit(score, name, command.callback, text=command.title, help=escape(command.help))


def highlighted(name: str, offsets: Sequence[int]) -> Text:
    """The name with these letters in bold."""
    text = Text(name)
    for offset in offsets:
        text.stylize("bold underline", offset, offset + 1)
    return text

"""python empty_app.py [imports] [echo]: an empty Textual app, the floor.

With `imports` it has imported what the dashboard imports; with `echo` it paints what is typed.
"""

import sys

from textual.app import App, ComposeResult
from textual.widgets import Input

if "imports" in sys.argv[1:]:
    import specdeck.services.open_deck
    import specdeck.transport.ssh
    import specdeck.ui.app
    import specdeck.ui.widgets.chart

    specdeck.ui.widgets.chart.warm_up()
    WARM = (specdeck.services.open_deck, specdeck.transport.ssh, specdeck.ui.app)


class Empty(App[None]):
    """Nothing, or a line to type into."""

    def compose(self) -> ComposeResult:
        """As asked."""
        if "echo" in sys.argv[1:]:
            yield Input(select_on_focus=False)


Empty().run()

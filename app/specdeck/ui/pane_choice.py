"""Which panes of a screen are in sight: all, all but those the user hid, or one alone over the whole screen."""

from collections.abc import Sequence

from textual.css.scalar import Scalar
from textual.screen import Screen
from textual.widget import Widget

WHOLE = Scalar.parse("1fr")
COLUMNS = "#middle, #left, #right"


class PaneChoice:
    """Of one screen; which panes are hidden is shared by all screens of its kind and outlives them."""

    def __init__(self, screen: Screen[None], names: Sequence[str], hidden: set[str]) -> None:
        self._screen = screen
        self._names = names
        self._hidden = hidden
        self.zoomed: str | None = None
        self.is_suspended = False
        """The terminal is too small for anything to be shown alone."""

    @property
    def is_plain(self) -> bool:
        """Everything stands where the size of the terminal puts it."""
        return self.zoomed is None and not self._hidden

    @property
    def focused(self) -> str | None:
        """The pane that has the focus; None: none has."""
        focused = self._screen.focused
        names = (node.id for node in (focused.ancestors_with_self if focused is not None else ()))
        return next((name for name in names if name in self._names), None)

    def zoom(self, name: str | None) -> None:
        """Show this pane alone, or all again."""
        self.zoomed = name
        self.apply()
        if name is not None:
            self._focus(name)

    def step(self, by: int) -> None:
        """Zoom the next pane instead, also one that the size of the terminal would not show."""
        if self.zoomed is not None:
            index = self._names.index(self.zoomed)
            self.zoom(self._names[(index + by) % len(self._names)])

    def hide(self, name: str) -> None:
        """Take a pane out of sight; the others get its place."""
        self._hidden.add(name)
        self.zoomed = None
        self.apply()

    def show_all(self) -> None:
        """Bring all hidden panes back."""
        self._hidden.clear()
        self.zoom(None)

    def apply(self) -> None:
        """Show and hide; what neither was chosen stays as the style sheet says."""
        for name in self._names:
            self._place(self._screen.query_one(f"#{name}"), name)
        for column in reversed(list(self._screen.query(COLUMNS))):  # the inner ones first
            mine = [child for child in column.children if child.styles.display != "none"]
            is_alone = self._alone is not None and bool(mine)
            _set(column, is_hidden=not mine, is_shown=is_alone, is_whole=is_alone)
        self._screen.refresh(layout=True)

    @property
    def _alone(self) -> str | None:
        return None if self.is_suspended else self.zoomed

    def _place(self, pane: Widget, name: str) -> None:
        is_alone = name == self._alone
        is_hidden = name in self._hidden if self._alone is None else not is_alone
        pane.set_class(is_alone, "-alone")
        _set(pane, is_hidden=is_hidden, is_shown=is_alone, is_whole=is_alone)

    def _focus(self, name: str) -> None:
        pane = self._screen.query_one(f"#{name}")
        first = next((widget for widget in pane.walk_children(Widget) if widget.focusable), None)
        self._screen.set_focus(pane if pane.focusable else first)


def _set(widget: Widget, *, is_hidden: bool, is_shown: bool, is_whole: bool) -> None:
    """By inline styles, which outweigh the style sheet, and whose absence gives it back its say."""
    styles = widget.styles
    if is_hidden or is_shown:
        styles.display = "none" if is_hidden else "block"
    elif styles.inline.has_rule("display"):
        styles.display = None
    if is_whole:
        styles.height, styles.width, styles.min_height = WHOLE, WHOLE, None
    elif styles.inline.has_rule("width"):
        styles.height, styles.width = None, None

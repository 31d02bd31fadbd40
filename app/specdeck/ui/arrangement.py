"""What the screens share of how the user looks at the fleet: the order of its servers."""

from dataclasses import field

from specdeck.quick_dataclass import dataclass
from specdeck.state.order import Order
from specdeck.state.snapshot import FleetState
from specdeck.ui.view import rows_of

BUSY_SECONDS = 3.0
"""After a key or a move of the mouse no row moves for so long: what is aimed at stays there."""


@dataclass(slots=True)
class Arrangement:
    """One for the whole dashboard."""

    is_worst_first: bool = True
    """Otherwise servers stand as in the fleet file."""
    hidden: dict[str, set[str]] = field(default_factory=dict)
    """The panes that the user took out of sight, by kind of screen."""
    _order: Order = field(default_factory=Order)
    _keys: int = 0
    _touched_at: float = float("-inf")

    def touch(self, now: float) -> None:
        """The hand is at work."""
        self._touched_at = now

    def names(self, fleet: FleetState, now: float, *, keys: int) -> tuple[str, ...]:
        """The servers, and the hosts without one, in their order; `keys` counts those pressed so far."""
        if keys != self._keys:
            self._keys = keys
            self.touch(now)
        is_busy = 0 <= now - self._touched_at < BUSY_SECONDS
        rows = rows_of(fleet)
        names = self._order.of(rows, now, is_busy=is_busy)
        return names if self.is_worst_first else tuple(each.name for each in rows)

"""Alerts at the dashboard itself: a toast, the bell and the desktop's notification, each once, also while the screen is frozen.

Where many come at once (a laptop that wakes up without its network), a few are told and the rest are counted.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from specdeck.config.settings import AlertSettings
from specdeck.quick_dataclass import replace
from specdeck.state.alert_book import Alert
from specdeck.state.snapshot import FleetState
from specdeck.ui.notices import Notices

MOST_AT_ONCE = 3
CALM_SECONDS = 5.0
"""In so long no more than these are told, the last of them for all that came meanwhile: as long as a toast stays."""
_WORST_FIRST = ("error", "warning", "info")


class Ringing:
    """Of one dashboard; what was told before it looked first does not ring."""

    def __init__(self, settings: AlertSettings, notices: Notices, toast: Callable[[Alert], None]) -> None:
        self._settings = settings
        self._notices = notices
        self._toast = toast
        self._seen: int | None = None
        self._waiting: list[Alert] = []
        self._told_at: list[float] = []

    def look(self, fleet: FleetState) -> None:
        """Ring for what is new."""
        news = fleet.alerts.after(self._seen) if self._seen is not None else ()
        self._seen = fleet.alerts.told
        self._waiting += [alert for alert in news if not alert.is_silenced and alert.kind in self._settings.kinds]
        if self._waiting:
            self._ring(self._next_ones(fleet.at))

    def _next_ones(self, at: float) -> Sequence[Alert]:
        """Those that are told now; none while the last ones still stand there."""
        self._told_at = [when for when in self._told_at if 0 <= at - when < CALM_SECONDS]
        room = MOST_AT_ONCE - len(self._told_at)
        if room <= 0:
            return ()
        alone = self._waiting if len(self._waiting) <= room else self._waiting[: room - 1]
        rest = self._waiting[len(alone) :]
        told, self._waiting = [*alone, *([in_sum(rest)] if rest else [])], []
        self._told_at += [at] * len(told)
        return told

    def _ring(self, told: Sequence[Alert]) -> None:
        for alert in told:
            self._toast(alert)
        pressing = [alert for alert in told if not alert.is_over]
        if pressing and self._settings.bell:
            self._notices.ring()
        if self._settings.desktop:
            for alert in pressing:
                self._notices.notify(alert.sentence)


def in_sum(alerts: Sequence[Alert]) -> Alert:
    """`15 more alerts: 12 lost, 3 crashed (all in the events)`, as bad as the worst of them; one alone is itself."""
    worst = min(alerts, key=lambda alert: (alert.is_over, _WORST_FIRST.index(alert.severity)))
    if len(alerts) == 1:
        return worst
    kinds = Counter("over" if alert.is_over else alert.kind for alert in alerts)
    counted = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())
    return replace(worst, subject=f"{len(alerts)} more", text=f"alerts: {counted} (all in the events)")

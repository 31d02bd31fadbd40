"""Alerts at the dashboard itself: a toast, the bell and the desktop's notification, each once, also while the screen is frozen."""

from collections.abc import Callable

from specdeck.config.settings import AlertSettings
from specdeck.state.alert_book import Alert
from specdeck.state.snapshot import FleetState
from specdeck.ui.notices import Notices


class Ringing:
    """Of one dashboard; what was told before it looked first does not ring."""

    def __init__(self, settings: AlertSettings, notices: Notices, toast: Callable[[Alert], None]) -> None:
        self._settings = settings
        self._notices = notices
        self._toast = toast
        self._seen: int | None = None

    def look(self, fleet: FleetState) -> None:
        """Ring for what is new."""
        news = fleet.alerts.after(self._seen) if self._seen is not None else ()
        self._seen = fleet.alerts.told
        loud = [alert for alert in news if not alert.is_silenced and alert.kind in self._settings.kinds]
        for alert in loud:
            self._toast(alert)
        pressing = [alert for alert in loud if not alert.is_over]
        if pressing and self._settings.bell:
            self._notices.ring()
        if self._settings.desktop:
            for alert in pressing:
                self._notices.notify(alert.sentence)

"""Tells each new alert to the user's own command and webhook; what fails there is a line, and never stops the watching."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping

from specdeck.config.settings import AlertSettings
from specdeck.errors import TransportError
from specdeck.parsing.plain import plain
from specdeck.services.store import Store
from specdeck.state.alert_book import Alert
from specdeck.state.events import Noted
from specdeck.transport.outward import post_json, run_command

LOOK_SECONDS = 0.5
Way = Callable[[Alert], Awaitable[None]]
"""How an alert leaves this machine."""
SCHEMA = 1

_log = logging.getLogger(__name__)


async def keep_telling(settings: AlertSettings, store: Store, environment: Mapping[str, str] = os.environ) -> None:
    """Endless; without a command or a webhook there is nothing to do."""
    ways = tuple(_ways(settings, environment))
    if settings.webhook_env and not environment.get(settings.webhook_env):
        store.apply(Noted("specdeck", f"alerts go to no webhook: ${settings.webhook_env} is not set", "warning"))
    if not ways:
        return
    told = store.state.alerts.told
    async with asyncio.TaskGroup() as group:
        for way in ways:  # a command that hangs holds up no webhook
            group.create_task(_keep_passing_on(way, settings, store, told))


async def _keep_passing_on(way: Way, settings: AlertSettings, store: Store, told: int) -> None:
    """One after the other, as they came; where it is slower than they come, those that are not kept any more are counted."""
    async for state in store.changes(at_most_every_seconds=LOOK_SECONDS):
        news = state.alerts.after(told)
        if lost := state.alerts.told - told - len(news):
            store.apply(
                Noted("specdeck", f"{lost} alerts not passed on: they came faster than they were told", "warning")
            )
        told = state.alerts.told
        for alert in news:
            if not alert.is_silenced and alert.kind in settings.kinds:
                await _tell(way, alert, store)


async def _tell(way: Way, alert: Alert, store: Store) -> None:
    try:
        await way(alert)
    except TransportError as error:
        store.apply(Noted("specdeck", f"alert not passed on: {error}", "warning"))
    except Exception as error:
        _log.exception("an alert was not passed on")
        store.apply(Noted("specdeck", f"alert not passed on: {type(error).__name__}: {plain(str(error))}", "error"))


def _ways(settings: AlertSettings, environment: Mapping[str, str]) -> Iterator[Way]:
    if settings.command:
        yield lambda alert: run_command(
            settings.command, environment=variables_of(alert), stdin=_text(as_json(alert)).encode()
        )
    if address := settings.webhook or environment.get(settings.webhook_env or ""):
        yield lambda alert: post_json(address, as_json(alert))


def as_json(alert: Alert) -> dict[str, object]:
    """What a webhook gets as its body, and a command on its stdin; `text` is what Slack and the like show."""
    return {
        "schema": SCHEMA,
        "text": f"specdeck: {alert.sentence}",
        "kind": alert.kind,
        "subject": alert.subject,
        "state": "cleared" if alert.is_over else "raised",
        "severity": alert.severity,
        "at": alert.at,
    }


def variables_of(alert: Alert) -> dict[str, str]:
    """For a command: words of hosts come as values only, never as a part of what is run."""
    return {
        "SPECDECK_ALERT": alert.sentence,
        "SPECDECK_ALERT_KIND": alert.kind,
        "SPECDECK_ALERT_SUBJECT": alert.subject,
        "SPECDECK_ALERT_STATE": "cleared" if alert.is_over else "raised",
        "SPECDECK_ALERT_SEVERITY": alert.severity,
    }


def _text(body: Mapping[str, object]) -> str:
    import json

    return json.dumps(body, ensure_ascii=False) + "\n"

"""A hand that types the next key as soon as the dashboard rests: the pilot's own one waits until the process hardly computed
for 20 ms, three times a key, and a running clock can keep it from that for a second."""

from asyncio import sleep
from time import monotonic, process_time
from typing import Any

from textual._context import active_app
from textual._wait import SLEEP_GRANULARITY, SLEEP_IDLE
from textual.app import App
from textual.message_pump import MessagePump

LOOK_SECONDS = 0.002


async def until_it_rests(_: float = 0.0, max_sleep: float = 1.0) -> None:
    """In place of Textual's `wait_for_idle`: two looks in a row see a dashboard at rest, or it was idle as Textual means it."""
    end, calm = monotonic() + max_sleep, 0
    since, computed = monotonic(), process_time()
    while monotonic() < end:
        await sleep(LOOK_SECONDS)
        calm = calm + 1 if rests(active_app.get()) else 0
        if calm == 2:
            return
        if monotonic() - since >= SLEEP_GRANULARITY:
            if process_time() - computed < SLEEP_IDLE:
                return  # somebody waits for something that takes its time
            since, computed = monotonic(), process_time()


def rests(app: App[Any]) -> bool:
    """All of it waits for messages, and all is painted."""
    screen = app.screen
    if screen._callbacks or screen._layout_required or screen._repaint_required or screen._dirty_widgets:
        return False
    return all(map(_waits, (app, *screen.walk_children(with_self=True))))


def _waits(pump: MessagePump) -> bool:
    """It is no step ahead in a message either: only then somebody waits for its next one."""
    queue: Any = pump._message_queue
    is_empty = queue.empty() and pump._pending_message is None and not pump._next_callbacks
    return is_empty and bool(queue.ready_event._waiters)

"""Alerts on their way out: a real command, a real webhook, and what is said when they fail."""

import asyncio
import json
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.ui import fleets

from specdeck.config.settings import AlertSettings
from specdeck.services.alarm import keep_telling
from specdeck.services.store import Store
from specdeck.state.alert_book import Alert, AlertBook
from specdeck.state.events import Noted
from specdeck.state.reduce import reduce
from specdeck.transport import outward

HOSTILE = "is stalled: $(touch /tmp/x) `id`; [/x] 'quoted\" 東京"
WRITES = """
import json, os, sys
told = {name: value for name, value in os.environ.items() if name.startswith("SPECDECK_ALERT")}
open(sys.argv[1], "w").write(json.dumps([told, json.load(sys.stdin)]))
"""


def alert(number: int, text: str = HOSTILE, **changes: object) -> Alert:
    return Alert(number, "stalled", "qwen", text, "error", fleets.NOW, **changes)  # type: ignore[arg-type]


def telling(*alerts: Alert) -> Store:
    """A store whose next event brings these alerts."""
    book = AlertBook(recent=alerts, told=alerts[-1].number)

    def bring(state: object, event: object, at: float) -> object:
        if event == Noted("test", "bring"):
            return replace(fleets.fleet(), alerts=book)
        return reduce(state, event, at)  # type: ignore[arg-type]

    return Store(fleets.fleet(), bring, lambda: fleets.NOW)  # type: ignore[arg-type]


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(90):
        while not is_so():  # noqa: ASYNC110 - files and sockets of others have no event
            await asyncio.sleep(0.01)


@asynccontextmanager
async def told(settings: AlertSettings, store: Store, **environment: str) -> AsyncIterator[None]:
    task = asyncio.create_task(keep_telling(settings, store, environment))
    await asyncio.sleep(0)
    store.apply(Noted("test", "bring"))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def lines_of(store: Store) -> Sequence[str]:
    return [line.text for line in store.state.happenings if line.source == "specdeck"]


@dataclass
class Hook:
    """A web server that writes down what it is sent."""

    status: int = 200
    got: list[tuple[str, bytes]] = field(default_factory=list)
    address: str = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(
            int(line.split(":")[1]) for line in head.splitlines() if line.lower().startswith("content-length")
        )
        self.got.append((head, await reader.readexactly(length)))
        writer.write(f"HTTP/1.1 {self.status} said\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()


@pytest.fixture
async def hook(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hook]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    hook = Hook()
    async with await asyncio.start_server(hook.answer, "127.0.0.1", 0) as server:
        hook.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/secret/path"
        yield hook


async def test_a_command_gets_the_words_as_variables_and_all_of_it_on_stdin(tmp_path: Path) -> None:
    out = tmp_path / "told"
    settings = AlertSettings(command=(sys.executable, "-c", WRITES, str(out)))
    async with told(settings, telling(alert(1))):
        await until(lambda: out.exists() and out.read_text().endswith("]"))
    variables, body = json.loads(out.read_text())
    assert variables == {
        "SPECDECK_ALERT": f"qwen {HOSTILE}", "SPECDECK_ALERT_KIND": "stalled", "SPECDECK_ALERT_SUBJECT": "qwen",
        "SPECDECK_ALERT_STATE": "raised", "SPECDECK_ALERT_SEVERITY": "error",
    }  # fmt: skip
    assert body["text"] == f"specdeck: qwen {HOSTILE}"


async def test_a_webhook_gets_one_json_an_alert_in_their_order(hook: Hook) -> None:
    settings = AlertSettings(webhook=hook.address)
    async with told(settings, telling(alert(1), alert(2, "moves again", is_over=True))):
        await until(lambda: len(hook.got) == 2)
    assert hook.got[0][0].startswith("POST /secret/path HTTP/1.1")
    bodies = [json.loads(body) for _, body in hook.got]
    assert [(body["state"], body["text"]) for body in bodies] == [
        ("raised", f"specdeck: qwen {HOSTILE}"),
        ("cleared", "specdeck: qwen moves again"),
    ]
    assert bodies[0] | {"text": ""} == {
        "schema": 1, "text": "", "kind": "stalled", "subject": "qwen", "state": "raised", "severity": "error",
        "at": fleets.NOW,
    }  # fmt: skip


async def test_the_address_may_come_from_a_variable(hook: Hook) -> None:
    async with told(AlertSettings(webhook_env="MY_HOOK"), telling(alert(1)), MY_HOOK=hook.address):
        await until(lambda: hook.got)


async def test_a_variable_that_is_not_set_is_said() -> None:
    store = Store(fleets.fleet(), reduce, lambda: fleets.NOW)
    await keep_telling(AlertSettings(webhook_env="MY_HOOK"), store, {})
    assert lines_of(store) == ["alerts go to no webhook: $MY_HOOK is not set"]


async def test_silenced_alerts_and_kinds_that_are_not_wanted_are_not_passed_on(hook: Hook) -> None:
    settings = AlertSettings(kinds=("stalled",), webhook=hook.address)
    ready = Alert(2, "ready", "qwen", "is ready", "info", fleets.NOW)
    async with told(settings, telling(alert(1, is_silenced=True), ready, alert(3, "last"))):
        await until(lambda: hook.got)
    assert [json.loads(body)["text"] for _, body in hook.got] == ["specdeck: qwen last"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("/no/such/command",), "alert not passed on: /no/such/command cannot be run: No such file or directory"),
        (("/bin/sh", "-c", "echo no luck >&2; exit 3"), "alert not passed on: /bin/sh ended with 3: no luck"),
    ],
)
async def test_a_command_that_fails_is_a_line_and_the_next_alert_is_told(command: tuple[str, ...], said: str) -> None:
    store = telling(alert(1), alert(2))
    async with told(AlertSettings(command=command), store):
        await until(lambda: len(lines_of(store)) == 2)
    assert lines_of(store) == [said, said]


async def test_a_command_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outward, "LIMIT_SECONDS", 0.2)
    store = telling(alert(1))
    async with told(AlertSettings(command=("/bin/sleep", "1000")), store):
        await until(lambda: lines_of(store))
    assert lines_of(store) == ["alert not passed on: /bin/sleep did not end within 0.2 s"]


async def test_a_command_that_floods_is_ended_and_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outward, "LIMIT_SECONDS", 1.0)
    store = telling(alert(1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with told(AlertSettings(command=("/bin/sh", "-c", "yes x >&2")), store):
        await until(lambda: lines_of(store))
    assert lines_of(store) == ["alert not passed on: /bin/sh did not end within 1 s"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB; `yes` writes gigabytes a second


async def test_what_a_command_leaves_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    store, done = telling(alert(1)), tmp_path / "done"
    script = 'sleep 1000 & echo $! > "$0"; echo no sound >&2; exit 3'
    async with told(AlertSettings(command=("/bin/sh", "-c", script, str(done))), store):
        await until(lambda: lines_of(store))
    assert lines_of(store) == ["alert not passed on: /bin/sh ended with 3: no sound"]
    os.kill(int(done.read_text()), signal.SIGKILL)  # it still lives


async def test_a_command_that_hangs_holds_up_no_webhook(hook: Hook) -> None:
    store = telling(alert(1, "one"), alert(2, "two"))
    async with told(AlertSettings(command=("/bin/sleep", "1000"), webhook=hook.address), store):
        await until(lambda: len(hook.got) == 2)
    assert lines_of(store) == []


async def test_alerts_that_came_too_fast_are_counted(hook: Hook) -> None:
    store = telling(*(alert(number, "x") for number in range(249, 251)))
    async with told(AlertSettings(webhook=hook.address), store):
        await until(lambda: len(hook.got) == 2)
    assert lines_of(store) == ["248 alerts not passed on: they came faster than they were told"]


async def test_a_webhook_that_refuses_is_named_without_its_secret(hook: Hook) -> None:
    hook.status = 403
    store = telling(alert(1))
    async with told(AlertSettings(webhook=hook.address), store):
        await until(lambda: lines_of(store))
    assert lines_of(store) == ["alert not passed on: the webhook at 127.0.0.1 answered 403"]


async def test_a_webhook_that_is_not_there_is_a_line() -> None:
    store = telling(alert(1))
    async with told(AlertSettings(webhook="http://127.0.0.1:9/secret"), store):
        await until(lambda: lines_of(store))
    assert lines_of(store) == ["alert not passed on: the webhook at 127.0.0.1 could not be told: ConnectError"]

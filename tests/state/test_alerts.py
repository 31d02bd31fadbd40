"""Alerts: each raised once, silent while it flaps, taken back when it is over; the clock is made by hand."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from tests.ui import fleets

from specdeck.state.alert_book import Silence
from specdeck.state.alerts import silenced, watched
from specdeck.state.events import AlertsSilenced, DisksSampled
from specdeck.state.reduce import reduce
from specdeck.state.snapshot import Disk, FleetState, ServerState, Throughput, Word

BEGIN = fleets.NOW


@dataclass
class Watch:
    """Somebody who looks once a second; what was told stands as (second, sentence)."""

    state: FleetState
    at: float = BEGIN

    def see(self, state: FleetState, seconds: int = 1) -> list[tuple[int, str]]:
        """The same state for some seconds; what was told meanwhile."""
        before = self.state.alerts.told
        for _ in range(seconds):
            self.at += 1
            self.state = watched(replace(state, alerts=self.state.alerts, happenings=self.state.happenings), self.at)
        return [(round(alert.at - BEGIN), alert.sentence) for alert in self.state.alerts.after(before)]


def serving(**changes: object) -> FleetState:
    """One server that serves with speculation."""
    server = replace(fleets.qwen(profile="eagle3-v1"), since=None, draft_steps=3, throughput_history=())
    server = replace(server, **changes)  # type: ignore[arg-type]
    return FleetState(BEGIN, (fleets.h200("h200-a", "qwen", load=87.0),), (server,))


def worded(word: Word, because: str = "", since: float | None = BEGIN) -> FleetState:
    return serving(word=word, because=(because,) if because else (), since=since)


def at_speed(tok_s: float, running: int = 30, since: float | None = None) -> FleetState:
    return serving(throughput=Throughput(tok_s, "counters", 10.0, BEGIN), requests_running=running, since=since)


def accepting(length: float | None) -> FleetState:
    return serving(accept_length=length)


def linked(link: str, error: str | None = None, last_seen: float | None = BEGIN) -> FleetState:
    state = serving()
    host = replace(state.hosts[0], link=link, error=error, last_seen=last_seen)  # type: ignore[arg-type]
    return replace(state, hosts=(host,))


def throttled(*words: str) -> FleetState:
    state = serving()
    gpu = replace(state.hosts[0].gpus[0], throttle=words)
    return replace(state, hosts=(replace(state.hosts[0], gpus=(gpu,)),))


def disk(percent: float, free_mib: int = 3_277) -> FleetState:
    state = serving()
    return replace(state, hosts=(replace(state.hosts[0], log_disks=(Disk("/scratch", percent, free_mib),)),))


def crash() -> FleetState:
    server = replace(fleets.glm(), name="qwen")
    return FleetState(BEGIN, serving().hosts, (server,))


CRASHED = "qwen crashed: NCCL timeout after 600 s in ALLREDUCE (7 ranks follow) (exit 137, SIGKILL)"
STALLED = "qwen is stalled: 3 running, 0 tok/s for 1m50s"
UNWELL = "qwen is unhealthy: 503 for 25 s"
LOST = "h200-a is lost: timed out (keepalive)"
HOT = "h200-a is throttled: GPU 0 too hot (hardware thermal slowdown)"
ACCEPT = "qwen accepts almost no draft token (accept length 1.02)"
FELL = "qwen fell from 700 to 300 tok/s with 30 requests running"
FULL = "h200-a has 3.2 GiB left for logs (/scratch is 96 % full)"
Row = tuple[FleetState, int]
Told = tuple[int, str]

TABLE: dict[str, tuple[list[Row], list[Told]]] = {
    "a crash rings once, after two seconds for the log's last words": (
        [(serving(), 3), (crash(), 600)],
        [(6, CRASHED)],
    ),
    "a crash that was there at first is no news": (
        [(worded(Word.CRASHED, since=None), 600)],
        [],
    ),
    "a second crash rings again": (
        [(serving(), 1), (crash(), 10), (worded(Word.STARTING), 10), (crash(), 10)],
        [(4, CRASHED), (24, CRASHED)],
    ),
    "a host that is away makes no crash": (
        [(serving(), 1), (crash(), 10), (worded(Word.UNREACHABLE), 50), (crash(), 50)],
        [(4, CRASHED)],
    ),
    "ready rings at the end of a start": (
        [(worded(Word.STARTING), 5), (worded(Word.READY), 60)],
        [(6, "qwen is ready after 42 s")],
    ),
    "a server that was ready at first does not ring": ([(worded(Word.READY, since=None), 60)], []),
    "a server that is unwell for a moment is not ready anew": (
        [(worded(Word.STARTING), 1), (worded(Word.READY), 5), (worded(Word.UNHEALTHY), 5), (worded(Word.READY), 5)],
        [(2, "qwen is ready after 42 s")],
    ),
    "a stall rings after five seconds and is taken back after fifteen": (
        [(serving(), 1), (worded(Word.STALLED, "3 running, 0 tok/s for 1m50s"), 20), (worded(Word.READY), 60)],
        [(7, STALLED), (37, "qwen moves again")],
    ),
    "a stall that comes and goes rings once": (
        [(serving(), 1), *[(worded(Word.STALLED, "3 running, 0 tok/s for 1m50s"), 10), (worded(Word.READY), 10)] * 5],
        [(7, STALLED)],
    ),
    "a short illness does not ring, a long one does": (
        [(serving(), 1), (worded(Word.UNHEALTHY, "503 for 25 s"), 15), (worded(Word.READY), 5),
         (worded(Word.UNHEALTHY, "503 for 25 s"), 30), (worded(Word.READY), 30)],
        [(42, UNWELL), (67, "qwen is well again")],
    ),
    "a host is lost after fifteen seconds and back after five": (
        [(linked("up"), 2), (linked("stale"), 6), (linked("down", "timed out (keepalive)"), 60), (linked("up"), 20)],
        [(24, LOST), (74, "h200-a is back")],
    ),
    "a link that flaps does not ring": (
        [(linked("up"), 2), *[(linked("down", "reset"), 10), (linked("up"), 10)] * 6],
        [],
    ),
    "a host that never answered is no loss": ([(linked("down", "no route", last_seen=None), 100)], []),
    "a hot GPU rings after ten seconds": (
        [(throttled(), 2), (throttled("thermal slowdown (hardware)"), 30), (throttled(), 100)],
        [(13, HOT), (93, "h200-a is throttled no more")],
    ),
    "a GPU at its power cap works as it should": ([(throttled("power cap"), 300)], []),
    "an accept length near one rings after half a minute": (
        [(accepting(2.4), 5), (accepting(1.02), 60), (accepting(1.2), 60), (accepting(2.4), 60)],
        [(36, ACCEPT), (156, "qwen accepts draft tokens again")],
    ),
    "an accept length that is not told says nothing": ([(accepting(None), 300)], []),
    "without requests the accept length says nothing": ([(serving(accept_length=1.0, requests_running=0), 300)], []),
    "half the speed at the same load rings after half a minute": (
        [(at_speed(700), 120), (at_speed(300), 60), (at_speed(690), 60)],
        [(151, FELL), (211, "qwen is as fast again as before")],
    ),
    "fewer requests are no fault": ([(at_speed(700), 120), (at_speed(200, running=8), 300)], []),
    "a little slower is not told, and does not take back either": (
        [(at_speed(700), 120), (at_speed(400), 100), (at_speed(300), 60), (at_speed(400), 100)],
        [(251, FELL)],
    ),
    "a restart is compared with nothing": (
        [(at_speed(700), 120), (worded(Word.STARTING), 10), (at_speed(200, since=BEGIN + 131), 300)],
        [(131, "qwen is ready after 2m53s")],
    ),
    "a full disk rings at once and is taken back when there is room": (
        [(disk(80.0), 5), (disk(96.0), 60), (disk(94.0), 100), (disk(70.0), 100)],
        [(6, FULL), (226, "h200-a has room for logs again")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_each_alert(name: str) -> None:
    rows, expected = TABLE[name]
    watch = Watch(serving())
    assert [told for state, seconds in rows for told in watch.see(state, seconds)] == expected


def test_a_server_that_was_ready_before_anybody_looked_is_no_news_though_its_evidence_came_bit_by_bit() -> None:
    watch = Watch(serving())
    assert watch.see(worded(Word.STARTING, "its port was not looked at yet"), 2) == []
    assert watch.see(worded(Word.READY, since=None), 5) == []
    assert [words for _, words in watch.see(worded(Word.CRASHED, "boom"), 5)] != []
    watch.see(worded(Word.STARTING), 5)
    assert any("is ready" in words for _, words in watch.see(worded(Word.READY), 5))


def test_what_the_state_tells_anyway_has_no_second_line_in_the_events() -> None:
    watch = Watch(serving())
    watch.see(serving())
    watch.see(crash(), 10)
    assert watch.state.happenings == ()


def test_what_only_an_alert_tells_is_a_line_in_the_events() -> None:
    watch = Watch(serving())
    watch.see(disk(96.0), 2)
    (line,) = watch.state.happenings
    assert (line.source, line.severity) == ("h200-a", "error")
    assert line.text == "has 3.2 GiB left for logs (/scratch is 96 % full)"


def test_silence_for_a_time_ends_by_itself() -> None:
    watch = Watch(serving())
    watch.see(serving())
    watch.state = silenced(watch.state, Silence(until=watch.at + 30))
    watch.see(crash(), 10)
    assert [alert.is_silenced for alert in watch.state.alerts.recent] == [True]
    watch.see(worded(Word.STARTING), 30)
    watch.see(crash(), 10)
    assert [alert.is_silenced for alert in watch.state.alerts.recent] == [True, False]


def test_silence_until_it_clears_covers_only_what_holds() -> None:
    watch = Watch(serving())
    watch.see(disk(96.0), 5)
    watch.state = silenced(watch.state, Silence(keys=frozenset(watch.state.alerts.raised)))
    watch.see(disk(70.0), 100)
    watch.see(disk(96.0), 5)
    assert [(a.is_over, a.is_silenced) for a in watch.state.alerts.recent] == [
        (False, False),
        (True, True),
        (False, False),
    ]


def test_silence_and_disks_come_as_events() -> None:
    state = reduce(serving(), DisksSampled("h200-a", (Disk("/", 12.0, 900_000),)), BEGIN)
    assert state.hosts[0].log_disks[0].mount == "/"
    assert reduce(state, AlertsSilenced(Silence(until=BEGIN + 5)), BEGIN).alerts.silence.until == BEGIN + 5


def test_a_text_of_a_host_stays_one_plain_line() -> None:
    def hostile(word: Word) -> Callable[[], FleetState]:
        return lambda: worded(word, "3 running\x1b[2J\n[/x]")

    watch = Watch(serving())
    watch.see(serving())
    watch.see(hostile(Word.STALLED)(), 10)
    (alert,) = watch.state.alerts.recent
    assert alert.text.isprintable()


def test_a_server_of_its_own_name_is_told_apart_from_others() -> None:
    def both(first: ServerState, second: ServerState) -> FleetState:
        return FleetState(BEGIN, serving().hosts, (first, second))

    well, other = fleets.qwen(), replace(fleets.qwen(), name="other")
    watch = Watch(both(well, other))
    watch.see(both(well, other))
    assert watch.see(both(well, replace(fleets.glm(), name="other")), 10)[0][1].startswith("other crashed")

"""Alerts from one second to the next: raised once, held against flapping, taken back; pure, the clock is an argument."""

from specdeck.parsing.plain import plain
from specdeck.quick_dataclass import replace
from specdeck.state.alert_book import RECENT_LENGTH, Alert, AlertBook, AlertKey, Silence, Track
from specdeck.state.alert_rules import RULES, Rule, Seen, with_speeds
from specdeck.state.settle import noted
from specdeck.state.snapshot import FleetState, Happening


def watched(state: FleetState, at: float) -> FleetState:
    """The state after all rules have looked at it once more."""
    for rule in RULES:
        for seen in rule.look(state, at):
            state = _step(state, rule, seen, at)
    book = replace(state.alerts, speeds=with_speeds(state, at))
    return replace(state, alerts=replace(book, silence=_still_silent(book, at)))


def silenced(state: FleetState, silence: Silence) -> FleetState:
    """Leave the user alone, or not any more; without a time, what holds now is silent until it has cleared."""
    return replace(state, alerts=replace(state.alerts, silence=silence))


def _step(state: FleetState, rule: Rule, seen: Seen, at: float) -> FleetState:
    key: AlertKey = (rule.kind, seen.subject)
    old = state.alerts.tracks.get(key)
    track = _stepped(old, rule, seen, at)
    if track == old:
        return state
    state = replace(state, alerts=replace(state.alerts, tracks={**state.alerts.tracks, key: track}))
    if track.is_raised == (old is not None and old.is_raised) or _is_no_news(rule, old, seen):
        return state
    return _told(state, rule, key, track, at)


def _stepped(old: Track | None, rule: Rule, seen: Seen, at: float) -> Track:
    """A change counts once it has held long enough without a break."""
    track = old or Track()
    if not track.is_raised and _is_no_news(rule, old, seen):
        return Track(is_raised=True, text=seen.text)
    if seen.is_so is None or seen.is_so == track.is_raised:
        return replace(track, changing_since=None)
    since = track.changing_since if track.changing_since is not None else at
    patience = rule.raise_after_seconds if seen.is_so else rule.clear_after_seconds
    if at - since < patience:
        return replace(track, changing_since=since)
    return Track(is_raised=seen.is_so, text=seen.text if seen.is_so else track.text)


def _is_no_news(rule: Rule, old: Track | None, seen: Seen) -> bool:
    """It was so before anybody looked; who serves may have seemed to start while its evidence came in bit by bit."""
    return bool(seen.is_so) and seen.is_old and (old is None or rule.kind == "ready")


def _told(state: FleetState, rule: Rule, key: AlertKey, track: Track, at: float) -> FleetState:
    text = track.text if track.is_raised else rule.over
    if not text:
        return state
    book = state.alerts
    alert = Alert(
        number=book.told + 1,
        kind=rule.kind,
        subject=key[1],
        text=plain(text),
        severity=rule.severity if track.is_raised else "info",
        at=at,
        is_over=not track.is_raised,
        is_silenced=book.silence.covers(key, at),
    )
    book = replace(book, recent=(*book.recent, alert)[-RECENT_LENGTH:], told=alert.number)
    line = None if rule.is_told_by_state else Happening(at, alert.subject, alert.text, alert.severity)
    return noted(replace(state, alerts=book), line)


def _still_silent(book: AlertBook, at: float) -> Silence:
    """A time that is over is no silence; of the alerts that were to be silent only those that still hold."""
    silence = book.silence
    until = silence.until if silence.until is not None and at < silence.until else None
    keys = silence.keys & set(book.raised)
    return silence if (until, keys) == (silence.until, silence.keys) else Silence(until, keys)

"""Why a login failed, in the user's words: what and where, and what mends it."""

import shlex
import socket
import time

import asyncssh

from specdeck.errors import HostUnreachable, LoginRefused, TransportError
from specdeck.transport.certificates import bare_key
from specdeck.transport.keys import Keys
from specdeck.transport.login_questions import LoginQuestions
from specdeck.transport.resolve import Route
from specdeck.transport.words import said


def why_failed(
    route: Route, keys: Keys, err: Exception, asked: LoginQuestions, *, through: str | None
) -> TransportError:
    """The error for one that asyncssh raised; `through`: the jump host that it went through."""
    place = route.place
    if isinstance(err, asyncssh.PermissionDenied):
        return LoginRefused(_also(_refused(route, keys, err, asked), route.beyond.login))
    if asked.is_unanswered:
        return LoginRefused(f"{place} asked {said(route.user)} for more than a key, and no answer came in time")
    if isinstance(err, asyncssh.ChannelOpenError):
        return HostUnreachable(f"{through or 'the jump host'} could not reach {place}: {said(err.reason)}")
    if isinstance(err, socket.gaierror):
        return HostUnreachable(f"{place}: no such host ({err.strerror})")
    return HostUnreachable(_also(_unreached(route, err), route.beyond.reach))


def _also(sentence: str, more: tuple[str, ...]) -> str:
    """With what of the configuration is missed."""
    return "; ".join((sentence, *more))


def _unreached(route: Route, err: Exception) -> str:
    place = route.place
    if isinstance(err, ConnectionRefusedError):
        return f"{place} refused the connection; is sshd running on that port?"
    if isinstance(err, TimeoutError):
        return f"{place}: {'timed out; is the host up, is the VPN on?' if err.errno else err}"
    if isinstance(err, asyncssh.KeyExchangeFailed):
        return f"{place} and specdeck have no algorithm in common: {said(err.reason)}"
    if isinstance(err, OSError):
        return f"{place} cannot be reached: {err.strerror or err}"
    return f"{place} ended the connection: {said(err)}"


def _refused(route: Route, keys: Keys, err: asyncssh.PermissionDenied, asked: LoginQuestions) -> str:
    remarks = [*keys.notes, *filter(None, (each.why_not(time.time()) for each in keys.certificates))]
    notes = f" ({'; '.join(remarks)})" if remarks else ""
    if asked.has_answered:
        return f"{route.place} refused {route.user}: the answer was not accepted{notes}; it is not sent again by itself"
    if keys.locked:
        files = " ".join(shlex.quote(str(path)) for path in keys.locked)
        return (
            f"{route.place} refused {route.user}: the key {files} is locked and not in the agent; run: ssh-add {files}"
        )
    if keys.touched:
        files = " ".join(shlex.quote(str(path)) for path in keys.touched)
        return (
            f"{route.place} refused {route.user}: {files} is on a security key, which specdeck uses through the agent only; "
            f"run: ssh-add {files}"
        )
    if not keys.pairs:
        return (
            f"{route.place}: no key to log in with as {route.user}: no agent, no identity file{notes}{_wanted(asked)}"
        )
    count = len({bare_key(pair) for pair in keys.pairs})
    words = f"{count} key{'s' if count > 1 else ''}"
    return f"{route.place} refused the login of {route.user} with {words}{notes}: {said(err.reason)}{_wanted(asked)}"


def _wanted(asked: LoginQuestions) -> str:
    """What the host would have taken beside keys."""
    if not asked.wanted:
        return ""
    why = "the question was not answered" if asked.can_ask else "nobody can be asked here: run specdeck in a terminal"
    return f"; it takes {' or '.join(asked.wanted)}, and {why}"

"""Why a login failed, in the user's words: what and where, and what mends it."""

import re
import shlex
import socket
import time

import asyncssh

from specdeck.errors import HostUnreachable, LoginRefused, TransportError
from specdeck.transport.algorithms import known_of
from specdeck.transport.certificates import bare_key
from specdeck.transport.keys import Keys
from specdeck.transport.login_questions import LoginQuestions
from specdeck.transport.proxy import ProxyFailed
from specdeck.transport.resolve import Route
from specdeck.transport.words import said

_NO_MATCH = re.compile(r"No matching (.+) algorithm found, sent \S+ and received (\S+)")
"""What asyncssh says where the two lists have nothing in common."""
_KEYWORDS = {"key exchange": "KexAlgorithms", "encryption": "Ciphers", "MAC": "MACs"}

UNSAID = (
    "ended the connection while algorithms were agreed on; does it have one of KexAlgorithms, HostKeyAlgorithms, Ciphers, MACs "
    "in common with your SSH configuration? `ssh -vv` shows what it offers"
)
"""A host that finds nothing in common may be gone before its own list was read."""


def why_failed(
    route: Route, keys: Keys, err: Exception, asked: LoginQuestions, *, through: str | None
) -> TransportError:
    """The error for one that asyncssh raised; `through`: the jump host that it went through."""
    place = route.place
    if isinstance(err, asyncssh.PermissionDenied):
        return LoginRefused(_also(_refused(route, keys, err, asked), route.beyond.login))
    if isinstance(err, asyncssh.DisconnectError) and "authentication failures" in err.reason:
        return LoginRefused(_too_many(route, keys, err, asked))
    if asked.has_answered and isinstance(err, asyncssh.ConnectionLost | asyncssh.DisconnectError | ConnectionError):
        return LoginRefused(
            f"{place} ended the connection after the answer of {said(route.user)}; it is not tried again by itself"
        )
    if asked.is_unanswered:
        return LoginRefused(f"{place} asked {said(route.user)} for more than a key, and no answer came in time")
    if isinstance(err, asyncssh.ChannelOpenError):
        return HostUnreachable(f"{through or 'the jump host'} could not reach {place}: {said(err.reason)}")
    if isinstance(err, socket.gaierror) and err.errno == socket.EAI_AGAIN:
        return HostUnreachable(
            f"{place}: no name server answers for it ({err.strerror}); is the network up, is the VPN on?"
        )
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
    if isinstance(err, ProxyFailed):
        return f"{place}: {err}"
    if isinstance(err, TimeoutError):
        return f"{place}: {'timed out; is the host up, is the VPN on?' if err.errno else err}"
    if isinstance(err, asyncssh.KeyExchangeFailed):
        return f"{place} {_nothing_in_common(err.reason)}"
    if isinstance(err, OSError):
        return f"{place} cannot be reached: {err.strerror or err}"
    return f"{place} ended the connection: {said(err)}"


def _nothing_in_common(reason: str) -> str:
    """Which kind of algorithm it was, and the line that allows one that both know."""
    found = _NO_MATCH.fullmatch(reason)
    key = _KEYWORDS.get(found[1]) if found else None
    if reason == UNSAID:
        return reason
    if found is None or key is None:
        return f"and specdeck have no algorithm in common: {said(reason)}"
    offered = [name for name in found[2].split(",") if not name.startswith(("kex-strict-", "ext-info-"))]
    what = f"offers only {said(', '.join(offered))} as {found[1]} algorithm"
    if known := known_of(key, offered):
        return f"{what}, which your SSH configuration does not allow; if it must be: {key} +{said(known[0])}"
    return f"{what}, which specdeck does not know: allow another one there ({key} in sshd_config)"


def _refused(route: Route, keys: Keys, err: asyncssh.PermissionDenied, asked: LoginQuestions) -> str:
    remarks = [*keys.notes, *filter(None, (each.why_not(time.time()) for each in keys.certificates))]
    notes = f" ({'; '.join(remarks)})" if remarks else ""
    if asked.has_answered:
        return f"{route.place} refused {route.user}: the answer was not accepted{notes}; it is not sent again by itself"
    if keys.locked:
        files = " ".join(shlex.quote(str(path)) for path in keys.locked)
        return f"{route.place} refused {route.user}: the key {files} is locked and not in the agent{notes}; run: ssh-add {files}"
    if keys.touched:
        files = " ".join(shlex.quote(str(path)) for path in keys.touched)
        return (
            f"{route.place} refused {route.user}: {files} is on a security key, which specdeck uses through the agent only; "
            f"run: ssh-add {files}"
        )
    if not route.may_use_keys:
        why = "PubkeyAuthentication or PreferredAuthentications leaves keys out"
        return f"{route.place} refused {route.user}: {why}{_wanted(asked)}"
    if not keys.pairs:
        where = "no agent, no identity file"
        if keys.left_out:
            where = f"PubkeyAcceptedAlgorithms leaves out {keys.left_out} key{'s' if keys.left_out > 1 else ''}"
        return f"{route.place}: no key to log in with as {route.user}: {where}{notes}{_wanted(asked)}"
    count = len({bare_key(pair) for pair in keys.pairs})
    words = f"{count} key{'s' if count > 1 else ''}"
    return f"{route.place} refused the login of {route.user} with {words}{notes}: {said(err.reason)}{_wanted(asked)}"


def _too_many(route: Route, keys: Keys, err: asyncssh.DisconnectError, asked: LoginQuestions) -> str:
    """The host counts each key that it does not know (MaxAuthTries), and so does what locks addresses out."""
    sentence = f"{route.place} refused {route.user}: {said(err.reason)}"
    if asked.has_answered or len(keys.pairs) < 2:
        return f"{sentence}; it is not tried again by itself"
    count = len({bare_key(pair) for pair in keys.pairs})
    return f"{sentence}, after some of {count} keys: name the right one first (IdentityFile), with IdentitiesOnly yes"


def _wanted(asked: LoginQuestions) -> str:
    """What the host would have taken beside keys."""
    if not asked.wanted:
        return ""
    why = "the question was not answered" if asked.can_ask else "nobody can be asked here: run specdeck in a terminal"
    return f"; it takes {' or '.join(asked.wanted)}, and {why}"

"""What an answer of a health endpoint means."""

import re

from specdeck.config.objects import Tls
from specdeck.parsing.plain import plain
from specdeck.services.api_keys import Key
from specdeck.state.snapshot import HttpWitness
from specdeck.transport.asking import NoReply, Reply

_TAG = re.compile(rb"<[^>]{0,200}>")
_LONGEST_WORDS = 80


def witness(
    reply: Reply | NoReply, at: float, key: Key | None = None, *, tls: Tls | None = None, is_known: bool = True
) -> HttpWitness:
    """`key`: what was found of the server's key; `tls`: how it was asked; `is_known`: its engine has such an endpoint."""
    if isinstance(reply, NoReply):
        return HttpWitness(reply.why, at=at, detail=reply.detail)
    status = reply.status
    if status in (401, 403):
        return HttpWitness("key-needed", status, reply.seconds, at, _why_refused(reply, key or Key()))
    if 200 <= status < 300:
        return HttpWitness("ok", status, reply.seconds, at, _trust_of(tls))
    if not is_known and 400 <= status < 500:
        return HttpWitness("ok", status, reply.seconds, at, "it answers, and has no /health")
    return HttpWitness("unavailable" if status == 503 else "error", status, reply.seconds, at)


def _why_refused(reply: Reply, key: Key) -> str:
    """403 mostly comes of something in front of the server: its own words say of what."""
    said = plain(_TAG.sub(b" ", reply.body[:4096]).decode("utf-8", "replace"))[:_LONGEST_WORDS]
    front = f'"{said}"' if reply.status == 403 and said and not said.startswith("{") else ""
    return "; ".join(filter(None, (front, key.trouble)))


def _trust_of(tls: Tls | None) -> str:
    return "certificate not verified" if tls is not None and not tls.verify and not tls.ca else ""

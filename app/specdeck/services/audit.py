"""The audit log of a server on its host: who did what, when, with which exact command, and how it ended. Only ever appended to."""

import json
import re

from specdeck.engines.command import Command
from specdeck.parsing.plain import plain
from specdeck.parsing.secrets import without_secrets
from specdeck.quick_dataclass import dataclass, replace
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text

_SECRET_NAME = re.compile(r"(?:^|[-_]|api)(?:key|token|secret|password|passwd|credentials?)$", re.IGNORECASE)
"""`HF_TOKEN`, `--api-key`; not `--tokenizer-path` nor `--max-num-batched-tokens`."""
_HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class AuditLine:
    """`AT<TAB>ACT<TAB>WHO<TAB>KIND<TAB>PROFILE<TAB>STEP<TAB>DETAIL`; STEP `result` ends an act, `command` tells what is started."""

    at: float
    """Unix seconds by the host's clock."""
    act: str
    """The same for all lines of one act."""
    who: str
    kind: str
    profile: str
    step: str
    detail: str


def for_audit(command: Command) -> str:
    """The exact command as one line of JSON, with `***` where a secret stands."""
    words = list(command.argv)
    for at, word in enumerate(words[1:], 1):
        flag = words[at - 1]
        if flag.startswith("--") and "=" not in flag and _names_a_secret(flag) and not word.startswith("-"):
            words[at] = _HIDDEN
    hidden = replace(
        command,
        argv=tuple(_without_secret(word) for word in words),
        env=tuple((name, _HIDDEN if _names_a_secret(name) else without_secrets(value)) for name, value in command.env),
    )
    told = {
        "argv": hidden.argv,
        "env": hidden.env,
        "workdir": hidden.workdir,
        "setup": [*map(without_secrets, hidden.setup)],
    }
    return json.dumps(told, separators=(",", ":"))


def _names_a_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def _without_secret(word: str) -> str:
    flag, has_value, _ = word.partition("=")
    if flag.startswith("--") and has_value and _names_a_secret(flag):
        return f"{flag}={_HIDDEN}"
    return without_secrets(word)


async def read_audit(transport: Transport, server: str, count: int) -> tuple[AuditLine, ...]:
    """The newest lines, oldest first. Raises TransportError."""
    outcome = await transport.run(Script(script_text("audit"), (server, str(count))), limit_seconds=20.0)
    return parse_audit(outcome.stdout)


def parse_audit(answer: bytes) -> tuple[AuditLine, ...]:
    """The lines that make sense."""
    rows = (line.split("\t", 6) for line in answer.decode("utf-8", "replace").split("\n"))
    return tuple(
        AuditLine(float(words[0]), *(plain(word) for word in words[1:]))
        for words in rows
        if len(words) == 7 and words[0].isdecimal() and len(words[0]) < 16
    )

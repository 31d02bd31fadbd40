"""What check.sh and check_server.sh said, as checks: pure."""

from collections.abc import Sequence

from specdeck.config.objects import Server
from specdeck.parsing.nvidia_smi_complaints import why_no_rows
from specdeck.parsing.plain import plain
from specdeck.services.deck import Check

_NEEDED = {
    "setsid": "launching needs `setsid`: install util-linux",
    "tail": "following logs needs `tail`: install coreutils",
}
_LOG = {
    "missing": "is not there: correct `log` of this server, or start it",
    "unreadable": "may not be read by this user: chmod it, or log in as its owner",
    "folder": "is a folder: name the file in `log` of this server",
}


def host_checks(answer: bytes) -> tuple[Check, ...]:
    """Everything but forwarding."""
    told = _told(answer)
    return (
        Check("shell", "passed", f"/bin/sh from the login shell {_first(told, '@shell')}"),
        _processes(_first(told, "@proc")),
        _state_folder(told),
        *(Check("tools", "failed", _NEEDED[name]) for name in _all(told, "@missing") if name in _NEEDED),
        _nvidia_smi(told),
    )


def few_sessions_check(allowed: int) -> Check:
    """Of a host whose MaxSessions is small: it works, slower."""
    if allowed <= 1:
        how = (
            "one session at a time is allowed (MaxSessions 1): everything takes turns, so what is seen is seconds older"
        )
    else:
        how = f"{allowed} sessions at a time are allowed (MaxSessions {allowed}): one is kept for your acts, logs take turns"
    return Check("sessions", "unknown", f"{how}; 10 in its sshd_config would do")


def forwarding_check(why_not: str | None, answer: bytes) -> Check:
    """HTTP to the servers: through the connection, through curl on the host, or not at all."""
    if why_not is None:
        return Check("forwarding", "passed")
    if "curl" in _all(_told(answer), "@missing"):
        return Check(
            "forwarding", "failed", f"{why_not}, and has no curl: allow it (AllowTcpForwarding local) or install curl"
        )
    return Check("forwarding", "unknown", f"{why_not}; curl there asks the servers instead, each time in a session")


def server_checks(server: Server, answer: bytes) -> list[Check]:
    """Its interpreter, folder and log."""
    told = _told(answer)
    found, name = _first(told, "@python"), f"interpreter of {server.name}"
    if found:
        checks = [Check(name, "passed", found)]
    elif missing := _first(told, "@no-python"):
        checks = [Check(name, "failed", f"{missing} is not on the host: set `python` of this server")]
    else:
        checks = [Check(name, "failed", "its `setup` lines end the shell that they run in")]
    for folder in _all(told, "@no-workdir"):
        checks.append(Check(f"folder of {server.name}", "failed", f"{folder} is not there: correct `workdir`"))
    return [*checks, *_log(server, told)]


def _log(server: Server, told: Sequence[tuple[str, str]]) -> list[Check]:
    word, _, path = _first(told, "@log").partition(" ")
    if not word:
        return []
    if word == "readable":
        return [Check(f"log of {server.name}", "passed", path)]
    return [Check(f"log of {server.name}", "failed", f"{path} {_LOG.get(word, 'cannot be read')}")]


def _processes(word: str) -> Check:
    if word == "seen":
        return Check("processes", "passed")
    if word == "hidden":
        text = "those of other users are hidden (hidepid): servers of others and who holds a GPU cannot be told"
        return Check("processes", "unknown", text)
    return Check("processes", "failed", "there is no /proc: is this Linux?")


def _state_folder(told: Sequence[tuple[str, str]]) -> Check:
    if bad := _first(told, "@state-bad"):
        return Check("state folder", "failed", f"cannot be written: {bad}; nothing can be launched or stopped")
    return Check("state folder", "passed", _first(told, "@state-fine"))


def _nvidia_smi(told: Sequence[tuple[str, str]]) -> Check:
    lines, status = _all(told, "@smi"), _first(told, "@smi-end")
    if status == "0" and lines:
        count = f"{len(lines)} GPU{'s' if len(lines) > 1 else ''}"
        return Check("nvidia-smi", "passed", f"{count}: {', '.join(lines[0].split(', ')[1:])}")
    return Check(
        "nvidia-smi", "failed", why_no_rows("\n".join(lines), int(status) if status.isdecimal() else None).sentence
    )


def _told(answer: bytes) -> list[tuple[str, str]]:
    """Tag and rest of each line, fit for a terminal."""
    lines = answer.decode("utf-8", "replace").split("\n")
    return [(tag, plain(rest)) for tag, _, rest in (line.partition(" ") for line in lines) if tag.startswith("@")]


def _all(told: Sequence[tuple[str, str]], tag: str) -> list[str]:
    return [rest for name, rest in told if name == tag]


def _first(told: Sequence[tuple[str, str]], tag: str) -> str:
    return next(iter(_all(told, tag)), "")

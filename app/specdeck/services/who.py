"""Who acts: for the journal, the lock and the audit log. One word, without spaces."""

import getpass
import os
import re
import subprocess

_UNSAFE = re.compile(r"[^\w.@+-]+")


def whoami() -> str:
    """`SPECDECK_USER`, else the user of the tmux client in use (two people share a session), else `user@this-machine`."""
    said = os.environ.get("SPECDECK_USER") or _tmux_client_user() or _login()
    return _UNSAFE.sub("_", said)[:64] or "unknown"


def _login() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # no such entry in the password file: a container
        user = str(os.getuid())
    return f"{user}@{os.uname().nodename.partition('.')[0]}"


def _tmux_client_user() -> str:
    """The user of the client that is attached now; empty without tmux, or where tmux is too old to say."""
    if "TMUX" not in os.environ:
        return ""
    try:
        answer = subprocess.run(
            ["tmux", "display-message", "-p", "#{client_user}"],  # noqa: S607 - the user's own tmux
            capture_output=True,
            timeout=2,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.decode("utf-8", "replace").strip()

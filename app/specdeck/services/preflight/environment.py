"""How the environment that the server gets differs from what the user's own terminal on the host has."""

import re
from collections.abc import Iterator, Mapping

from specdeck.config.objects import Server
from specdeck.engines.command import Command
from specdeck.services.preflight.told import Told

_PASSWORD = re.compile(r"//[^/@\s]*@")


def environment_notes(told: Told, server: Server, command: Command) -> tuple[str, ...]:
    """One sentence a difference; none where there is none."""
    if "login-silent" in told:
        return ("Your interactive login shell on the host does not tell its environment in time: it is not compared.",)
    ours = _variables(told, "ours") | dict(command.env)
    theirs = _variables(told, "login")
    return tuple(_notes(told, server, ours, theirs))


def _notes(told: Told, server: Server, ours: Mapping[str, str], theirs: Mapping[str, str]) -> Iterator[str]:
    there, here = told.first("login-python"), told.first("python")
    if there and here and there != here:
        yield f"In your terminal on the host {server.python} is {there}, the server gets {here}: set `python` or `setup`."
    folders = set(ours.get("PATH", "").split(":"))
    if extra := [
        folder for folder in dict.fromkeys(theirs.get("PATH", "").split(":")) if folder and folder not in folders
    ]:
        yield f"In your terminal on the host PATH also has {', '.join(extra)}; the server does not see that."
    for name in sorted(theirs.keys() - {"PATH"}):
        if theirs[name] != ours.get(name):
            said = (
                f"the server has {_safe(ours[name])}"
                if name in ours
                else f"the server starts without: add it to `env` of {server.name} if it needs it"
            )
            yield f"In your terminal on the host {name} is {_safe(theirs[name])}; {said}."


def _variables(told: Told, tag: str) -> dict[str, str]:
    return {name: value for name, _, value in (line.partition("=") for line in told.all(tag))}


def _safe(value: str) -> str:
    """A proxy's address may hold a password."""
    return _PASSWORD.sub("//***@", value)

"""Servers, hosts and profiles as entries of files: what is said there and nothing that holds anyway."""

from collections.abc import Mapping
from dataclasses import fields

from specdeck.config.objects import ArgValue, Host, Profile, Server
from specdeck.config.yaml_text import Number, Short, Tree, block

_FIRST = ("model", "draft_model", "port", "bind", "python", "workdir")
_DEFAULTS = {each.name: each.default for each in fields(Server)}
_PLAIN = (
    *("login_shell", "log", "drain_seconds", "kill_after_seconds", "rollback"),
    *("api_key_env", "api_key_file"),
)


def server_entry(server: Server) -> dict[str, Tree]:
    """The keys of a server, defaults left out."""
    entry: dict[str, Tree] = {}
    for name in (*_FIRST, *_PLAIN):
        value = getattr(server, name)
        if value != _DEFAULTS.get(name):
            entry[name] = value
    entry |= _launch_keys(server.args, server.env)
    if server.setup:
        entry["setup"] = list(server.setup)
    if server.profiles:
        entry["profiles"] = list(server.profiles)
    return entry


def host_entry(host: Host, servers: Mapping[str, Tree]) -> dict[str, Tree]:
    """The keys of a host; `ssh` is said even where it is its name."""
    return {"ssh": host.ssh} | ({"servers": dict(servers)} if servers else {})


def profile_text(profile: Profile) -> str:
    """The file of a profile that extends no other."""
    entry: dict[str, Tree] = {"engine": profile.engine}
    if profile.requires:
        entry["requires"] = profile.requires
    if profile.describe:
        entry["describe"] = profile.describe
    return "".join(f"{line}\n" for line in block(entry | _launch_keys(profile.args, profile.env)))


def _launch_keys(args: Mapping[str, ArgValue], env: Mapping[str, str]) -> dict[str, Tree]:
    keys: dict[str, Tree] = {}
    if args:
        keys["args"] = Short({name: _argument(value) for name, value in args.items()})
    if env:
        keys["env"] = Short(env)
    return keys


def _argument(value: ArgValue) -> Tree:
    if isinstance(value, tuple):
        return [_argument(each) for each in value]  # type: ignore[misc]
    return Number(value) if isinstance(value, str) else value

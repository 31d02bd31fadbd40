"""Fleet files and targets into a frozen fleet: every problem of the fleet and of its profiles is shown together."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from specdeck.config import places, schema
from specdeck.config.groups import group_of, with_ranks
from specdeck.config.objects import Fleet, Host, Profile, Server, Tls
from specdeck.config.placeholders import used_in, values_of
from specdeck.config.problems import Problems, nearest
from specdeck.config.profile import check_launch_keys, load_profiles, placeholders_of, texts_of, usable
from specdeck.config.reader import Found, read
from specdeck.config.targets import choose_hosts
from specdeck.config.yaml_source import load
from specdeck.errors import ConfigError
from specdeck.quick_dataclass import replace

_PLAIN_KEYS = (
    *("model", "port", "bind", "python", "draft_model", "args", "env", "workdir", "setup", "login_shell"),
    *("profiles", "log", "drain_seconds", "kill_after_seconds", "rollback", "api_key_env", "api_key_file"),
)


def load_fleet(path: Path | None, targets: Sequence[str] = ()) -> Fleet:
    """The fleet of a file (else `$SPECDECK_FLEET`, else the usual places), narrowed to or joined by targets.

    Raises ConfigError with all problems, UsageError for a target that ssh could not take.
    """
    chosen = find_fleet(path)
    problems = Problems()
    fleet = read_fleet(chosen, problems)
    problems.raise_if_any()
    if chosen is None and not targets:
        raise ConfigError(_nothing_to_show())
    return replace(fleet, hosts=choose_hosts(fleet.hosts, targets))


def read_fleet(path: Path | None, problems: Problems) -> Fleet:
    """What can be read of a fleet file and of the profiles that it can use; without a file, the profiles alone."""
    profiles = load_profiles(places.folders_of("profiles", path), problems)
    hosts = _read_hosts(path, profiles, problems) if path else ()
    return Fleet(hosts, usable(profiles), path)


def find_fleet(path: Path | None) -> Path | None:
    """The fleet file to read: one that was named (it must be there), else the first of the usual ones that is there."""
    named = places.named_fleet(path)
    return named or next((usual for usual in places.usual_fleets() if usual.exists()), None)


def _nothing_to_show() -> str:
    looked = " and ".join(str(usual) for usual in places.usual_fleets())
    return f"there is no fleet file (looked for {looked}): name a host as ssh takes it (specdeck root@gpu-a) or try specdeck demo"


def notes_of(fleet: Fleet) -> tuple[str, ...]:
    """What is no mistake and may still surprise."""
    return tuple(_notes(fleet))


def _notes(fleet: Fleet) -> Iterator[str]:
    for host in fleet.hosts:
        if fleet.source and not host.servers:
            yield f"host {host.name} has no servers: specdeck shows those that it finds there"
        for server in host.servers:
            if len(server.profiles) < 2:
                count = "one profile" if server.profiles else "no profiles"
                yield f"server {host.name}/{server.name} has {count}: a pivot needs two"


def _read_hosts(path: Path, profiles: Mapping[str, Profile | None], problems: Problems) -> tuple[Host, ...]:
    source, node = load(path, problems)
    content = read(node, schema.FLEET, source) if node is not None else None
    if content is None:
        return ()
    hosts = content.under("hosts")
    if "hosts" in content and not hosts:
        problems.add(content["hosts"].place, "hosts", "there is no host in it")
    read_hosts = tuple(_host(name, found, profiles, problems, path.parent) for name, found in hosts.items())
    return with_ranks(read_hosts, hosts, problems)


def _host(name: str, found: Found, profiles: Mapping[str, Profile | None], problems: Problems, folder: Path) -> Host:
    servers = found.under("servers")
    _check_ports(servers, problems)
    config = found.get("ssh_config")
    ssh = found.get("ssh", name)
    built = [_server(key, name, ssh, entry, profiles, problems) for key, entry in servers.items()]
    return Host(
        name=name,
        ssh=ssh,
        ssh_config=folder / Path(config).expanduser() if config else None,
        env=found.get("env", {}),
        servers=tuple(server for server in built if server is not None),
    )


def _check_ports(servers: Mapping[str, Found], problems: Problems) -> None:
    """Two servers of one host cannot listen on one port."""
    owners: dict[int, str] = {}
    for name, found in servers.items():
        if "port" in found:
            port = found["port"]
            if (owner := owners.setdefault(port.value, name)) != name:
                problems.add(port.place, port.key, f"{port.value} is the port of {owner} on this host already")


def _server(
    name: str, host: str, ssh: str, found: Found, profiles: Mapping[str, Profile | None], problems: Problems
) -> Server | None:
    check_launch_keys(found, problems)
    _check_profiles(found, profiles, problems)
    if "model" not in found or "port" not in found:
        return None  # said by the reader
    server = Server(
        name=name,
        host=host,
        **{key: found.get(key) for key in _PLAIN_KEYS if key in found},
        tls=_tls(found),
        group=group_of(name, ssh, found),
    )
    _check_placeholders(server, found, profiles, problems)
    return server


def _tls(found: Found) -> Tls | None:
    return Tls(**found["tls"].plain()) if "tls" in found else None


def _check_profiles(found: Found, profiles: Mapping[str, Profile | None], problems: Problems) -> None:
    """Its profiles exist, once each."""
    seen: set[str] = set()
    for entry in found["profiles"].value if "profiles" in found else ():
        name: str = entry.value
        if name in seen:
            problems.add(entry.place, entry.key, f"{name} is in the list twice")
        elif name not in profiles:
            problems.add(entry.place, entry.key, f"there is no profile {name}{nearest(name, profiles)}")
        seen.add(name)


def _check_placeholders(
    server: Server, found: Found, profiles: Mapping[str, Profile | None], problems: Problems
) -> None:
    """The server says everything that its own arguments and its profiles use."""
    values = values_of(server)
    for entry in (*found.under("args").values(), *found.under("env").values()):
        for name in (used for text in texts_of(entry.plain()) for used in used_in(text)):
            if values[name] is None:
                problems.add(entry.place, entry.key, f"uses {{{name}}}, and this server has no {name}")
    for entry in found["profiles"].value if "profiles" in found else ():
        profile = profiles.get(entry.value)
        for name in sorted(placeholders_of(profile)) if profile else ():
            if values[name] is None:
                problems.add(entry.place, entry.key, f"{entry.value} uses {{{name}}}, and this server has no {name}")

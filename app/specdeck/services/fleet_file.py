"""Writes hosts, servers and profiles into the user's files: checked by reading them back, then all at once or not at all."""

import difflib
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from specdeck.config import places
from specdeck.config.entries import host_entry, profile_text, server_entry
from specdeck.config.fleet import find_fleet, read_fleet
from specdeck.config.objects import Fleet, Host, Profile, Server
from specdeck.config.problems import Problems
from specdeck.config.yaml_edit import CannotEdit, with_entry
from specdeck.errors import ConfigError
from specdeck.quick_dataclass import dataclass, replace


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after."""

    path: Path
    old: str | None
    """None: there is no such file yet."""
    new: str

    @property
    def difference(self) -> str:
        """As `diff -u` writes it."""
        old = (self.old or "").splitlines(keepends=True)
        names = ("/dev/null" if self.old is None else str(self.path), str(self.path))
        lines = difflib.unified_diff(old, self.new.splitlines(keepends=True), *names)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Addition:
    """What comes into the files; checked, and not yet written."""

    changes: tuple[FileChange, ...]
    fleet: Fleet
    """As it will be read."""

    def write(self) -> None:
        """Profiles first, the fleet file last. Raises ConfigError; what was written before is taken back."""
        done: list[FileChange] = []
        try:
            for change in self.changes:
                _write(change)
                done.append(change)
        except OSError as error:
            for change in done:
                _take_back(change)
            raise ConfigError(f"{error.filename or 'the file'} cannot be written: {error.strerror}") from error
        except ConfigError:
            for change in done:
                _take_back(change)
            raise


def fleet_path(named: Path | None) -> Path:
    """The file to write: the one that is read, else the one that was named, else the one in the configuration folder."""
    wanted = places.named_fleet(named)
    return wanted or find_fleet(None) or places.config_folder() / "fleet.yaml"


def add_host(path: Path, host: Host) -> Addition:
    """A host without servers. Raises ConfigError."""
    return add(path, {host.name: (host, ())})


def add(path: Path, entries: Mapping[str, tuple[Host, Sequence[Server]]], profiles: Sequence[Profile] = ()) -> Addition:
    """Hosts by name with the servers that are new there. Raises ConfigError where the result would not say just this."""
    old = _text_of(path)
    before = _read(path) if old is not None else Fleet((), {})
    new = old or ""
    try:
        for name, (host, servers) in entries.items():
            tree = {server.name: server_entry(server) for server in servers}
            if before.host(name) is None:
                new = with_entry(new, ("hosts",), {name: host_entry(host, tree)})
            elif tree:
                new = with_entry(new, ("hosts", name, "servers"), tree)
    except CannotEdit as error:
        raise CannotEdit(f"{path}: {error}") from error
    folder = path.parent / "profiles"
    files = [FileChange(folder / f"{each.name}.yaml", None, profile_text(each)) for each in profiles]
    files = [each for each in files if _text_of(each.path) != each.new]
    taken = next((change.path for change in files if change.path.exists()), None)
    if taken is not None:
        raise ConfigError(f"{taken} is there already and says something else: move it away")
    changes = (*files, *(() if new == old else (FileChange(path, old, new),)))
    return Addition(changes, _checked(path, before, new, files, entries))


def _read(path: Path) -> Fleet:
    problems = Problems()
    fleet = read_fleet(path, problems)
    problems.raise_if_any()
    return fleet


def _text_of(path: Path) -> str | None:
    """As it stands, line ends included."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error


def _checked(
    path: Path,
    before: Fleet,
    text: str,
    files: Sequence[FileChange],
    entries: Mapping[str, tuple[Host, Sequence[Server]]],
) -> Fleet:
    """Read the result elsewhere: it has what is new, and all else as it was."""
    with tempfile.TemporaryDirectory(prefix="specdeck-") as folder:
        copy = Path(folder) / path.name
        beside = path.parent / "profiles"
        if beside.is_dir():
            shutil.copytree(beside, copy.parent / "profiles", ignore_dangling_symlinks=True)
        (copy.parent / "profiles").mkdir(exist_ok=True)
        for change in files:
            (copy.parent / "profiles" / change.path.name).write_bytes(change.new.encode())
        copy.write_bytes(text.encode())
        after = read_fleet(copy, problems := Problems())
    _refuse_problems(problems, copy.parent, path.parent)
    wanted = {host.name: _bare(host) for host in before.hosts}
    for name, (host, servers) in entries.items():
        base = wanted.get(name) or _bare(replace(host, servers=()))
        wanted[name] = replace(base, servers=(*base.servers, *servers))
    found = {host.name: _bare(host) for host in after.hosts}
    for name, host in wanted.items():
        if _comparable(found.get(name)) != _comparable(host):
            raise CannotEdit(f"{path}: {name} would not be read as it should: write it by hand")
    return replace(after, source=path)


def _refuse_problems(problems: Problems, there: Path, here: Path) -> None:
    """In the words of the file that will be written."""
    if problems.found:
        text = "\n".join(map(str, sorted(set(problems.found)))).replace(f"{there}/", f"{here}/")
        raise ConfigError(text)


def _bare(host: Host) -> Host:
    """Without what is resolved by the folder of its file."""
    return replace(host, ssh_config=None)


def _comparable(host: Host | None) -> object:
    """Numbers of a command line are the same in quotes and without."""
    if host is None:
        return None
    servers = {
        server.name: replace(server, args={}, env=dict(server.env)) for server in host.servers if not server.is_rank
    }
    args = {
        server.name: {name: _words(value) for name, value in server.args.items()}
        for server in host.servers
        if not server.is_rank
    }
    return host.name, host.ssh, dict(host.env), servers, args


def _words(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(map(str, value))
    return value if value is None or isinstance(value, bool) else str(value)


def _write(change: FileChange) -> None:
    """In one step, with the rights of the old file; a link stays a link."""
    path = change.path.resolve()
    if _text_of(path) != change.old:
        raise ConfigError(f"{change.path} was changed meanwhile: nothing was written")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(change.new.encode())
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, path.stat().st_mode & 0o7777 if change.old is not None else 0o666 & ~_umask())
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _take_back(change: FileChange) -> None:
    """Of several files all or none."""
    if change.old is None:
        change.path.unlink(missing_ok=True)
    else:
        change.path.resolve().write_bytes(change.old.encode())

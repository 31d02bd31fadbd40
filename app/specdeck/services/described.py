"""A process that others started, as the tagged lines of process.sh tell it: what it runs, where it writes, in what it lives."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field

from specdeck.parsing.cgroup import Owner, owner_of
from specdeck.parsing.plain import plain
from specdeck.parsing.secrets import is_secret
from specdeck.quick_dataclass import dataclass, replace

_LOGINS_OWN = ("LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "PATH")
"""Variables that count only where they are not those of the login that specdeck itself gets."""
_TAGS = {
    f"@{name}": name
    for name in ("arg", "cwd", "env", "secret", "no-env", "program", "cgroup", "uid", "nspid", "apart", "kept")
} | {"@out": "output", "@err": "output"}
_Told = defaultdict[str, list[str]]
"""What was told of one process."""
_DELETED = " (deleted)"


@dataclass(frozen=True, slots=True)
class Described:
    """One process."""

    pid: int
    argv: tuple[str, ...] = ()
    workdir: str = ""
    outputs: tuple[str, ...] = field(default=())
    """Where stdout and stderr lead."""
    env: Mapping[str, str] = field(default_factory=dict)
    """What decides how an engine works; no secrets."""
    secret_names: tuple[str, ...] = ()
    is_env_hidden: bool = False
    """This user may not read its environment."""
    program: str = ""
    """The first word of the command line with its folder."""
    cgroup: str = ""
    owner: Owner | None = None
    """Who looks after it."""
    user_id: int | None = None
    apart: frozenset[str] = frozenset()
    """Namespaces that are not ours: `mnt`, `net`, `pid`."""
    inner_pid: int | None = None
    """What it is called in its own pid namespace."""
    kept_log: str | None = None
    """The file in which the runtime of its container keeps its output."""

    @property
    def is_contained(self) -> bool:
        """It sees another file system than we do."""
        return "mnt" in self.apart

    @property
    def log(self) -> str | None:
        """The first output that is a file, by a path that can be read here; else what its container keeps."""
        path = next((path for path in self.outputs if _is_log(path)), None)
        if path is None:
            return self.kept_log
        return f"/proc/{self.pid}/root{path}" if self.is_contained else path

    @property
    def no_log(self) -> str:
        """Why it has no log that can be read, in words."""
        outputs = [path for path in dict.fromkeys(self.outputs) if path]
        if not outputs:
            return "where its output goes may not be read by this user"
        return " and ".join(dict.fromkeys(self._leads_to(path) for path in outputs))

    def _leads_to(self, path: str) -> str:
        if path == "/dev/null":
            return "its output is thrown away (/dev/null)"
        if path.startswith(("/dev/pts/", "/dev/tty", "/dev/console")):
            return f"its output goes to a terminal ({path})"
        if path.endswith(_DELETED):
            return (
                f"its log {plain(path.removesuffix(_DELETED))} was deleted; what it writes goes nowhere that has a name"
            )
        if path.startswith("socket:"):
            unit = self.owner.name if self.owner and self.owner.kind == "systemd" else ""
            return (
                f"its output goes into the journal (journalctl -u {unit})" if unit else "its output goes into a socket"
            )
        if not path.startswith("pipe:"):
            return f"its output goes to {plain(path)}, which is no file"
        return self._pipe

    @property
    def _pipe(self) -> str:
        if self.owner is None or self.owner.kind in ("systemd", "slurm"):
            return "its output goes into a pipe, to another program"
        words = f"its output is kept by {self.owner.words}, where this user may not read it"
        return f"{words} ({self.owner.log_command})" if self.owner.log_command else words


def read_descriptions(answer: bytes) -> Mapping[int, Described]:
    """The answer of describe.sh or discover.sh, by pid; lines that make no sense are passed over."""
    told: dict[int, _Told] = {}
    ours: list[str] = []
    own: dict[str, str] = {}
    for line in answer.decode("utf-8", "surrogateescape").split("\n"):
        tag, _, rest = line.partition(" ")
        if tag == "@ours":
            ours.append(rest)
        elif tag == "@own":
            name, _, value = rest.partition("=")
            own[name] = value
        elif tag in _TAGS:
            number, _, value = rest.partition(" ")
            if number.isdecimal():
                told.setdefault(int(number), defaultdict(list))[_TAGS[tag]].append(value)
    return {pid: _judged(_described(pid, each), "\n".join(ours), own) for pid, each in told.items()}


def _described(pid: int, told: _Told) -> Described:
    env = (value.partition("=") for value in told["env"])
    return Described(
        pid,
        argv=tuple(told["arg"]),
        workdir=_last(told["cwd"]) or "",
        outputs=tuple(told["output"]),
        env={name: text for name, equals, text in env if equals},
        secret_names=tuple(told["secret"]),
        is_env_hidden=bool(told["no-env"]),
        program=_last(told["program"]) or "",
        cgroup="".join(f"{line}\n" for line in told["cgroup"]),
        user_id=_number(_last(told["uid"])),
        apart=frozenset(told["apart"]),
        inner_pid=_number(_last(told["nspid"])),
        kept_log=_last(told["kept"]),
    )


def home_of(answer: bytes) -> str:
    """The home folder of the login, by the same answer."""
    lines = answer.decode("utf-8", "surrogateescape").split("\n")
    return next((line.removeprefix("@home ") for line in lines if line.startswith("@home ")), "")


def _judged(process: Described, ours: str, own: Mapping[str, str]) -> Described:
    env = {name: value for name, value in process.env.items() if name not in _LOGINS_OWN or own.get(name) != value}
    hidden = [name for name, value in env.items() if is_secret(name, value)]
    return replace(
        process,
        owner=owner_of(process.cgroup.rstrip("\n"), ours) if process.cgroup else None,
        env={name: value for name, value in env.items() if name not in hidden},
        secret_names=(*process.secret_names, *hidden),
    )


def _is_log(path: str) -> bool:
    return path.startswith("/") and not path.startswith(("/dev/", "/proc/")) and not path.endswith(_DELETED)


def _last(values: Sequence[str]) -> str | None:
    return values[-1] if values else None


def _number(value: str | None) -> int | None:
    word = value.split()[-1] if value and value.split() else ""
    return int(word) if word.isdecimal() and len(word) < 12 else None

"""What the forms for a host and a server ask, and the entries that come of it."""

import re
from collections.abc import Mapping, Sequence

from specdeck.config import schema
from specdeck.config.objects import Host, Server
from specdeck.config.problems import nearest
from specdeck.ui.screens.form import Field


def host_fields() -> list[Field]:
    """Name and address."""
    return [
        Field("ssh", "ssh", "root@gpu-a, an alias, host:port, localhost", problem=_ssh_problem),
        Field("name", "name", "as it is called here: lab (the address)", problem=_optional_name_problem),
    ]


def host_of(texts: Mapping[str, str]) -> Host:
    """A host without a name is called by its address."""
    from specdeck.config.targets import choose_hosts

    (host,) = choose_hosts((), (texts["ssh"],))
    return Host(texts["name"] or host.name, texts["ssh"])


def server_fields(profiles: Sequence[str]) -> list[Field]:
    """What a server needs, and what most have."""
    return [
        Field("name", "name", "kimi", problem=_name_problem),
        Field("model", "model", "/data/models/kimi, or a name on a hub", problem=_something),
        Field("port", "port", "30000", problem=_port_problem),
        Field("python", "python", "the interpreter that has the engine (python3)"),
        Field("draft_model", "draft model", "only for speculation with a draft"),
        Field("profiles", "profiles", f"by commas, the first two are the pivot pair: {', '.join(profiles[:3])}",
              problem=lambda text: _profiles_problem(text, profiles)),
    ]  # fmt: skip


def server_of(host: str, texts: Mapping[str, str]) -> Server:
    """Of texts that have no problem."""
    values = {"python": texts["python"], "draft_model": texts["draft_model"]}
    return Server(
        name=texts["name"],
        host=host,
        model=texts["model"],
        port=int(texts["port"]),
        profiles=_names(texts["profiles"]),
        **{name: value for name, value in values.items() if value},  # type: ignore[arg-type]
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(re.split(r"[,\s]+", text.strip(", "))) if text.strip(", ") else ()


def _ssh_problem(text: str) -> str | None:
    kind = schema.HOST.keys["ssh"].kind
    is_fit = isinstance(kind, schema.Text) and re.fullmatch(kind.pattern, text) and text.isprintable()
    return None if is_fit else "a word that ssh takes: gpu-a, root@gpu-a, gpu-a:2222"


def _name_problem(text: str) -> str | None:
    return None if re.fullmatch(schema.NAME, text) else schema.NAME_WORDS


def _optional_name_problem(text: str) -> str | None:
    return _name_problem(text) if text else None


def _something(text: str) -> str | None:
    return None if text else "is missing"


def _port_problem(text: str) -> str | None:
    return None if text.isdecimal() and len(text) < 6 and 0 < int(text) < 65536 else "a number from 1 to 65535"


def _profiles_problem(text: str, known: Sequence[str]) -> str | None:
    wrong = next((name for name in _names(text) if name not in known), None)
    return None if wrong is None else f"there is no profile {wrong}{nearest(wrong, known)}"

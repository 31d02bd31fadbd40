"""A launch command as data: argument list and environment, never a shell string."""

from dataclasses import dataclass

from specdeck.config.objects import Profile, Server


@dataclass(frozen=True, slots=True)
class Command:
    """What is started on the host. Secrets are not in it: the wrapper reads them on the host."""

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    workdir: str | None = None
    setup: tuple[str, ...] = ()


def build_command(server: Server, profile: Profile) -> Command:
    """The command that starts `server` with `profile`. Raises UsageError if a placeholder is not known."""
    raise NotImplementedError

"""A launch profile in a list: what it is for, whether it fits the host's engine, and what it would change."""

from collections.abc import Mapping

from specdeck.config.objects import Profile, Server
from specdeck.config.versions import satisfies
from specdeck.errors import UsageError
from specdeck.quick_dataclass import dataclass
from specdeck.services.deck import Change
from specdeck.state.snapshot import ServerState
from specdeck.ui.drawing.plan import change_rows
from specdeck.ui.drawing.spans import Row, fit, wrapped

_FITS = 10


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a profile is meant for the engine that is there."""

    word: str
    role: str
    sentence: str


def version_of(server: ServerState) -> str | None:
    """Of the engine that ran there last."""
    return server.engine_version or (server.story.engine_version if server.story is not None else None)


def fit_of(profile: Profile, server: ServerState) -> Fit:
    """By what the profile requires, and what is known of the host's version."""
    version = version_of(server)
    if profile.engine != server.engine and server.engine:
        return Fit(f"✗ {profile.engine}", "error", f"it is for {profile.engine}, this server runs {server.engine}")
    if not profile.requires:
        return Fit("fits", "ready", "for every version")
    if version is None:
        return Fit(
            f"? {profile.requires}",
            "warning",
            f"needs {profile.requires}; the version there is not known yet, and checked before the start",
        )
    if satisfies(version, profile.requires):
        return Fit("fits", "ready", f"needs {profile.requires}, there is {version}")
    return Fit(f"✗ {version}", "error", f"does not fit: needs {profile.requires}, there is {version}")


def profile_row(profile: Profile, server: ServerState, name_width: int) -> Row:
    """`● eagle3-v2   fits   EAGLE-3 with ...`."""
    fits = fit_of(profile, server)
    is_present = profile.name == server.profile
    mark = ("● ", "ready") if is_present and not server.profile_but else ("◐ ", "warning") if is_present else ("  ", "")
    return (
        mark,
        (f"{fit(profile.name, name_width)} ", ""),
        (f"{fit(fits.word, _FITS)} ", fits.role),
        (profile.describe, "dim"),
    )


def profile_detail(
    profile: Profile, server: ServerState, configured: Server | None, profiles: Mapping[str, Profile], width: int
) -> list[Row]:
    """Fit, where it comes from, and the difference to what runs."""
    fits = fit_of(profile, server)
    rows: list[Row] = [((line, fits.role),) for line in wrapped(fits.sentence, width, most=2)]
    if profile.source is not None:
        rows.append(((f"from {profile.source}", "dim"),))
    if configured is None:
        return rows
    running = _running(server, configured, profiles)
    if running is None:
        return [*rows, (("what runs now is not known: the next sheet shows the whole command", "dim"),)]
    try:
        changes = changes_between(configured, running, profile)
    except UsageError as error:
        return [*rows, *(((line, "error"),) for line in wrapped(str(error), width, most=2))]
    if not changes:
        return [*rows, ((f"the same command as {running.name}", "dim"),)]
    return [*rows, ((f"against {running.name}{_but(server, running)}:", "dim"),), *change_rows(changes, width)]


def _but(server: ServerState, running: Profile) -> str:
    """It was started by others, and does not run quite that."""
    return f" (it runs {server.profile_but})" if server.profile_but and running.name == server.profile else ""


def _running(server: ServerState, configured: Server, profiles: Mapping[str, Profile]) -> Profile | None:
    """The profile that starts what runs: one of its own where it was found with a difference."""
    if server.profile_but and configured.profiles:
        own = profiles.get(configured.profiles[0])
        if own is not None and own.name.endswith("-found"):
            return own
    return profiles.get(server.profile or "")


def changes_between(server: Server, old: Profile, new: Profile) -> list[Change]:
    """Of the two commands. Raises UsageError where a placeholder has no value."""
    from specdeck.engines.command import build_command, difference

    return [Change(*each) for each in difference(build_command(server, old), build_command(server, new))]

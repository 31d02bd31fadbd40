"""An act that broke off, its script on the host being gone: what the next sheet says of it, and how it is finished."""

from specdeck.parsing.plain import plain
from specdeck.services.journal import Step
from specdeck.services.runs import Look
from specdeck.state.snapshot import ActKind


def broken_off_notes(seen: Look) -> tuple[str, ...]:
    """One sentence, or none where the last act came to its end."""
    last = seen.journal.broken_off
    if last is None:
        return ()
    who, profile = _asked(seen.journal.steps)
    what = f"{last.act} to {profile}" if profile else last.act
    by = f" by {who}" if who else ""
    return (
        plain(
            f"the last {what}{by} broke off after `{last.name}`: its script on the host is gone; this act takes over"
        ),
    )


def unfinished_profile(act: ActKind, seen: Look) -> str | None:
    """A pivot or relaunch that broke off while nothing ran is finished by asking again: the profile that it was to start."""
    last = seen.journal.broken_off
    if last is None or act == "stop" or act != last.act:
        return None
    return _asked(seen.journal.steps)[1] or None


def _asked(journal: tuple[Step, ...]) -> tuple[str, str]:
    """Who asked, and for which profile."""
    first = journal[0]
    who, _, profile = first.detail.partition(" ") if first.name == "asked" else ("", "", "")
    return who, "" if profile == "-" else profile

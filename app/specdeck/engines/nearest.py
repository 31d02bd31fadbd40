"""The launch profile that a running command line comes nearest to, named with its difference: `eagle3-v1, but topk 8`."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from specdeck.config.objects import ArgValue, Profile
from specdeck.config.placeholders import expand
from specdeck.engines.command import Difference
from specdeck.engines.spellings import is_same_value, one_name
from specdeck.errors import UsageError
from specdeck.quick_dataclass import dataclass

_SPECULATION = re.compile(r"--(?:speculative|spec|draft|model-draft|sc)(?:-|$)|[A-Z_]*SPEC(?:_|ULATIVE)[A-Z0-9_]*$")
_LONG_WORDS = re.compile(r"^--(?:speculative-(?:eagle-|num-|(?=algorithm)))?")
_LONGEST_VALUE = 40


@dataclass(frozen=True, slots=True)
class Nearest:
    """A profile, and what the running command has that it has not, or otherwise."""

    profile: Profile
    differences: tuple[Difference, ...] = ()
    """Name, the profile's value, the running one."""

    @property
    def words(self) -> str:
        """`eagle3-v1`, or `eagle3-v1, but topk 8`."""
        return f"{self.profile.name}, {self.but}" if self.differences else self.profile.name

    @property
    def but(self) -> str:
        """`but topk 8, no max-running-requests`; empty where there is no difference."""
        return f"but {', '.join(map(_said, self.differences))}" if self.differences else ""


def nearest_profile(
    profiles: Iterable[Profile],
    flags: Mapping[str, str],
    env: Mapping[str, str],
    values: Mapping[str, str | None],
    *,
    preferred: Sequence[str] = (),
) -> Nearest | None:
    """The nearest of these profiles of one engine; `flags` have their one name, `values` fill the placeholders.

    Speculation counts first: that is what profiles tell apart. Then a preferred one that has no difference, then how much of
    all that a profile asks for, with what it extends, is so or is not. Of equals the preferred ones come first, in their order,
    and a base before what extends it.
    """

    def order(each: Nearest) -> tuple[int, bool, int, int, int, str]:
        profile = each.profile
        is_meant = profile.name in preferred and not each.differences
        rank = preferred.index(profile.name) if profile.name in preferred else len(preferred)
        speculative = sum(is_speculation(name) for name, _, _ in each.differences)
        distance = _distance(profile, flags, env, values)
        said = len(profile.base_args) + len(profile.args)
        return speculative, not is_meant, distance, rank, said, profile.name

    found = [Nearest(profile, differences(profile, flags, env, values)) for profile in profiles]
    return min(found, key=order, default=None)


def differences(
    profile: Profile, flags: Mapping[str, str], env: Mapping[str, str], values: Mapping[str, str | None]
) -> tuple[Difference, ...]:
    """What tells the running command from the profile; what a server's own `args` may set is no difference."""
    wanted = wanted_flags(profile, values)
    told = (*_unlike(_told_env(profile, values), env), *_unlike(wanted, flags))
    return tuple(told)


def wanted_flags(profile: Profile, values: Mapping[str, str | None]) -> dict[str, str | None]:
    """What only the profile may set, by the one name: its own arguments, and speculation also of what it extends. None: absent."""
    base = {name: value for name, value in profile.base_args.items() if is_speculation(one_name(profile.engine, name))}
    merged = {one_name(profile.engine, name): value for name, value in {**base, **profile.args}.items()}
    return {name: _text(value, values) for name, value in merged.items()}


def is_speculation(name: str) -> bool:
    """A flag or variable that belongs to speculative decoding."""
    return _SPECULATION.match(name) is not None


def _told_env(profile: Profile, values: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name: _expanded(value, values) for name, value in profile.env.items()}


def _unlike(wanted: Mapping[str, str | None], running: Mapping[str, str]) -> list[Difference]:
    extra = [name for name in running if name not in wanted and is_speculation(name)]
    return [
        (name, wanted.get(name), running.get(name))
        for name in (*wanted, *extra)
        if not is_same_value(wanted.get(name), running.get(name))
    ]


def _text(value: ArgValue, values: Mapping[str, str | None]) -> str | None:
    """As `flags_of` reads it from a command line; None: the flag is not there."""
    if value is None or value is False:
        return None
    if value is True:
        return ""
    words = value if isinstance(value, tuple) else (value,)
    return " ".join(_expanded(str(word), values) for word in words)


def _expanded(text: str, values: Mapping[str, str | None]) -> str:
    try:
        return expand(text, values)
    except UsageError:
        return text  # the running server has no such thing: it differs


def _distance(
    profile: Profile, flags: Mapping[str, str], env: Mapping[str, str], values: Mapping[str, str | None]
) -> int:
    """How many of all its flags and variables are otherwise, less those that are as it says: a child is not nearer by its base."""
    merged = {one_name(profile.engine, name): value for name, value in {**profile.base_args, **profile.args}.items()}
    wanted = {name: _text(value, values) for name, value in merged.items()}
    pairs = [(value, flags.get(name)) for name, value in wanted.items()]
    pairs += [(value, env.get(name)) for name, value in _told_env(profile, values).items()]
    return sum(-1 if is_same_value(told, running) else 1 for told, running in pairs)


def _said(difference: Difference) -> str:
    name, wanted, running = difference
    short = _LONG_WORDS.sub("", name)
    if running is None:
        return f"no {short}"
    if keys := _said_of_json(wanted, running):
        return f"{short} {keys}"
    value = running if len(running) <= _LONGEST_VALUE else f"{running[:_LONGEST_VALUE]}…"
    return f"{short} {value}".rstrip()


def _said_of_json(wanted: str | None, running: str) -> str:
    """`with num_speculative_tokens 5`: of two JSON objects only what differs; empty for anything else."""
    try:
        old, new = json.loads(wanted or ""), json.loads(running)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return ""
    keys = [key for key in dict.fromkeys((*old, *new)) if old.get(key) != new.get(key)]
    return "with " + " and ".join(f"{key} {new[key]}" if key in new else f"no {key}" for key in keys)

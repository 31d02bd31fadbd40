"""Profile files into frozen profiles: found in several folders, `extends` merged in."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path

from specdeck.config import schema, versions
from specdeck.config.objects import ArgValue, Profile
from specdeck.config.placeholders import misspelt_in, used_in
from specdeck.config.problems import Problems, nearest, place_of_file
from specdeck.config.reader import Found, read
from specdeck.config.yaml_source import load, yaml_files
from specdeck.quick_dataclass import dataclass

OWN_FLAGS = {
    "port": "the port is the server's `port` in the fleet file",
    "api-key": "a key here is seen by everyone in ps; use the server's `api_key_env` or `api_key_file`",
}


@dataclass(frozen=True, slots=True)
class _File:
    """One profile file as it was read."""

    name: str
    path: Path
    content: Found | None


def load_profiles(folders: Sequence[Path], problems: Problems) -> Mapping[str, Profile | None]:
    """The profiles of these folders by name; an earlier folder hides the same name in a later one.

    None: the profile is there, and it has problems.
    """
    files: dict[str, list[_File]] = {}
    for folder in folders:
        for path in yaml_files(folder, problems):
            if not re.fullmatch(schema.NAME, path.stem):
                said = f"a profile is called as its file: {schema.NAME_WORDS}"
                problems.add(place_of_file(path), "name", said)
            files.setdefault(path.stem, []).append(_File(path.stem, path, _read_file(path, problems)))
    merging = _Merging(files, problems)
    return {name: merging.profile(name) for name in sorted(files)}


def usable(profiles: Mapping[str, Profile | None]) -> Mapping[str, Profile]:
    """Those without problems."""
    return {name: profile for name, profile in profiles.items() if profile is not None}


def _read_file(path: Path, problems: Problems) -> Found | None:
    source, node = load(path, problems)
    content = read(node, schema.PROFILE, source) if node is not None else None
    if content is not None:
        _check(content, problems)
    return content


def _check(content: Found, problems: Problems) -> None:
    """What a table of keys cannot say."""
    if "requires" in content and (what := versions.problem_of(content["requires"].value)):
        problems.add(content["requires"].place, "requires", what)
    check_launch_keys(content, problems)


def check_launch_keys(content: Found, problems: Problems) -> None:
    """The arguments and `env` of a profile or server: flags that belong elsewhere, placeholders that are nearly right."""
    args = [*content.under("args").items(), *content.under("defaults").items()]
    for name, entry in args:
        if what := OWN_FLAGS.get(name.lstrip("-").replace("_", "-")):
            problems.add(entry.place, entry.key, what)
    for entry in (*(entry for _, entry in args), *content.under("env").values()):
        for wrong, near in (pair for text in texts_of(entry.plain()) for pair in misspelt_in(text)):
            problems.add(entry.place, entry.key, f"unknown placeholder {{{wrong}}}, did you mean {{{near}}}?")


def placeholders_of(profile: Profile) -> frozenset[str]:
    """The placeholders that a profile uses."""
    values = (*profile.args.values(), *profile.base_args.values(), *profile.env.values())
    return frozenset(name for value in values for text in texts_of(value) for name in used_in(text))


def texts_of(value: object) -> Sequence[str]:
    """The strings in an argument's value."""
    entries = value if isinstance(value, tuple) else (value,)
    return [entry for entry in entries if isinstance(entry, str)]


@dataclass(slots=True)
class _Merging:
    """Follows `extends`. A profile that extends its own name extends the one that it hides."""

    files: Mapping[str, list[_File]]
    problems: Problems
    done: dict[tuple[str, int], Profile | None] = field(default_factory=dict)
    under_way: list[tuple[str, int]] = field(default_factory=list)

    def profile(self, name: str, depth: int = 0) -> Profile | None:
        """The profile of that name; None: there is a problem with it, which is added once."""
        at = (name, depth)
        if at not in self.done:
            self.under_way.append(at)
            self.done[at] = self._merged(self.files[name][depth], depth)
            self.under_way.pop()
        return self.done[at]

    def _merged(self, file: _File, depth: int) -> Profile | None:
        own = file.content
        if own is None:
            return None
        base = self._base(file, own["extends"], depth) if "extends" in own else None
        if "extends" in own and base is None:
            return None
        engine = own.get("engine") or (base.engine if base else None)
        if engine is None:
            if "engine" not in own.written:
                self.problems.add(own.place, "engine", f"is missing (one of {', '.join(schema.ENGINE_NAMES)})")
            return None
        if base and base.engine != engine:
            what = f"{base.name} is for {base.engine}, this profile for {engine}"
            self.problems.add(own["extends"].place, "extends", what)
        return Profile(
            name=file.name,
            engine=engine,
            describe=own.get("describe", ""),
            requires=own.get("requires", base.requires if base else ""),
            env={**(base.env if base else {}), **own.get("env", {})},
            args=own.get("args", {}),
            base_args={**_stacked(base), **own.get("defaults", {})},
            source=file.path,
        )

    def _base(self, file: _File, extends: Found, depth: int) -> Profile | None:
        """The profile that a file extends."""
        name: str = extends.value
        at = (name, depth + 1 if name == file.name else 0)
        if at in self.under_way:
            names = [step for step, _ in self.under_way[self.under_way.index(at) :]]
            self.problems.add(extends.place, "extends", f"goes round in a circle: {' -> '.join([*names, name])}")
        elif at[1] >= len(self.files.get(name, ())):
            what = "extends itself, and it hides no other" if name == file.name else "there is no such profile"
            self.problems.add(
                extends.place, "extends", f"{name}: {what}{nearest(name, self.files.keys() - {file.name})}"
            )
        else:
            return self.profile(*at)
        return None


def _stacked(base: Profile | None) -> Mapping[str, ArgValue]:
    """The arguments of a base over its own `defaults` and those of its bases."""
    return {**base.base_args, **base.args} if base else {}

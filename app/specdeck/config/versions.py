"""Versions of engines (0.5.6.post2, 0.32.0+cpu, 0.5.12rc1, 0.5.13.dev4) and what a profile requires of them."""

import operator
import re
from collections.abc import Callable

_VERSION = re.compile(
    r"v?(?P<release>\d{1,9}(?:\.\d{1,9})*)"
    r"(?:[._-]?(?P<stage>a|alpha|b|beta|c|rc|pre|preview)[._-]?(?P<stage_number>\d{0,9}))?"
    r"(?:(?:[._-]?(?:post|rev|r)[._-]?(?P<post>\d{0,9}))|-(?P<bare_post>\d{1,9}))?"
    r"(?:[._-]?dev[._-]?(?P<dev>\d{0,9}))?"
    r"(?:\+[a-z0-9._-]+)?",
    re.IGNORECASE,
)
_STAGES = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}
_DEV_ALONE, _FINAL = -1, 3
_NO_DEV = 10**10
_CLAUSE = re.compile(r"\s*(>=|<=|==|!=|<|>)\s*(\S+)\s*")
_COMPARE: dict[str, Callable[["Key", "Key"], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}

Key = tuple[tuple[int, ...], int, int, int, int]
"""Orders versions as PEP 440 does: dev before alpha, beta, rc, final, post; a local part (`+cpu`) does not count."""


def key_of(version: str) -> Key | None:
    """What to compare versions by; None: this is no version."""
    match = _VERSION.fullmatch(version.strip())
    if match is None:
        return None
    release = [int(part) for part in match["release"].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    post_text = match["post"] if match["post"] is not None else match["bare_post"]
    post = -1 if post_text is None else int(post_text or 0)
    dev = _NO_DEV if match["dev"] is None else int(match["dev"] or 0)
    stage = _FINAL if match["stage"] is None else _STAGES[match["stage"].lower()]
    if dev != _NO_DEV and stage == _FINAL and post == -1:
        stage = _DEV_ALONE
    return tuple(release), stage, int(match["stage_number"] or 0), post, dev


def satisfies(version: str, requires: str) -> bool:
    """Whether a version meets `>=0.5.5,<0.5.13`; an empty requirement is met by all, an unreadable version by none else."""
    key = key_of(version)
    clauses = [clause for clause in requires.split(",") if clause.strip()]
    return all(key is not None and _meets(key, clause) for clause in clauses)


def problem_of(requires: str) -> str | None:
    """What is wrong with a requirement; None: nothing."""
    for clause in requires.split(","):
        match = _CLAUSE.fullmatch(clause)
        if requires.strip() and (match is None or key_of(match[2]) is None):
            return f"`{clause.strip()}` is no requirement; write it as `>=0.5.5,<0.5.13`"
    return None


def _meets(key: Key, clause: str) -> bool:
    """One clause; one that cannot be read is met by nothing."""
    match = _CLAUSE.fullmatch(clause)
    wanted = key_of(match[2]) if match else None
    return match is not None and wanted is not None and _COMPARE[match[1]](key, wanted)

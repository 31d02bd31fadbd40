"""Secrets that engines and frameworks write into their logs: gone before anybody sees the line."""

import re

_MARKS = (b"api_key", b"api-key", b"hf_", b"earer ")
_WORDS = tuple(mark.decode() for mark in _MARKS)
_HIDDEN = "***"
_SECRETS = (
    re.compile(r"(?P<keep>api[_-]key['\"]?\s{0,3}[=:]\s{0,3}\[)(?P<quote>)[^\]]{1,2000}"),
    re.compile(
        r"(?P<keep>api[_-]key['\"]?\s{0,3}[=:]\s{0,3})(?P<quote>['\"])(?:(?!(?P=quote)).){1,500}(?:(?P=quote)|$)"
    ),
    re.compile(r"(?P<keep>--[\w-]{0,30}api-key[= ])(?P<quote>)[^\s'\"]{1,500}"),
    re.compile(r"(?P<keep>['\"]--[\w-]{0,30}api-key['\"],\s{0,3})(?P<quote>['\"])[^'\"]{1,500}(?:(?P=quote)|$)"),
    re.compile(r"(?P<keep>[Bb]earer )(?P<quote>)[\w.~+/=-]{4,500}"),
    re.compile(r"(?P<keep>\bhf_)(?P<quote>)[A-Za-z0-9]{16,100}"),
)
"""A line that is still open may end within a secret."""


_SECRET_NAME = re.compile(
    r"(?:^|[-_])(?:api[-_]?key|key|token|secret|passw(?:or)?d|passphrase|credentials?)$|access[-_]key[-_]id$",
    re.IGNORECASE,
)
_PASSWORD = re.compile(r"://[^/\s@]*:[^/\s@]+@")


def is_secret_name(name: str) -> bool:
    """A flag or variable that holds a key, a token or a password: `--api-key`, `HF_TOKEN`, `AWS_SECRET_ACCESS_KEY`."""
    return _SECRET_NAME.search(name) is not None


def is_secret(name: str, value: str) -> bool:
    """A value that must not be written down: by its name, or by what it holds."""
    by_name = is_secret_name(name) and value != "" and not value.isdecimal()
    return by_name or _PASSWORD.search(value) is not None or without_secrets(value) != value


def may_hold_secrets(raw: bytes) -> bool:
    """A glance at many bytes: mostly there is none."""
    return any(mark in raw for mark in _MARKS)


def without_secrets(text: str) -> str:
    """The text with `***` where a key or a token stood."""
    if not any(mark in text for mark in _WORDS):
        return text
    for secret in _SECRETS:
        text = secret.sub(rf"\g<keep>\g<quote>{_HIDDEN}\g<quote>", text)
    return text

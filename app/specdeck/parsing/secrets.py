"""Secrets that engines and frameworks write into their logs: gone before anybody sees the line."""

import re

_HIDDEN = "***"
_SECRETS = (
    ("api", r"(?P<keep>api[_-]key['\"]?\s{0,3}[=:]\s{0,3}\[)(?P<quote>)[^\]]{1,2000}"),
    (
        "api",
        r"(?P<keep>api[_-]key['\"]?\s{0,3}[=:]\s{0,3})(?P<quote>['\"])(?:(?!(?P=quote)).){1,500}(?:(?P=quote)|$)",
    ),
    ("api-key", r"(?P<keep>--[\w-]{0,30}api-key[= ])(?P<quote>)[^\s'\"]{1,500}"),
    ("api-key", r"(?P<keep>['\"]--[\w-]{0,30}api-key['\"],\s{0,3})(?P<quote>['\"])[^'\"]{1,500}(?:(?P=quote)|$)"),
    ("earer ", r"(?P<keep>earer )(?<=[Bb]earer )(?P<quote>)[\w.~+/=-]{4,500}"),
    ("hf_", r"(?P<keep>hf_)(?<!\whf_)(?P<quote>)[A-Za-z0-9]{16,100}"),
)
"""Each with a word that is looked for first, since most lines have none; each begins with fixed letters, which is many times
faster in a line of 20 KB. A line that is still open may end within a secret. Compiled with the first use: few lines need them."""
_TELLING_NAME = (
    r"(?i)(?:^|[-_])(?:api[-_]?key|key|token|secret|passw(?:or)?d|passphrase|credentials?)$|access[-_]key[-_]id$"
)
_LOGIN_IN_URL = r"://[^/\s@]*:[^/\s@]+@"


def is_secret_name(name: str) -> bool:
    """A flag or variable that holds a key, a token or a password: `--api-key`, `HF_TOKEN`, `AWS_SECRET_ACCESS_KEY`."""
    return re.search(_TELLING_NAME, name) is not None


def is_secret(name: str, value: str) -> bool:
    """A value that must not be written down: by its name, or by what it holds."""
    by_name = is_secret_name(name) and value != "" and not value.isdecimal()
    return by_name or re.search(_LOGIN_IN_URL, value) is not None or without_secrets(value) != value


def without_secrets(text: str) -> str:
    """The text with `***` where a key or a token stood."""
    if "api" not in text and "earer " not in text and "hf_" not in text:
        return text
    for word, secret in _SECRETS:
        if word in text:
            text = re.sub(secret, rf"\g<keep>\g<quote>{_HIDDEN}\g<quote>", text)
    return text

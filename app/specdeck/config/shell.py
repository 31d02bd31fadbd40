"""Words for a POSIX shell: the one place where anything is quoted."""

import shlex

HOME_PREFIX = "~/"


def quote(word: str) -> str:
    """One word for a POSIX shell, byte for byte."""
    return shlex.quote(word)


def quote_path(word: str) -> str:
    """One word, where a leading `~/` means the home folder of the user on the host, as it does when typed by hand."""
    if word.startswith(HOME_PREFIX):
        return f'"$HOME"/{quote(rest)}' if (rest := word.removeprefix(HOME_PREFIX)) else '"$HOME"/'
    return quote(word)

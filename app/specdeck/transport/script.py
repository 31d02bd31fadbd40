"""A POSIX sh script with arguments, sent on the stdin of /bin/sh: the one place where words are quoted for a shell."""

import shlex
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_FOLDER = files("specdeck.services") / "scripts"


@dataclass(frozen=True, slots=True)
class Script:
    """A script and its positional arguments `$1`, `$2`, ...; arguments arrive byte for byte, whatever they hold."""

    text: str
    args: tuple[str, ...] = ()

    def render(self, mark: str) -> bytes:
        """The bytes for the stdin of /bin/sh.

        The whole script is one compound command, so the shell has read all of it before it runs any: what is written
        to stdin after the begin mark belongs to the script's own `read`. (dash reads its input in blocks: bytes sent
        before the mark would be lost.) The begin mark is `mark` on a line of its own; the end mark follows on a line of
        its own with the exit status. What stands outside them is noise of login shells.
        """
        words = " ".join(quote(word) for word in self.args)
        return (
            f"set -- {words}\nspecdeck_main() {{\n{self.text}\n}}\n"
            f"{{ printf '\\n%s\\n' {mark}; (specdeck_main \"$@\"); printf '\\n%s %s\\n' {mark} \"$?\"; exit; }}\n"
        ).encode("utf-8", "surrogateescape")


def quote(word: str) -> str:
    """One word for a POSIX shell, byte for byte."""
    return shlex.quote(word)


@cache
def script_text(name: str) -> str:
    """The text of `services/scripts/NAME.sh`."""
    return (_FOLDER / f"{name}.sh").read_text("utf-8")

"""A POSIX sh script with arguments, sent on the stdin of /bin/sh."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from specdeck.config.shell import quote
from specdeck.quick_dataclass import dataclass

_USES = re.compile(r"^# uses (\w+)\.sh$", re.MULTILINE)
_FOLDER = files("specdeck.services") / "scripts"

_FRAME = """\
{{ IFS= read -r specdeck_leader </proc/$$/stat; }} 2>/dev/null
set -f; set -- ${{specdeck_leader##*) }}; set +f; specdeck_leader="$$ ${{20-}}"
set -- {words}
specdeck_main() {{
{exports}
{text}
}}
{{
printf '\\036%s %s\\n' {mark} "$specdeck_leader"; printf '\\036%s \\n' {mark} >&2
{body}
exit
}}
"""

_END = "printf '\\036%s %s\\n' {mark} \"$specdeck_status\"; printf '\\036%s %s\\n' {mark} \"$specdeck_status\" >&2"

_KILL_GROUP = "trap '' TERM; kill -s TERM 0; sleep 2; kill -s KILL 0"

_ONE_SHOT = """\
exec 3<&0 </dev/null
{{ while read -r _; do :; done; {kill}; }} <&3 >/dev/null 2>&1 &
specdeck_guard=$!
exec 3<&-
trap : TERM
(specdeck_main "$@")
specdeck_status=$?
kill "$specdeck_guard" 2>/dev/null
{end}
exec 2>/dev/null"""

_GOES_ON = """\
{{ cat; {kill}; }} 2>/dev/null | {{
trap : TERM
(specdeck_main "$@")
specdeck_status=$?
{end}
exec >/dev/null 2>&1
kill -s TERM 0
}}"""


@dataclass(frozen=True, slots=True)
class Script:
    """A script and its positional arguments `$1`, `$2`, ...; arguments arrive byte for byte, whatever they hold."""

    text: str
    args: tuple[str, ...] = ()
    is_urgent: bool = False
    """The user waits for it: what watches makes room where the host allows few sessions."""

    def render(self, mark: str, *, env: Mapping[str, str] | None = None) -> bytes:
        """The bytes for the stdin of /bin/sh, for a script that runs to its end and reads nothing.

        The whole script is one compound command, so the shell has read all of it before it runs any. (dash reads its
        input in blocks: bytes sent before the begin mark would be lost.) The begin mark is a record separator, `mark`,
        a space, the pid and the start of the shell, and a newline; the end mark has the exit status there. Both come on
        stdout and on stderr, wherever the output stands, and what is outside them is noise of login shells. They begin
        with a byte that no text ends with, so that no last newline has to be held back.

        The guard waits for the end of stdin: when the channel closes before the script has ended, it ends the process
        group. A script that ends by itself leaves the group alone, so that a child on its way to `setsid` lives.
        `env` is exported inside the script only: the guard keeps the PATH of the login.
        """
        return self._frame(_ONE_SHOT, mark, env or {})

    def render_channel(self, mark: str, *, env: Mapping[str, str] | None = None) -> bytes:
        """As `render`, for a script that goes on and may read its stdin; its end ends its whole process group."""
        return self._frame(_GOES_ON, mark, env or {})

    def _frame(self, body: str, mark: str, env: Mapping[str, str]) -> bytes:
        exports = "\n".join(f"export {name}={quote(value)}" for name, value in env.items())
        words = " ".join(quote(word) for word in self.args)
        body = body.format(kill=_KILL_GROUP, end=_END.format(mark=mark))
        text = _FRAME.format(words=words, exports=exports, text=self.text, mark=mark, body=body)
        return text.encode("utf-8", "surrogateescape")


@cache
def script_text(name: str) -> str:
    """The text of `services/scripts/NAME.sh`; a line `# uses OTHER.sh` is the text of that one."""
    text = (_FOLDER / f"{name}.sh").read_text("utf-8")
    return _USES.sub(lambda line: script_text(line[1]), text)

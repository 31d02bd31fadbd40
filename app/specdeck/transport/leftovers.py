"""Ends our own scripts of a connection that was lost while the host did not notice (a laptop that slept)."""

from collections.abc import Iterable

from specdeck.transport.marks import Leader
from specdeck.transport.script import Script

_TEXT = """\
end_group() { # PID START
  { IFS= read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
  pid=$1 start=$2
  set -f; set -- ${stat##*) }; set +f
  [ "${20}" = "$start" ] && kill -s TERM -- "-$pid"
}
end_named() { # NAME in the command line of a shell that leads its group; the pattern is no match for itself
  for file in $(grep -l -a "[s]${1#s}" /proc/[0-9]*/cmdline 2>/dev/null); do
    { IFS= read -r stat <"${file%cmdline}stat"; } 2>/dev/null || continue
    set -f; set -- "$1" ${stat##*) }; set +f
    pid=${file#/proc/} pid=${pid%/cmdline}
    [ "$4" = "$pid" ] && kill -s TERM -- "-$pid"
  done
}
while [ "$1" != -- ]; do
  end_group "$1" "$2"
  shift 2
done
shift
for name; do end_named "$name"; done
:
"""


def end_leftovers(leaders: Iterable[Leader], names: Iterable[str] = ()) -> Script:
    """A script that ends the process groups of these shells, each only if it is still the same process.

    `names`: of shells that were never heard to begin, as `ssh_stream` gave them.
    """
    known = (str(number) for leader in leaders for number in (leader.pid, leader.start))
    return Script(_TEXT, (*known, "--", *names))

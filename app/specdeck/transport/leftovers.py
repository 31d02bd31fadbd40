"""Ends our own scripts of a connection that was lost while the host did not notice (a laptop that slept)."""

from collections.abc import Iterable

from specdeck.transport.marks import Leader
from specdeck.transport.script import Script

_TEXT = """\
end_group() {
  { IFS= read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
  pid=$1 start=$2
  set -f; set -- ${stat##*) }; set +f
  [ "${20}" = "$start" ] && kill -s TERM -- "-$pid"
}
while [ $# -ge 2 ]; do
  end_group "$1" "$2"
  shift 2
done
:
"""


def end_leftovers(leaders: Iterable[Leader]) -> Script:
    """A script that ends the process groups of these shells, each only if it is still the same process."""
    return Script(_TEXT, tuple(str(number) for leader in leaders for number in (leader.pid, leader.start)))

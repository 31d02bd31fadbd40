# The last lines of a server's audit log, newest last. Arguments: SERVER COUNT.
file=${XDG_STATE_HOME:-$HOME/.local/state}/specdeck/$1/audit
[ ! -r "$file" ] || tail -n "$2" "$file"

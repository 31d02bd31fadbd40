# The journal of the newest act of a server, and whether its actor lives. Needs proc.sh before it. Argument: SERVER.
# shellcheck shell=sh disable=SC2154
folder=${XDG_STATE_HOME:-$HOME/.local/state}/specdeck/$1
if read -r actor_pid actor_start 2>/dev/null <"$folder/actor"; then # before the journal: where it is gone, the journal is complete
    if proc_lives "$actor_pid" "$actor_start"; then echo 'actor alive'; else echo 'actor gone'; fi
fi
[ ! -f "$folder/act" ] || sed 's/^/act /' "$folder/act"
true

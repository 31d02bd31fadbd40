# Tells the actor of one rank that all nodes are free, or that it will not be launched. Arguments: SERVER "GROUP_ACT begin|launch" or "GROUP_ACT no WHY".
set -f
umask 077
folder=${XDG_STATE_HOME:-$HOME/.local/state}/specdeck/$1
printf '%s\n' "$2" >"$folder/go.new.$$" && mv "$folder/go.new.$$" "$folder/go"

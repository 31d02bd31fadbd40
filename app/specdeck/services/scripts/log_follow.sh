# The log $1 from offset $2 (from 0) on, as it grows; a file that is replaced or cut later is taken up from its begin.
# Ends with 3 where the file is shorter than $3 bytes: it was cut or replaced before this began.
# The frame of a channel ends it when the client is gone, also if nothing is ever written again.
exec 2>/dev/null
[ "$(wc -c <"$1")" -ge "$3" ] || exit 3
tail -c "+$(($2 + 1))" -F -- "$1"

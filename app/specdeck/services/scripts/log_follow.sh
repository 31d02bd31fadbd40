# The log $1 from offset $2 (from 0) on, as it grows; a file that is replaced or cut is taken up from its begin.
# The frame of a channel ends it when the client is gone, also if nothing is ever written again.
exec 2>/dev/null
tail -c "+$(($2 + 1))" -F -- "$1"

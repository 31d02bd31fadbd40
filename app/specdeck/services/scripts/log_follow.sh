# The log $1 from offset $2 (from 0) on, as it grows; a file that is replaced or cut is taken up from its begin.
# Waits for the end of stdin, so that nothing stays when the client is gone.
exec 2>/dev/null
trap 'kill 0' EXIT
tail -c "+$(($2 + 1))" -F -- "$1" </dev/null &
while read -r word; do :; done

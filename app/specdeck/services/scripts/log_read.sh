# $3 bytes of the log $1 from offset $2 (from 0).
exec 2>/dev/null </dev/null
tail -c "+$(($2 + 1))" -- "$1" | head -c "$3"
exit 0

# How full the file systems are that logs are written to, asked every few minutes: the arguments are folders or files, some of
# which may not be there yet. One line each: tag, size and room in KiB, place.
exec 2>/dev/null </dev/null
for path in "$@"; do
  while [ ! -e "$path" ] && [ "$path" != / ] && [ "$path" != . ]; do path=$(dirname -- "$path"); done
  df -Pk -- "$path" | sed -n '2s/^.* \([0-9][0-9]*\)  *[0-9][0-9]*  *\([0-9][0-9]*\)  *\([0-9][0-9]*\)% \(.*\)$/@disk \1 \2 \3 \4/p'
done
exit 0

# Looks through the log $1 for the pattern $2 without sending it: `@hit LINE:OFFSET:TEXT`, the number of its lines, and the lines
# with a \r in them, which count for more than one. Bounded answers; one pass each at the speed of grep.
exec 2>/dev/null </dev/null
LC_ALL=C
export LC_ALL
printf '@size %s\n' "$(stat -L -c '%s' -- "$1")"
printf '@lines %s\n' "$(wc -l <"$1")"
grep -a -b -n -m 400 -E -e "$2" -- "$1" | cut -c 1-200 | sed 's/^/@hit /'
grep -a -b -F -e "$(printf '\r')" -- "$1" | head -c 3000000 | sed 's/^/@return /'
exit 0

# Looks through the log $1 for the pattern $2 without sending it: `@hit LINE:OFFSET:TEXT`, the same for the first and the last
# places of the pattern $3 (of which there may be very many) as `@bare`, the number of its lines, and the lines with a \r in
# them, which count for more than one. Bounded answers; one pass each at the speed of grep.
exec 2>/dev/null </dev/null
LC_ALL=C
export LC_ALL
printf '@size %s\n' "$(stat -L -c '%s' -- "$1")"
printf '@lines %s\n' "$(wc -l <"$1")"
grep -a -b -n -m 400 -E -e "$2" -- "$1" | cut -c 1-200 | sed 's/^/@hit /'
grep -a -b -n -E -e "$3" -- "$1" | cut -c 1-200 | awk '
  NR <= 20 { print "@bare " $0; next }
  { last[NR % 20] = $0 }
  END { for (n = (NR > 40 ? NR - 19 : 21); n <= NR; n++) print "@bare " last[n % 20] }'
grep -a -b -F -e "$(printf '\r')" -- "$1" | head -c 3000000 | sed 's/^/@return /'
exit 0

# What /proc says of the processes whose command line matches the pattern $1, their sockets, and all listening ports: what a target
# without a fleet file is searched for.
# uses process.sh
# shellcheck shell=sh
exec 2>/dev/null </dev/null
process_begin
listening() { awk '$4 == "0A" { split($2, at, ":"); print "@listen " at[2] " " $10 " " at[1] }' "$@"; }
apart=
# the pattern comes on grep's stdin: in its command line it would find itself, and so would everybody who looks for new servers
for file in $(printf '%s\n' "$1" | grep -l -a -E -f - /proc/[0-9]*/cmdline); do
  folder=${file%/cmdline}
  pid=${folder#/proc/}
  process_tell "$pid"
  LC_ALL=C ls -ln "$folder/fd" | awk -v pid="$pid" '
    $NF ~ /^socket:\[[0-9]+\]$/ { inode = $NF; gsub(/[^0-9]/, "", inode); print "@socket " inode " " pid }
    $9 == "1" { sub(/^.* -> /, ""); print "@out " pid " " $0 }
    $9 == "2" { sub(/^.* -> /, ""); print "@err " pid " " $0 }'
  net=$(readlink "$folder/ns/net")
  [ -z "$net" ] || [ "$net" = "$(readlink /proc/self/ns/net)" ] || case " $apart " in *" $net "*) ;; *)
    apart="$apart $net"
    listening "$folder/net/tcp" "$folder/net/tcp6"
    awk -v pid="$pid" '/\|-- / { address = $2 } /\/32 host LOCAL/ && address !~ /^127\./ { print "@address " pid " " address }' "$folder/net/fib_trie" | sort -u
    ;;
  esac
done
[ -z "$apart" ] || for file in $(grep -l -a docker-proxy /proc/[0-9]*/cmdline); do
  printf '@proxy %s\n' "$(process_lines "$file" | tr '\n' ' ')"
done
listening /proc/net/tcp /proc/net/tcp6
exit 0

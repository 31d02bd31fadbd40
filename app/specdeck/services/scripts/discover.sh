# Command line, folder, outputs and sockets of the processes whose command line matches the pattern $1, and all listening ports:
# what a target without a fleet file is searched for.
exec 2>/dev/null </dev/null
for file in $(grep -l -a -E "$1" /proc/[0-9]*/cmdline); do
  folder=${file%/cmdline}
  pid=${folder#/proc/}
  tr '\n\000' ' \n' <"$file" | sed "s/^/@arg $pid /"
  printf '@cwd %s %s\n' "$pid" "$(readlink "$folder/cwd")"
  ls -l "$folder/fd" | awk -v pid="$pid" '
    $NF ~ /^socket:\[[0-9]+\]$/ { gsub(/[^0-9]/, "", $NF); print "@socket " $NF " " pid }
    $(NF - 2) == "1" { sub(/^.* -> /, ""); print "@out " pid " " $0 }
    $(NF - 2) == "2" { sub(/^.* -> /, ""); print "@err " pid " " $0 }'
done
awk '$4 == "0A" { sub(/^.*:/, "", $2); print "@listen " $2 " " $10 }' /proc/net/tcp /proc/net/tcp6
exit 0

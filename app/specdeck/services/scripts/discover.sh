# Every process with its command line and its listening sockets: what a target without a fleet file is searched for.
# The command line of a kernel thread is empty and is left out.
exec 2>/dev/null </dev/null
for folder in /proc/[0-9]*; do
  pid=${folder#/proc/}
  first=
  IFS= read -r first <"$folder/cmdline"
  [ -n "$first" ] || continue
  case $first in
    *python* | *sglang* | *vllm* | *llama* | *server*) ;;
    *) continue ;;
  esac
  tr '\n\000' ' \n' <"$folder/cmdline" | sed "s/^/@arg $pid /"
  printf '@cwd %s %s\n' "$pid" "$(readlink "$folder/cwd")"
  ls -l "$folder/fd" | awk -v pid="$pid" '
    $NF ~ /^socket:\[[0-9]+\]$/ { gsub(/[^0-9]/, "", $NF); print "@socket " $NF " " pid }
    $(NF - 2) == "1" { sub(/^.* -> /, ""); print "@out " pid " " $0 }
    $(NF - 2) == "2" { sub(/^.* -> /, ""); print "@err " pid " " $0 }'
done
awk '$4 == "0A" { sub(/^.*:/, "", $2); print "@listen " $2 " " $10 }' /proc/net/tcp /proc/net/tcp6
exit 0

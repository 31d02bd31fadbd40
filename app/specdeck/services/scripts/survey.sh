# What needs processes on the host, asked on a change or each half minute: $1 is the inodes of listening sockets (may be
# empty), $2 the fields of nvidia-smi's process list (empty: it is not asked). Tagged lines, the host's clock first.
exec 2>/dev/null </dev/null
PATH=$PATH:/usr/local/nvidia/bin:/usr/lib/wsl/lib # where containers and WSL keep nvidia-smi, often not on a login's PATH
printf '@clock %s\n' "$(date +%s)"
read -r uptime idle </proc/uptime
printf '@uptime %s\n' "$uptime"
sed -n 's/^Mem[TA]/@memory &/p' /proc/meminfo
cat /proc/[0-9]*/stat | sed 's/^/@stat /'
[ -n "$1" ] && ls -l /proc/[0-9]*/fd | awk -v inodes="$1" '
  BEGIN { split(inodes, list, " "); for (i in list) wanted["socket:[" list[i] "]"] = list[i] }
  /^\/proc\// { split($0, part, "/"); pid = part[3] }
  ($NF in wanted) && !((pid, $NF) in told) { told[pid, $NF] = 1; print "@socket " wanted[$NF] " " pid }'
if [ -n "$2" ]; then
  apps=$(nvidia-smi --query-compute-apps="$2" --format=csv,noheader,nounits 2>&1)
  [ -n "$apps" ] && printf '%s\n' "$apps" | sed 's/^/@app /'
  for pid in $(printf '%s\n' "$apps" | cut -d , -f 2 | grep -x ' *[0-9][0-9]*' | sort -u); do
    [ -r "/proc/$pid/status" ] || continue
    while read -r key uid rest; do
      [ "$key" = Uid: ] && printf '@user %s %s\n' "$pid" "$(id -nu "$uid" || printf 'uid %s' "$uid")"
    done <"/proc/$pid/status"
  done
  printf '@apps-end\n'
fi
exit 0

# What needs processes on the host, asked on a change or each half minute: $1 is the inodes of listening sockets (may be
# empty), $2 the fields of nvidia-smi's process list (empty: it is not asked), $3 the GPUs to ask it of (empty: all). Tagged lines, the
# host's clock first.
# uses nvidia_smi.sh
PATH=$PATH:${smi_places-}
exec 2>/dev/null </dev/null
printf '@clock %s\n' "$(date +%s)"
read -r uptime _ </proc/uptime
hung=
printf '@uptime %s\n' "$uptime"
sed -n 's/^Mem[TA]/@memory &/p' /proc/meminfo
cat /proc/[0-9]*/stat | sed 's/^/@stat /'
[ -n "$1" ] && ls -l /proc/[0-9]*/fd | awk -v inodes="$1" '
  BEGIN { split(inodes, list, " "); for (i in list) wanted["socket:[" list[i] "]"] = list[i] }
  /^\/proc\// { split($0, part, "/"); pid = part[3] }
  ($NF in wanted) && !((pid, $NF) in told) { told[pid, $NF] = 1; print "@socket " wanted[$NF] " " pid }'
if [ -n "$2" ] && hung_smi; then
  printf '@hung %s\n' "$hung"
elif [ -n "$2" ]; then
  [ -n "$3" ] && only="-i $3"
  # shellcheck disable=SC2086 # an option and its value, or nothing
  apps=$(nvidia-smi ${only-} --query-compute-apps="$2" --format=csv,noheader,nounits 2>&1)
  [ -n "$apps" ] && printf '%s\n' "$apps" | sed 's/^/@app /'
  names='|'
  for pid in $(printf '%s\n' "$apps" | cut -d , -f 2 | grep -x ' *[0-9][0-9]*' | sort -u); do
    [ -r "/proc/$pid/status" ] || continue
    while read -r key uid rest; do
      [ "$key" = Uid: ] && break
    done <"/proc/$pid/status"
    case $names in *"|$uid="*) ;; *) names="$names$uid=$(id -nu "$uid" || printf 'uid %s' "$uid")|" ;; esac
    name=${names#*"|$uid="}
    printf '@user %s %s\n' "$pid" "${name%%|*}"
  done
  printf '@apps-end\n'
fi
exit 0

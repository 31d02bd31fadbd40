# What needs processes on the host, asked on a change or each half minute: $1 is the inodes of listening sockets (may be
# empty), $2 the fields of nvidia-smi's process list (empty: it is not asked). Tagged lines, the host's clock first.
exec 2>/dev/null </dev/null
PATH=$PATH:/usr/local/nvidia/bin:/usr/lib/wsl/lib # where containers and WSL keep nvidia-smi, often not on a login's PATH
printf '@clock %s\n' "$(date +%s)"
sed -n 's/^Mem[TA]/@memory &/p' /proc/meminfo
cat /proc/[0-9]*/stat | sed 's/^/@stat /'
[ -n "$1" ] && ls -l /proc/[0-9]*/fd | awk -v inodes="$1" '
  BEGIN { split(inodes, list, " "); for (i in list) wanted["socket:[" list[i] "]"] = list[i] }
  /^\/proc\// { split($0, part, "/"); pid = part[3] }
  ($NF in wanted) && !((pid, $NF) in told) { told[pid, $NF] = 1; print "@socket " wanted[$NF] " " pid }'
if [ -n "$2" ]; then
  nvidia-smi --query-compute-apps="$2" --format=csv,noheader,nounits 2>&1 |
    sed 's/^/@app /'
  printf '@apps-end\n'
fi
exit 0

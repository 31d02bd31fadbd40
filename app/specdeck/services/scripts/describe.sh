# Command line, working folder and log file of the processes $@ (pids): for servers that others started.
exec 2>/dev/null </dev/null
for pid; do
  [ -r "/proc/$pid/cmdline" ] || continue
  printf '@stat %s\n' "$(cat "/proc/$pid/stat")"
  tr '\n\000' ' \n' <"/proc/$pid/cmdline" | sed "s/^/@arg $pid /"
  printf '@cwd %s %s\n' "$pid" "$(readlink "/proc/$pid/cwd")"
  printf '@out %s %s\n' "$pid" "$(readlink "/proc/$pid/fd/1")"
  printf '@err %s %s\n' "$pid" "$(readlink "/proc/$pid/fd/2")"
done
exit 0

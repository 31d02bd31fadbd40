# What /proc says of the processes $@ (pids): servers that others started.
# uses process.sh
# shellcheck shell=sh
exec 2>/dev/null </dev/null
process_begin
for pid; do
  [ -r "/proc/$pid/cmdline" ] || continue
  process_tell "$pid"
  printf '@out %s %s\n' "$pid" "$(readlink "/proc/$pid/fd/1")"
  printf '@err %s %s\n' "$pid" "$(readlink "/proc/$pid/fd/2")"
done
exit 0

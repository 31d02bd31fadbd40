# Starts the server in a session of its own and records how it ends, also when nobody watches. It is not in the server's family.
# Arguments: RUN, the run's folder; `closed` the second time that it runs.
umask 022
run=$1
# Nothing that was open here may stay open in the server, or a connection waits for it. dash can close descriptors of one digit only.
close_rest='for fd in /proc/$$/fd/*; do
    fd=${fd##*/}
    case $fd in [0-2]) ;; [3-9]) eval "exec $fd>&-" ;; *) more="${more-} $fd" ;; esac
done
[ -z "${more-}" ] || ! command -v bash >/dev/null ||
    exec bash -c "for fd in $more; do eval \"exec \$fd>&-\"; done; exec \"\$@\"" bash "$@"
exec "$@"'
[ "${2-}" = closed ] || exec sh -c "$close_rest" sh sh "$0" "$run" closed
trap : HUP INT TERM # caught, not ignored: what is ignored here would be ignored by the server as well
printf '%64s\n' '' >"$run/pid.new" || exit 1 # a server whose pid cannot be recorded is not started: it would be lost
cd "$HOME" || cd /
read -r run_id <"$run/id"
SPECDECK_RUN=$run_id setsid sh "$run/launch" </dev/null >>"$run/log" 2>&1 &
server=$!
read -r stat_line <"/proc/$server/stat"
# shellcheck disable=SC2086 # split into fields
set -- ${stat_line##*\) }
printf '%s %s\n' "$server" "${20}" >"$run/pid.new"
mv "$run/pid.new" "$run/pid"
while :; do
    wait "$server"
    status=$?
    kill -0 "$server" 2>/dev/null || break # a signal to this wrapper ends the wait, not the server
done
IFS=' .' read -r uptime_seconds uptime_hundredths _ </proc/uptime
printf '%s%s\n' "$uptime_seconds" "$uptime_hundredths" >"$run/ended" # as field 22 of /proc/PID/stat counts; whoever is younger is no child of it
printf '%s %s\n' "$status" "$(date +%s)" >"$run/exit.new"
mv "$run/exit.new" "$run/exit"

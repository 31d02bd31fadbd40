# First part of the preflight (login_limit is set), before the profile's setup lines: a folder for what is said, and a look, meanwhile, at what the
# user's own terminal would have (an interactive login shell) and at the GPUs. Nothing here waits.
# shellcheck shell=sh disable=SC2016,SC2034,SC2154
# uses nvidia_smi.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
printf '\nspecdeck-preflight\n'
# In a session of its own, which ends itself in time: also if nobody waits any more, a profile that hangs leaves nothing behind.
login_watch='"$0" -l -i -c "env; echo specdeck-env-ends" &
tries=0
while kill -0 $! 2>/dev/null && [ "$tries" -lt "$1" ]; do
    tries=$((tries + 1))
    sleep 0.1 2>/dev/null || { sleep 1 && tries=$((tries + 9)); }
done
kill -s KILL 0'
setsid sh -c "$login_watch" "${SHELL:-/bin/sh}" "$login_limit" </dev/null >"$work/login" 2>/dev/null &
login_pid=$!
(
    smi_patience=20
    smi_rows --query-gpu=index,uuid,memory.total,memory.used && printf '%s\n' "$smi_text" | sed 's/^/gpu /'
    smi_rows --query-compute-apps=gpu_uuid,pid,used_memory && [ -n "$smi_text" ] && printf '%s\n' "$smi_text" | sed 's/^/app /'
) </dev/null >"$work/gpus" 2>/dev/null &
gpus_pid=$!

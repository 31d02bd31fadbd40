# First part of the preflight, before the profile's setup lines: a folder for what is said, and a look, meanwhile, at what the
# user's own terminal would have (an interactive login shell) and at the GPUs. Nothing here waits.
# shellcheck shell=sh disable=SC2034
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
printf '\nspecdeck-preflight\n'
setsid "${SHELL:-/bin/sh}" -l -i -c 'env; echo specdeck-env-ends' </dev/null >"$work/login" 2>/dev/null &
login_pid=$!
(
    PATH=$PATH:/usr/local/nvidia/bin:/usr/lib/wsl/lib
    nvidia-smi --query-gpu=index,uuid,memory.total,memory.used --format=csv,noheader,nounits 2>/dev/null | sed 's/^/gpu /'
    nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory --format=csv,noheader,nounits 2>/dev/null | sed 's/^/app /'
) </dev/null >"$work/gpus" 2>/dev/null &
gpus_pid=$!

# What `specdeck check --connect` asks of a host once: login shell, foreign processes, state folder, tools, nvidia-smi. Tagged lines.
# uses nvidia_smi.sh
exec 2>/dev/null </dev/null
PATH=$PATH:${smi_places-}
hung=
printf '@shell %s\n' "${SHELL:-not told}"
if [ ! -r /proc/self/stat ]; then printf '@proc none\n'
elif [ ! -r /proc/1/stat ]; then printf '@proc hidden\n'
else printf '@proc seen\n'
fi
state=${XDG_STATE_HOME:-$HOME/.local/state}/specdeck
probe=$state/.check.$$
if why=$( (umask 077 && mkdir -p "$state" && printf 'specdeck can write here\n' >"$probe" && [ -s "$probe" ]) 2>&1 ); then
  printf '@state-fine %s\n' "$state"
else
  printf '@state-bad %s: %s\n' "$state" "$(printf '%s\n' "${why:-the disk is full}" | tail -n 1)"
fi
rm -f "$probe"
for tool in setsid curl tail; do command -v "$tool" >/dev/null || printf '@missing %s\n' "$tool"; done
if hung_smi; then
  answer="nvidia-smi (pid ${hung%% *}) hangs in the driver for ${hung#* } s: the GPU needs a reset, or the host a reboot" status=124
elif command -v nvidia-smi >/dev/null; then
  answer=$(nvidia-smi --query-gpu=index,name,driver_version --format=csv,noheader 2>&1)
  status=$?
else
  answer='' status=127
fi
[ -n "$answer" ] && printf '%s\n' "$answer" | sed 's/^/@smi /'
printf '@smi-end %s\n' "$status"

# What is asked of the GPUs every few minutes: $1 fields of nvidia-smi, $2 the GPUs to ask (empty: all), $3 words: `links` where several
# GPUs may be connected, `mig` where one is cut into instances. And the driver's errors, where this user may read the kernel's log.
# uses nvidia_smi.sh
PATH=$PATH:${smi_places-}
exec 2>/dev/null </dev/null
LC_ALL=C
export LC_ALL
read -r uptime _ </proc/uptime
hung=
printf '@uptime %s\n' "$uptime"
command -v nvidia-smi >/dev/null || exit 0
if hung_smi; then
  printf '@hung %s\n' "$hung"
  exit 0
fi
[ -n "$2" ] && only="-i $2"
# shellcheck disable=SC2086 # an option and its value, or nothing
nvidia-smi ${only-} --query-gpu="$1" --format=csv,noheader,nounits 2>&1 | sed 's/^/@check /'
case " $3 " in *' links '*) nvidia-smi nvlink -s | sed 's/^/@link /' ;; esac
case " $3 " in *' mig '*)
  nvidia-smi -L | sed 's/^/@list /'
  nvidia-smi -q -x | sed -e '/<supported_clocks>/,/<\/supported_clocks>/d' -e 's/^/@xml /'
  ;;
esac
kernel=$(dmesg 2>&1 | grep -E 'NVRM: Xid|^dmesg:' | tail -n 50)
case $kernel in
  *'dmesg:'*) # forbidden: the journal may be readable, and tells nothing at all where it is not
    kernel=$(journalctl -k -b -q -o short-monotonic --no-pager -g 'NVRM: Xid' -n 50)
    [ -n "$kernel" ] || printf '@denied\n'
    ;;
esac
[ -n "$kernel" ] && printf '%s\n' "$kernel" | sed 's/^/@kernel /'
printf '@end\n'
exit 0

# What a script knows before it starts nvidia-smi: where it may be, and whether one of this user's hangs. Other scripts name it with `uses`.
# shellcheck shell=sh disable=SC2034 # `hung` and `smi_text` are read by those that use it
smi_places=/usr/local/nvidia/bin:/usr/lib/wsl/lib # where containers and WSL keep nvidia-smi, often not on a login's PATH

# hung_smi: sets `hung` to PID and AGE in seconds of an nvidia-smi of this user that was told to end and lives on: it is caught in the
# driver, and another one would only be caught beside it. Fails where there is none.
hung_smi() {
  hung=
  case $- in *f*) hung_globs=-f ;; *) hung_globs=+f ;; esac
  set +f
  set -- /proc/[0-9]*/comm
  set "$hung_globs"
  for hung_file; do
    hung_name=
    read -r hung_name 2>/dev/null <"$hung_file"
    [ "$hung_name" = nvidia-smi ] && [ -O "$hung_file" ] && is_hung "${hung_file%/comm}" && return
  done
  return 1
}

# is_hung FOLDER: SIGTERM or SIGKILL is pending, or its memory is gone already, and it is no zombie.
is_hung() {
  hung_signals=
  while read -r hung_key hung_value _; do
    case $hung_key$hung_value in
      State:[ZX]) return 1 ;;
      SigPnd:* | ShdPnd:*) hung_signals="$hung_signals ${hung_value#????????????}" ;;
    esac
  done 2>/dev/null <"$1/status"
  hung_words=
  read -r hung_words 2>/dev/null <"$1/cmdline"
  for hung_value in $hung_signals; do
    [ $((0x$hung_value & 0x4100)) -ne 0 ] && hung_words=
  done
  [ -z "$hung_words" ] && read -r hung_line 2>/dev/null <"$1/stat" && read -r hung_now _ </proc/uptime || return 1
  # shellcheck disable=SC2086 # fields: a letter and numbers
  set -- "$1" ${hung_line##*) }
  hung="${1#/proc/} $((${hung_now%.*} - ${21} / 100))"
}

# smi_rows QUERY: sets `smi_text` to the bare rows of nvidia-smi. Fails where it fails, where one hangs already, and where it has not
# answered after `smi_patience` seconds: it cannot be ended then, so it is left alone, marked by its pending SIGTERM.
smi_rows() {
  smi_text=
  ! hung_smi && smi_file=$(mktemp) || return 1
  (PATH=$PATH:$smi_places && exec nvidia-smi "$@" --format=csv,noheader,nounits) </dev/null >"$smi_file" 2>/dev/null &
  smi_asked=$! smi_naps=0 smi_nap=0.01
  while is_at_work "$smi_asked" && [ "$smi_naps" -lt $((${smi_patience:-30} * 20)) ]; do
    smi_naps=$((smi_naps + 1))
    sleep "$smi_nap" 2>/dev/null || { sleep 1 && smi_naps=$((smi_naps + 19)); }
    [ "$smi_naps" -le 10 ] || smi_nap=0.05
  done
  if is_at_work "$smi_asked"; then
    kill "$smi_asked" 2>/dev/null
    smi_status=124
  else
    wait "$smi_asked"
    smi_status=$?
    smi_text=$(cat "$smi_file")
  fi
  rm -f "$smi_file"
  return "$smi_status"
}

# is_at_work PID: a child that has not ended.
is_at_work() {
  smi_line=
  read -r smi_line 2>/dev/null <"/proc/$1/stat" || return 1
  case ${smi_line##*) } in [ZX]*) return 1 ;; esac
}

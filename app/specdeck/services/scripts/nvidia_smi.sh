# What a script knows before it starts nvidia-smi: where it is, and whether one of this user's hangs. Other scripts name it with `uses`.
# shellcheck shell=sh disable=SC2034 # `hung` is read by those that use it
PATH=$PATH:/usr/local/nvidia/bin:/usr/lib/wsl/lib # where containers and WSL keep nvidia-smi, often not on a login's PATH

# hung_smi: sets `hung` to PID and AGE in seconds of an nvidia-smi of this user that was told to end and lives on: it is caught in the
# driver, and another one would only be caught beside it. Fails where there is none.
hung_smi() {
  for hung_file in /proc/[0-9]*/comm; do
    hung_name=
    read -r hung_name <"$hung_file"
    [ "$hung_name" = nvidia-smi ] && [ -O "$hung_file" ] && is_hung "${hung_file%/comm}" && return
  done
  hung=
  return 1
}

# is_hung FOLDER: SIGTERM or SIGKILL is pending, or its memory is gone already, and it is no zombie.
is_hung() {
  hung_signals=
  while read -r hung_key hung_value hung_rest; do
    case $hung_key$hung_value in
      State:[ZX]) return 1 ;;
      SigPnd:* | ShdPnd:*) hung_signals="$hung_signals ${hung_value#????????????}" ;;
    esac
  done <"$1/status"
  hung_words=
  read -r hung_words <"$1/cmdline"
  for hung_value in $hung_signals; do
    [ $((0x$hung_value & 0x4100)) -ne 0 ] && hung_words=
  done
  [ -z "$hung_words" ] && read -r hung_line <"$1/stat" && read -r hung_now hung_rest </proc/uptime || return 1
  # shellcheck disable=SC2086 # fields: a letter and numbers
  set -- "$1" ${hung_line##*) }
  hung="${1#/proc/} $((${hung_now%.*} - ${21} / 100))"
}

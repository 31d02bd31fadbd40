# What is known of one server before an act: its newest run, who listens on its port, who holds GPU memory, who holds the lock.
# Needs proc.sh and lock.sh before it, and steps.sh after it. Arguments: SERVER PORT PATTERN TARGET.
# PATTERN is what the command line of a server of others holds; TARGET (PID:START or -) is one whose family is wanted.
# Prints tagged lines; command lines as hexadecimal bytes.
# shellcheck shell=sh disable=SC2034,SC2154
set -f
PATH=$PATH:/usr/local/nvidia/bin:/usr/lib/wsl/lib
folder=${XDG_STATE_HOME:-$HOME/.local/state}/specdeck/$1
family='' family_session=''
spare_callers

first_line() { IFS= read -r line 2>/dev/null <"$1" || [ -n "$line" ]; }

command_of() { od -An -v -tx1 "/proc/$1/cmdline" 2>/dev/null | tr -d ' \n'; }

# show_process TAG PID: prints TAG PID START STATE PARENT UID COMMAND(hexadecimal) NAME.
show_process() {
    proc_uid "$2" || proc_user_id=-
    proc_stat "$2" || return 0
    printf '%s %s %s %s %s %s %s %s\n' "$1" "$2" "$stat_start" "$stat_state" "$stat_ppid" "$proc_user_id" "$(command_of "$2")-" "$stat_name"
    case " $users " in *" $proc_user_id "*) ;; *) users="$users $proc_user_id" ;; esac
}

# show_above PID: the processes that it hangs on, nearest first.
show_above() {
    proc_stat "$1" || return 0
    while [ "$stat_ppid" -gt 1 ]; do
        show_next=$stat_ppid
        show_process above "$show_next"
        proc_stat "$show_next" || return 0
    done
}

# show_similar PATTERN: processes whose command line holds it, for servers that do not listen yet.
show_similar() {
    set +f
    for similar in $(grep -l -a -E "$1" /proc/[0-9]*/cmdline 2>/dev/null); do
        similar=${similar#/proc/}
        show_process similar "${similar%/cmdline}"
    done
    set -f
}

users=
read -r boot </proc/sys/kernel/random/boot_id
printf 'boot %s\n' "$boot"
run=
set +f
for run_folder in "$folder"/[0-9][0-9][0-9][0-9]; do
    [ -d "$run_folder" ] && run=$run_folder
done
set -f
run_id='' target='' line=''
if [ -n "$run" ]; then
    printf 'run %s\nfolder %s\n' "${run##*/}" "$run"
    for key in profile port who started boot pid exit stop spec id; do
        line=
        first_line "$run/$key" && printf 'run.%s %s\n' "$key" "$line"
        case $key in
        id) run_id=$line ;;
        pid) target=$line ;;
        boot) [ "$line" = "$boot" ] || target='' ;;
        esac
    done
fi
if port_find "$2"; then printf 'listening yes\n'; else printf 'listening no\n'; fi
owners=$(rows_owners)
for owner in $owners; do
    show_process owner "$owner"
    show_above "$owner"
done
for uid in $(rows_uids); do
    printf 'listener %s\n' "$uid"
    users="$users $uid"
done
if [ "${4:--}" != - ]; then
    wanted=$4
    case $wanted in *:) proc_stat "${wanted%:}" && wanted=$wanted$stat_start ;; esac
    family_of "${wanted%%:*}" "${wanted#*:}" ''
    show_process first 1
elif [ -n "$target" ]; then
    ended=
    first_line "$run/ended" && ended=$line
    family_of "${target%% *}" "${target#* }" "$run_id" "$ended"
fi
family_left
for member in $left; do show_process member "${member%%:*}"; done
[ -n "$left" ] || [ -n "$owners" ] || show_similar "$3"
printf 'me %s\n' "$(id -u)"
read -r uptime _ </proc/uptime
printf 'uptime %s\n' "$uptime"
for uid in $users; do printf 'user %s %s\n' "$uid" "$(user_name "$uid")"; done
show_groups() { printf '%s %s\n' "$1" "$(od -An -v -tx1 "/proc/$2/cgroup" 2>/dev/null | tr -d ' \n')"; }
show_groups groups.ours self
for owner in $owners ${4%%[:-]*}; do show_groups "groups.$owner" "$owner"; done
smi_patience=10
smi_rows --query-compute-apps=pid,used_memory && [ -n "$smi_text" ] && printf '%s\n' "$smi_text" | sed 's/^/app /'
lock_look "/tmp/specdeck-port-$2.lock"
[ "$lock_state" = free ] || printf 'lock %s %s\n' "$lock_state" "$lock_line"
set +f
watchers=${SPECDECK_DEMO_TREE:-/tmp}/specdeck-watch # as in monitor.sh
[ -h "$watchers" ] || for watcher in "$watchers"/*; do
    set -f
    lock_look "$watcher"
    [ "$lock_state" != held ] || printf 'watcher %s %s\n' "${watcher##*/}" "$lock_line"
done
set -f

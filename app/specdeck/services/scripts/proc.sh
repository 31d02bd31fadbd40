# Functions that read /proc with shell builtins. A process is its pid and its start time; a name is never an identity.
# shellcheck shell=sh disable=SC2034

# proc_stat PID: sets stat_name stat_state stat_ppid stat_session stat_start; fails if there is no such process.
proc_stat() {
    stat_line=
    { while IFS= read -r stat_more; do stat_line="$stat_line$stat_more"; done; } 2>/dev/null <"/proc/$1/stat" || return 1
    [ -n "$stat_line" ] || return 1
    stat_name=${stat_line#*\(}
    stat_name=${stat_name%\)*}
    # shellcheck disable=SC2086 # split into fields; globbing is off (set -f)
    set -- ${stat_line##*\) }
    stat_state=$1 stat_ppid=$2 stat_session=$4 stat_start=${20}
}

# proc_lives PID START: the very process, and it is no zombie.
proc_lives() {
    proc_stat "$1" && [ "$stat_start" = "$2" ] || return 1
    case $stat_state in Z | X | x) return 1 ;; esac
}

# port_listens PORT: somebody is in LISTEN on it (TIME_WAIT does not count).
port_listens() {
    port_hex=$(printf '%04X' "$1")
    for port_table in /proc/net/tcp /proc/net/tcp6; do
        [ -r "$port_table" ] || continue
        while read -r _ port_local _ port_state _; do
            [ "$port_state" = 0A ] || continue
            case $port_local in *:"$port_hex") return 0 ;; esac
        done <"$port_table"
    done
    return 1
}

# port_owners PORT: prints the pids that hold the listening socket, as far as this user may see them.
port_owners() {
    port_hex=$(printf '%04X' "$1")
    port_inodes=
    for port_table in /proc/net/tcp /proc/net/tcp6; do
        [ -r "$port_table" ] || continue
        while read -r _ port_local _ port_state _ _ _ _ _ port_inode _; do
            [ "$port_state" = 0A ] || continue
            case $port_local in *:"$port_hex") port_inodes="$port_inodes -e socket:\\[$port_inode\\]" ;; esac
        done <"$port_table"
    done
    [ -n "$port_inodes" ] || return 0
    set +f
    # shellcheck disable=SC2010,SC2086 # patterns are a list; ls is the one way to read many links with one process
    ls -l /proc/[0-9]*/fd 2>/dev/null | grep -e '^/proc/' $port_inodes | while read -r port_first _; do
        case $port_first in
        /proc/*) port_pid=${port_first#/proc/} port_pid=${port_pid%%/*} ;;
        *) printf '%s\n' "$port_pid" ;;
        esac
    done | sort -un
    set -f
}

# family_of PID START RUN_ID: adds to `family` (words PID:START) the process, the members of its session if it leads one, all
# descendants, and whoever carries SPECDECK_RUN=RUN_ID in its environment. What was in `family` stays: a child of a parent that
# died has no ancestor any more. Never this script, its parent, or pid 1.
family_of() {
    if proc_stat "$1"; then
        if [ "$stat_start" = "$2" ]; then
            [ "$stat_session" = "$1" ] && family_session=$1
            family_add "$1" "$2"
        else
            family_session= # the pid is a stranger's by now, and so is a session of that number
        fi
    elif [ -n "$3" ]; then
        family_session=$1 # a run of ours led its session; the kernel reuses no number that a session still has
    fi
    family_add_marked "$3"
    family_grew=yes
    while [ "$family_grew" = yes ]; do
        family_grew=no
        set +f
        for family_dir in /proc/[0-9]*; do
            set -f
            proc_stat "${family_dir#/proc/}" && family_consider "${family_dir#/proc/}"
        done
        set -f
    done
}

# family_add_marked RUN_ID: the processes whose environment names this run.
family_add_marked() {
    [ -n "$1" ] || return 0
    set +f
    family_marked=$(grep -l -a -F "SPECDECK_RUN=$1" /proc/[0-9]*/environ 2>/dev/null)
    set -f
    for family_file in $family_marked; do
        family_pid=${family_file#/proc/}
        proc_stat "${family_pid%/environ}" && family_add "${family_pid%/environ}" "$stat_start"
    done
}

# family_consider PID: it was just read by proc_stat; it joins as a member of the session or as a child of a member.
family_consider() {
    family_start=$stat_start
    if [ "$stat_session" = "${family_session:-none}" ] || family_has "$stat_ppid"; then
        family_add "$1" "$family_start"
    fi
}

family_add() {
    case $1 in 1 | "$$" | "$PPID") return ;; esac
    case " $family " in *" $1:$2 "*) return ;; esac
    family="$family $1:$2"
    family_grew=yes
}

# family_has PID: a living member has this pid (a dead member's pid may be a stranger's by now).
family_has() {
    case " $family " in *" $1:"*) ;; *) return 1 ;; esac
    family_rest=${family##* "$1":}
    proc_lives "$1" "${family_rest%% *}"
}

# family_left: sets `left` to those of `family` that still live (zombies do not).
family_left() {
    left=
    for family_member in $family; do
        proc_lives "${family_member%%:*}" "${family_member#*:}" && left="$left $family_member"
    done
    left=${left# }
}

# gpu_held: sets `held_mib` to what the family holds by nvidia-smi's word; fails if nvidia-smi does not answer.
gpu_held() {
    gpu_apps=$(nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader,nounits </dev/null 2>/dev/null) || return 1
    held_mib=0
    while IFS=', ' read -r gpu_pid gpu_mib _; do
        case " $family " in *" $gpu_pid:"*) ;; *) continue ;; esac
        case $gpu_mib in '' | *[!0-9]*) continue ;; esac
        held_mib=$((held_mib + gpu_mib))
    done <<EOF
$gpu_apps
EOF
}

# gpu_used: sets `used_mib` to memory.used summed over all GPUs; fails if nvidia-smi does not answer.
gpu_used() {
    gpu_rows=$(nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits </dev/null 2>/dev/null) || return 1
    used_mib=0
    while IFS=', ' read -r gpu_mib _; do
        case $gpu_mib in '' | *[!0-9]*) continue ;; esac
        used_mib=$((used_mib + gpu_mib))
    done <<EOF
$gpu_rows
EOF
}

# Functions that read /proc with shell builtins. A process is its pid and its start time; a name is never an identity.
# shellcheck shell=sh disable=SC2034,SC2154
# uses nvidia_smi.sh

# proc_stat PID: sets stat_name stat_state stat_ppid stat_session stat_tty stat_threads stat_start; fails if there is no such process.
proc_stat() {
    stat_line=
    { while IFS= read -r stat_more; do stat_line="$stat_line$stat_more"; done; } 2>/dev/null <"/proc/$1/stat" || return 1
    [ -n "$stat_line" ] || return 1
    stat_name=${stat_line#*\(}
    stat_name=${stat_name%\)*}
    # shellcheck disable=SC2086 # split into fields; globbing is off (set -f)
    set -- ${stat_line##*\) }
    stat_state=$1 stat_ppid=$2 stat_session=$4 stat_tty=$5 stat_threads=${18} stat_start=${20}
}

# proc_lives PID START: the very process, and it is no zombie. A zombie with threads lives: only its first thread has ended.
proc_lives() {
    proc_stat "$1" && [ "$stat_start" = "$2" ] || return 1
    case $stat_state in Z | X | x) [ "$stat_threads" -gt 1 ] ;; esac
}

# proc_uid PID: sets proc_user_id to the user who may signal it; fails if there is no such process or /proc hides it.
proc_uid() {
    proc_user_id=
    while read -r uid_key _ uid_effective _; do
        [ "$uid_key" != Uid: ] || { proc_user_id=$uid_effective && return 0; }
    done 2>/dev/null <"/proc/$1/status"
    return 1
}

# user_name UID: prints the name, or the number where nobody knows a name.
user_name() {
    while IFS=: read -r user_known _ user_id _; do
        [ "$user_id" != "$1" ] || { printf '%s' "$user_known" && return 0; }
    done 2>/dev/null </etc/passwd
    user_known=$(getent passwd "$1" 2>/dev/null)
    printf '%s' "${user_known%%:*}" | grep . || printf 'uid %s' "$1"
}

# spare_callers: sets `spared` to this shell and all that it hangs on (sshd, a terminal, specdeck itself), and own_session. They are
# never of a family, whatever their environment says.
spare_callers() {
    proc_stat "$$" || return 0
    own_session=$stat_session spared="$$:$stat_start" spare_next=$stat_ppid
    while [ "$spare_next" -gt 1 ] && proc_stat "$spare_next"; do
        spared="$spared $spare_next:$stat_start" spare_next=$stat_ppid
    done
}

# port_counts LOCAL: a row of /proc/net/tcp is of port_hex, and on an address that stands in the server's way: one of `port_at`, where
# that is set. (Somebody else may serve the same port on another address.)
port_counts() {
    case $1 in *:"$port_hex") ;; *) return 1 ;; esac
    [ -n "${port_at-}" ] || return 0
    case " $port_at " in *" ${1%:*} "*) ;; *) return 1 ;; esac
}

# port_find PORT: sets `port_rows` to the rows of sockets in LISTEN on it (TIME_WAIT does not count); fails where there are none. A busy
# server's table has thousands of rows, which a shell reads byte by byte.
port_find() {
    port_hex=$(printf '%04X' "$1") port_rows=
    port_table=$(grep -h ":$port_hex [0-9A-F]*:0000 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null)
    while read -r port_row; do
        # shellcheck disable=SC2086 # fields
        set -- $port_row
        [ -z "$port_row" ] || ! port_counts "$2" || port_rows="$port_rows$port_row
"
    done <<EOF
$port_table
EOF
    [ -n "$port_rows" ]
}

# port_listens PORT: somebody is in LISTEN on it.
port_listens() { port_find "$1"; }

# port_owners PORT: prints the pids that hold the listening sockets, as far as this user may see them.
port_owners() { ! port_find "$1" || rows_owners; }

# rows_owners: the same of what port_find has found. ls only finds candidates: a file may be called like a socket, so the link itself is
# read again.
rows_owners() {
    port_inodes=
    while read -r _ _ _ _ _ _ _ _ _ port_inode _; do
        [ -z "$port_inode" ] || port_inodes="$port_inodes -e socket:\\[$port_inode\\]\$"
    done <<EOF
$port_rows
EOF
    [ -n "$port_inodes" ] || return 0
    set +f
    # shellcheck disable=SC2010,SC2086 # patterns are a list; ls is the one way to read many links with one process
    LC_ALL=C ls -ln /proc/[0-9]*/fd 2>/dev/null | grep -e '^/proc/' $port_inodes | while read -r port_first _ _ _ _ _ _ _ port_fd port_arrow port_target; do
        case $port_first in
        /proc/*) port_pid=${port_first#/proc/} port_pid=${port_pid%%/*} ;;
        l*)
            case $port_pid$port_fd in *[!0-9]*) continue ;; esac
            case $port_arrow$port_target in '->socket:['*) ;; *) continue ;; esac # the target of a file begins with a slash
            [ "$(readlink "/proc/$port_pid/fd/$port_fd" 2>/dev/null)" != "$port_target" ] || printf '%s\n' "$port_pid"
            ;;
        esac
    done | sort -un
    set -f
}

# rows_uids: prints the user ids of the sockets that port_find has found; the kernel tells them also where it hides the processes.
rows_uids() {
    while read -r _ _ _ _ _ _ _ port_uid _; do
        [ -z "$port_uid" ] || printf '%s\n' "$port_uid"
    done <<EOF | sort -un
$port_rows
EOF
}

# family_of PID START RUN_ID ENDED: adds to `family` (words PID:START) the process, the members of its session if it leads one, all
# descendants, and whoever carries SPECDECK_RUN=RUN_ID in its environment. What was in `family` stays: a child of a parent that
# died has no ancestor any more. ENDED is when the process of a run ended, in ticks since boot, as far as its wrapper could tell.
# A number is never enough: once the leader is gone, "session PID" means ours only while somebody known is in it, or to those who were
# born while the leader lived; later the kernel may give the number away.
family_of() {
    case $1 in '' | 0 | 1 | *[!0-9]*) return ;; esac
    family_session='' family_ended='' family_run=$3
    family_add_marked "$3"
    if proc_stat "$1"; then
        if [ "$stat_start" = "$2" ]; then
            [ "$stat_session" != "$1" ] || family_session=$1
            family_add "$1" "$2" "$stat_session"
        fi
    else
        [ -z "$3" ] || family_ended=${4-}
        family_find_session "$1"
    fi
    family_grew=yes
    while [ "$family_grew" = yes ]; do
        family_grew=no
        for family_row in $(family_rows); do
            family_parent=${family_row#*:} family_parent=${family_parent%:*}
            case $family_row/$family" " in *":$1/"* | *" $family_parent:"*) ;; *) continue ;; esac
            proc_stat "${family_row%%:*}" && family_consider "${family_row%%:*}" "$1"
        done
    done
}

# family_rows: prints PID:PARENT:SESSION of every process, to find those worth a closer look: a shell reads a file byte by byte, and a
# host has thousands. grep names the file before each of its lines, so the pid is true whatever a process calls itself.
family_rows() {
    set +f
    LC_ALL=C grep -a '' /proc/[0-9]*/stat 2>/dev/null |
        LC_ALL=C sed -n 's|^/proc/\([0-9]*\)/stat:.*) [A-Za-z] \([0-9]*\) [0-9-]* \([0-9-]*\) .*|\1:\2:\3|p'
    set -f
}

# family_find_session PID: the session of a leader that is gone is still ours where a known member lives in it.
family_find_session() {
    for family_member in $family; do
        if proc_lives "${family_member%%:*}" "${family_member#*:}" && [ "$stat_session" = "$1" ]; then
            family_session=$1
            return
        fi
    done
}

# family_add_marked RUN_ID: the processes whose environment names this run. A process on a terminal is a shell that somebody opened with
# the server's environment, or was started from one: not the server's. (Engines that set a process title wipe their environment.)
family_add_marked() {
    [ -n "$1" ] || return 0
    set +f
    family_marked=$(grep -l -a -F "SPECDECK_RUN=$1" /proc/[0-9]*/environ 2>/dev/null)
    set -f
    for family_file in $family_marked; do
        family_pid=${family_file#/proc/} family_pid=${family_pid%/environ}
        tr '\n\000' ' \n' 2>/dev/null <"$family_file" | grep -q -a -x -F "SPECDECK_RUN=$1" || continue
        proc_stat "$family_pid" && [ "$stat_tty" = 0 ] && family_add "$family_pid" "$stat_start" "$stat_session"
    done
}

# family_consider PID LEADER: it was just read by proc_stat; it joins as a member of the session or as a child of a member.
family_consider() {
    family_start=$stat_start family_its_session=$stat_session
    if [ -n "$family_ended" ] && [ "$stat_session" = "$2" ] && [ "$stat_start" -lt "$family_ended" ]; then
        family_session=$2
    fi
    [ "$family_its_session" = "${family_session:-none}" ] || family_has "$stat_ppid" || return 0
    [ -z "$family_run" ] && is_other_program "$1" "$family_start" || family_add "$1" "$family_start" "$family_its_session"
}

# is_other_program PID START: a script that became the server may have started something else before (a training beside it): `python -m` of
# a module that no engine starts is left alone. Not asked of runs of ours: all that is below those is theirs.
is_other_program() {
    case " $family " in *" $1:$2 "*) return 1 ;; esac
    case " $spared " in *" $1:$2 "*) return 0 ;; esac
    other_words=$(tr '\n\000' ' \n' 2>/dev/null <"/proc/$1/cmdline" | head -n 3 | tr '\n' ' ')
    case ${other_words%% *} in *python*) ;; *) return 1 ;; esac
    case $other_words in *' -m '*) other_module=${other_words#* -m } ;; *) return 1 ;; esac
    case $other_module in
    sglang* | vllm* | multiprocessing* | concurrent* | torch* | triton* | flashinfer* | ray* | nvidia* | tvm*) return 1 ;;
    esac
    spared="$spared $1:$2"
}

# family_add PID START SESSION
family_add() {
    case $1 in 1) return ;; esac
    case " $family $spared " in *" $1:$2 "*) return ;; esac
    [ "$3" != "${own_session:-none}" ] || return 0
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

# gpu_held: by nvidia-smi's word sets `held_mib` to what the family holds, `held_by` to how many of its processes are named, and
# `others_mib` to what all others hold; fails if nvidia-smi does not answer.
gpu_held() {
    smi_rows --query-compute-apps=pid,used_memory || return 1
    gpu_apps=$smi_text held_mib=0 held_by=0 others_mib=0
    while IFS=', ' read -r gpu_pid gpu_mib _; do
        case $gpu_mib in '' | *[!0-9]*) gpu_mib=0 ;; esac
        case " $family " in
        *" $gpu_pid:"*) held_by=$((held_by + 1)) held_mib=$((held_mib + gpu_mib)) ;;
        *) others_mib=$((others_mib + gpu_mib)) ;;
        esac
    done <<EOF
$gpu_apps
EOF
}

# gpu_mib_of PID: prints what one process holds by the last gpu_held, if nvidia-smi named it.
gpu_mib_of() {
    gpu_sum=
    while IFS=', ' read -r gpu_pid gpu_mib _; do
        [ "$gpu_pid" = "$1" ] || continue
        case $gpu_mib in '' | *[!0-9]*) continue ;; esac
        gpu_sum=$((${gpu_sum:-0} + gpu_mib))
    done <<EOF
$gpu_apps
EOF
    printf '%s' "$gpu_sum"
}

# gpu_used: sets `used_mib` to memory.used summed over all GPUs; fails if nvidia-smi does not answer.
gpu_used() {
    smi_rows --query-gpu=memory.used || return 1
    used_mib=0
    while IFS=', ' read -r gpu_mib _; do
        case $gpu_mib in '' | *[!0-9]*) continue ;; esac
        used_mib=$((used_mib + gpu_mib))
    done <<EOF
$smi_text
EOF
}

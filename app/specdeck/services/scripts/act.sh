# The actor: one act (stop, launch, relaunch, pivot) from its first line to its last, detached on the host, so that a laptop that
# sleeps or dies in the middle cannot leave a server down. Every step is in the journal before the next begins.
# Needs proc.sh, lock.sh and journal.sh before it. Ends with 4 where somebody else acts, 5 where its folder cannot be written, 6 or 7 as
# take_lock says; nothing was touched then. Arguments:
# shellcheck shell=sh disable=SC2154,SC2034
#   FOLDER KIND WHO PROFILE PORT  TARGET(PID:START or -) BOOT RUN_ID OLD_RUN(or -)  DRAIN KILL_AFTER ABORT_URL(or -) ABORT_BODY
#   ROLLBACK_ID(or -) READY_WORDS OWNERS_STOP(or -)  GROUP_ACT(or -) WHY(or -)  STAGED(or -)
set -f
unset SPECDECK_RUN # of whoever asked, if they sit in a shell that has the environment of a server
umask 077
folder=$1 kind=$2 who=$3 profile=$4 port=$5
target=$6 boot=$7 run_id=$8 old_run=$9
shift 9
drain=$1 kill_after=$2 abort_url=$3 abort_body=$4 rollback_id=$5 ready_words=$6 owners_stop=$7 group_act=$8 why=$9
shift 9
staged=$1
silence_seconds=1800 # a compile may say nothing for ten minutes
unkillable_seconds=30 # the driver may need long to take back what a killed process held
lock=/tmp/specdeck-port-$port.lock
PATH=$PATH:/usr/local/nvidia/bin:/usr/lib/wsl/lib
family='' family_session='' left='' lock_broken='' naps=0

# nap: between two looks at what is waited for: short at first, for most waits are, then seldom. `naps=0` begins a wait.
nap() {
    naps=$((naps + 1))
    if [ "$naps" -le 10 ]; then nap_seconds=0.02; elif [ "$naps" -le 20 ]; then nap_seconds=0.05; else nap_seconds=0.2; fi
    sleep "$nap_seconds" 2>/dev/null || sleep 1
}

fail() {
    end_act "$1" "$2"
    [ ! -d "$staged" ] || rm -rf "$staged"
    exit 1
}

# blocked WHAT WORDS SENTENCE: the act ends here; WHAT WORDS says what dashboards must watch until it is gone.
blocked() {
    printf '%s %s\n' "$1" "$2" >"$folder/left"
    fail blocked "$3"
}

# describe WORDS: PID:START words as `PID NAME (STATE)`, with the GPU memory where nvidia-smi named it, for the journal.
describe() {
    described=
    for describe_member in $1; do
        proc_lives "${describe_member%%:*}" "${describe_member#*:}" || continue
        describe_mib=$(gpu_mib_of "${describe_member%%:*}")
        described="$described${described:+, }${describe_member%%:*} $stat_name ($stat_state${describe_mib:+, $describe_mib MiB})"
    done
    printf '%s' "$described"
}

# describe_pids PID...: the same for pids alone, with their user.
describe_pids() {
    describe_comma=
    for describe_pid; do
        proc_stat "$describe_pid" || continue
        proc_uid "$describe_pid"
        printf '%spid %s (%s, user %s)' "$describe_comma" "$describe_pid" "$stat_name" "$(user_name "${proc_user_id:-?}")"
        describe_comma=', '
    done
}

# signal NAME WORDS: each process is checked once more, just before.
signal() {
    signal_name=$1
    for signal_member in $2; do
        proc_lives "${signal_member%%:*}" "${signal_member#*:}" && kill -s "$signal_name" "${signal_member%%:*}" 2>/dev/null
    done
}

# kill_left: SIGKILL, once to each: a process that does not end by it ends by no other one.
kill_left() {
    for kill_member in $left; do
        case " $killed " in *" $kill_member "*) continue ;; esac
        killed="$killed $kill_member"
        signal KILL "$kill_member"
    done
}

# ask_abort: the engine ends the requests that still run; again at every turn, since SGLang takes new ones while it drains.
ask_abort() {
    [ "$abort_url" != - ] || return 0
    if post "$abort_url" "$abort_body"; then abort_answer=asked; else abort_answer=silent; fi
    [ "$abort_told" != "$abort_answer" ] || return 0
    abort_told=$abort_answer
    case $abort_answer in
    asked) say abort "the engine is asked to end the requests that still run" ;;
    *) say abort "the engine could not be asked to end its requests; waiting on" ;;
    esac
}

# post URL BODY: with curl, or with any Python where there is none.
post() {
    if command -v curl >/dev/null 2>&1; then
        curl -s -f -m 3 -o /dev/null --noproxy '*' -H 'Content-Type: application/json' -d "$2" "$1" </dev/null 2>/dev/null
    else
        python3 -c 'import sys, urllib.request as r
r.build_opener(r.ProxyHandler({})).open(r.Request(sys.argv[1], sys.argv[2].encode(), {"Content-Type": "application/json"}), timeout=3)' \
            "$1" "$2" </dev/null >/dev/null 2>&1
    fi
}

# ask_end: SIGTERM, or what the owner of the process (systemd, docker, Slurm) has for it: it would start again what is only killed.
ask_end() {
    if [ "$owners_stop" != - ]; then
        say owner "$owners_stop"
        owner_said=$(sh -c "$owners_stop" 2>&1 </dev/null) || fail failed "\`$owners_stop\`: $owner_said"
        return 0
    fi
    ask_term && say term "kill_at=$kill_at"
}

# ask_term: SIGTERM to the server's own process, if it still is that process; fails where it is gone.
ask_term() {
    proc_lives "$target_pid" "$target_start" || return 1
    kill -s TERM "$target_pid" 2>/dev/null && return 0
    proc_lives "$target_pid" "$target_start" || return 1
    proc_uid "$target_pid"
    fail failed "pid $target_pid ($stat_name) belongs to $(user_name "${proc_user_id:-?}"): no permission to signal it"
}

# end_family: ends the server and all of its family; returns when none of it lives.
end_family() {
    term_at=$(date +%s)
    kill_at=$((term_at + kill_after)) abort_at=$((term_at + drain)) orphaned_at='' killed_at='' killed='' told='' abort_told='' asked_again=''
    ask_end
    naps=0
    while some_live; do
        if [ "$owners_stop" = - ]; then
            press_on
        elif [ "$now" -ge "$kill_at" ]; then
            blocked processes "$left" "still there after \`$owners_stop\`: $(describe "$left")"
        fi
        nap
    done
}

# some_live: sets `left` and `now`, and tells how many there are when that changes.
some_live() {
    family_of "$target_pid" "$target_start" "$run_id" "$(ended_at)"
    family_left
    now=$(date +%s)
    [ -n "$left" ] || return 1
    # shellcheck disable=SC2086 # count the words
    set -- $left
    [ "$told" = "$#" ] || { told=$# && say waiting "left=$#"; }
}

# press_on: children that their parent left behind, requests that do not end, and at the deadline SIGKILL.
press_on() {
    if [ -z "$orphaned_at" ] && ! proc_lives "$target_pid" "$target_start"; then
        orphaned_at=$now
        [ $((now + 10)) -lt "$kill_at" ] && kill_at=$((now + 10))
        signal TERM "$left"
        say orphans "kill_at=$kill_at $(describe "$left")"
    fi
    ask_term_again
    [ "$now" -ge "$abort_at" ] && [ -z "$orphaned_at" ] && [ -z "$killed_at" ] && ask_abort
    [ "$now" -ge "$kill_at" ] || return 0
    [ -n "$killed_at" ] || { killed_at=$now && say kill "$(describe "$left")"; }
    kill_left
    [ $((now - killed_at)) -lt "$unkillable_seconds" ] && return 0
    gpu_held
    blocked processes "$left" "SIGKILL does not end $(describe "$left"): the driver or the kernel holds it; the GPU needs a reset, or the host a reboot"
}

# ask_term_again: a SIGTERM in the middle of a start may be swallowed (vLLM 0.32 goes on to serve): asked once more when the port opens
# after the first one, or when the drain is over.
ask_term_again() {
    [ -z "$asked_again" ] && [ -z "$orphaned_at" ] && [ -z "$killed_at" ] || return 0
    if [ "$now" -ge "$abort_at" ] && [ "$abort_url" = - ]; then
        term_why="it still runs after $drain s"
    elif [ "$listened" = no ] && port_listens "$port"; then
        term_why="it came up after the first SIGTERM"
    else
        return 0
    fi
    asked_again=yes
    ask_term && say term "kill_at=$kill_at asked again: $term_why"
}

# ended_at: when the process of the old run ended, in ticks since boot, if its wrapper has told.
ended_at() { [ "$old_run" = - ] || cat "$old_run/ended" 2>/dev/null; }

# port_is_others: what port_find has found is held by none of the family.
port_is_others() {
    others_pids=$(rows_owners)
    [ -n "$others_pids" ] || return 1
    for others_pid in $others_pids; do
        case " $family " in *" $others_pid:"*) return 1 ;; esac
    done
}

wait_port_closed() {
    [ -z "$held_by_others" ] || { say port-of-others "port $port is listened on by $held_by_others, as before" && return 0; }
    waited_until=$(($(date +%s) + 10)) naps=0
    while port_listens "$port"; do
        # shellcheck disable=SC2046 # one word a pid
        [ "$(date +%s)" -lt "$waited_until" ] ||
            blocked port "$port" "port $port is still listened on by $(describe_pids $(port_owners "$port") | grep . || echo 'a process that this user may not see')"
        nap
    done
    say port-free "$port"
}

# wait_memory_back: nvidia-smi no longer names the family, and what it held is no longer in use. What others take meanwhile does not
# count: only memory that no process answers for.
wait_memory_back() {
    [ -n "$held_before" ] || { say memory-unknown "nvidia-smi does not answer" && return 0; }
    [ "$held_by_before" -gt 0 ] || { say memory-back "nvidia-smi named none of its processes" && return 0; }
    memory_slack=$((held_before / 10 + 64)) # the driver's own share moves a little
    waited_until=$(($(date +%s) + 60)) unclaimed_goal=$((used_before - held_before - others_before + memory_slack)) naps=0
    while :; do
        if gpu_held && gpu_used && [ "$held_by" -eq 0 ] && [ $((used_mib - others_mib)) -le "$unclaimed_goal" ]; then
            say memory-back "$held_before MiB"
            return 0
        fi
        [ "$(date +%s)" -lt "$waited_until" ] ||
            blocked memory "$unclaimed_goal" "GPU memory is not back: of $held_before MiB, $((used_mib - others_mib - unclaimed_goal + memory_slack)) MiB are held by no process that is visible from here"
        nap
    done
}

stop_server() {
    target_pid=${target%%:*} target_start=${target#*:}
    read -r boot_now </proc/sys/kernel/random/boot_id
    [ "$boot_now" = "$boot" ] || { say gone "the host was restarted since" && return 0; }
    family_of "$target_pid" "$target_start" "$run_id" "$(ended_at)"
    family_left
    [ -n "$left" ] || { say gone "pid $target_pid had ended before" && return 0; }
    held_before='' used_before=0 listened=no held_by_others=
    gpu_held && gpu_used && held_before=$held_mib held_by_before=$held_by others_before=$others_mib used_before=$used_mib
    if port_find "$port"; then
        listened=yes
        # shellcheck disable=SC2086 # one word a pid
        ! port_is_others || held_by_others=$(describe_pids $others_pids)
    fi
    say identified "pid=$target_pid held=${held_before:--} $(describe "$family")"
    [ "$old_run" = - ] || printf '%s %s\n' "$who" "$(date +%s)" >"$old_run/stop"
    end_family
    say gone "pid $target_pid and its family"
    [ "$port" = 0 ] || wait_port_closed
    wait_memory_back
}

# next_run: sets `run` to the folder after the newest; mkdir decides between two.
next_run() {
    run_number=0
    set +f
    for run_folder in "$folder"/[0-9][0-9][0-9][0-9]; do
        [ -d "$run_folder" ] && run_number=${run_folder##*/}
    done
    set -f
    run_number=${run_number#0} run_number=${run_number#0} run_number=${run_number#0}
    run=$folder/$(printf '%04d' $((run_number + 1)))
}

# wait_for_group STEP WORD SECONDS OTHERWISE: of a server that spans several hosts, this rank goes on when the others are as far. This
# host cannot see them: whoever watches all of them says so in the file `go`, and may be another one than who asked. Without that word
# it does not go on, it fails with OTHERWISE; the lock is held meanwhile.
wait_for_group() {
    [ "$group_act" != - ] || return 0
    group_until=$(($(date +%s) + $3)) naps=0
    say "$1" "$group_act until=$group_until"
    while :; do
        go_act='' go_word='' go_why=''
        [ ! -s "$folder/go" ] || read -r go_act go_word go_why <"$folder/go"
        case $go_act/$go_word in
        "$group_act/$2") return 0 ;;
        "$group_act/no") fail failed "$4: $go_why" ;;
        esac
        [ "$(date +%s)" -lt "$group_until" ] || fail failed "$4: nobody who watches all nodes said that the others are as far"
        nap
    done
}

launch_server() {
    ! port_listens "$port" || fail failed "port $port is in use by pid $(port_owners "$port" | tr '\n' ' ')"
    next_run
    mv "$staged" "$run" || fail failed "cannot make $run"
    { date +%s >"$run/started" && printf '' >"$run/log"; } || fail failed "cannot write in $run: is the disk full?"
    setsid sh "$run/wrapper" "$run" </dev/null >/dev/null 2>&1 &
    launch_tries=0 naps=0
    while [ ! -s "$run/pid" ]; do
        launch_tries=$((launch_tries + 1))
        [ $launch_tries -lt 70 ] && kill -0 $! 2>/dev/null || [ -s "$run/pid" ] ||
            fail failed "the wrapper did not start the server: see $run"
        nap
    done
    read -r launched_pid _ <"$run/pid"
    say launched "run=${run##*/} pid=$launched_pid"
}

# watch_start: the new run until it is ready, died or fell silent. The lock is free meanwhile: whoever acts now takes over, and
# this actor, which sees another one in its place, leaves without a word.
watch_start() {
    release_lock
    say watching "until it is ready; if it dies before, the profile of run ${old_run##*/} comes back"
    read -r watch_pid watch_start <"$run/pid"
    watch_size=0 watch_grew=$(date +%s)
    while :; do
        read -r watch_actor _ <"$folder/actor"
        [ "$watch_actor" = "$$" ] && [ ! -e "$run/stop" ] || exit 0
        [ ! -s "$run/exit" ] || { read -r watch_status _ <"$run/exit" && watch_end="ended with status $watch_status while starting" && return 1; }
        if grep -q -a -F "$ready_words" "$run/log" && run_owns_port; then return 0; fi
        watch_now=$(date +%s) watch_bytes=$(wc -c <"$run/log")
        [ "$watch_bytes" = "$watch_size" ] || watch_size=$watch_bytes watch_grew=$watch_now
        if [ $((watch_now - watch_grew)) -ge "$silence_seconds" ]; then
            watch_end="said nothing for $silence_seconds s while starting"
            return 1
        fi
        sleep 1
    done
}

# run_owns_port: a process of the new run listens on the port (a ready line alone proves nothing).
run_owns_port() {
    family='' family_session=''
    read -r owns_id <"$run/id"
    family_of "$watch_pid" "$watch_start" "$owns_id" ''
    for owns_pid in $(port_owners "$port"); do
        family_has "$owns_pid" && return 0
    done
    return 1
}

# stage_again: the files of the run that served before, for a run with an identity of its own.
stage_again() {
    staged=$(mktemp -d "$folder/staged.XXXXXX") || return 1
    for staged_file in wrapper launch command spec profile port boot; do
        cp "$rolled_run/$staged_file" "$staged" || return 1
    done
    cp "$rolled_run/audited" "$staged" && IFS= read -r audited <"$staged/audited" && audit command "$audited"
    printf '%s\n' "$rollback_id" >"$staged/id" && printf '%s\n' "$who" >"$staged/who"
}

# roll_back: ends what is left of the new run and starts the old profile again, from the files of its run.
roll_back() {
    take_lock || exit 0
    say rollback "run ${run##*/} $watch_end"
    target=$watch_pid:$watch_start run_id=$(cat "$run/id") boot=$(cat "$run/boot")
    family='' family_session='' lost_run=$run
    abort_url=-
    rolled_run=$old_run old_run=$run
    stop_server
    stage_again || fail failed "run ${lost_run##*/} $watch_end, and run ${rolled_run##*/} cannot be started again: cannot write in $folder"
    launch_server
    fail failed "run ${lost_run##*/} $watch_end; $(cat "$rolled_run/profile") runs again as run ${run##*/}"
}

take_lock || exit $?
trap release_lock EXIT
spare_callers
begin_act || exit 5
[ "$why" = - ] || say because "$why"
rm -f "$folder/left"
[ -z "$lock_broken" ] || say lock "taken over from one that is gone: $lock_broken"
wait_for_group locked begin 60 "nothing was touched"
[ "$target" = - ] || stop_server
if [ "$staged" != - ]; then
    # as long as the slowest stop of another rank may take
    wait_for_group free launch $((kill_after + 180)) "not launched; relaunch or pivot again to finish it"
    launch_server
fi
if [ "$rollback_id" != - ] && [ "$old_run" != - ] && [ "$staged" != - ]; then watch_start || roll_back; fi
end_act 'done' ''

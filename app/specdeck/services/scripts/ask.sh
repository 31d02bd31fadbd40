# Hands an act to a detached actor and returns once its journal has begun (prints `taken`) or never will (prints why; nothing was
# touched then). Arguments: SERVER ACTOR_TEXT WRAPPER_TEXT  LAUNCH_TEXT(or -) COMMAND_TEXT SPEC AUDITED RUN_ID PROFILE
# then those of act.sh but FOLDER and STAGED.
set -f
umask 077
root=${XDG_STATE_HOME:-$HOME/.local/state}/specdeck
folder=$root/$1
staged=- actor=

give_up() {
    [ -z "$actor" ] || rm -f "$actor" "$actor.err"
    [ "$staged" = - ] || rm -rf "$staged"
    printf '%s\n' "$1"
    exit 1
}

# stage ARGUMENTS: the files of the run that is to come.
stage() {
    read -r boot_now </proc/sys/kernel/random/boot_id
    printf '%s' "$3" >"$staged/wrapper" &&
        printf '%s\n' "$4" >"$staged/launch" &&
        printf '%s\n' "$5" >"$staged/command" &&
        printf '%s\n' "$6" >"$staged/spec" &&
        printf '%s\n' "$7" >"$staged/audited" &&
        printf '%s\n' "$8" >"$staged/id" &&
        printf '%s\n' "$9" >"$staged/profile" &&
        printf '%s\n' "$boot_now" >"$staged/boot" &&
        printf '%s\n' "${11}" >"$staged/who" &&
        printf '%s\n' "${13}" >"$staged/port"
}

# What was held up on a connection that looked open (a laptop that slept) is not done hours later, when nobody expects it any more.
if [ -n "${not_after-}" ] && IFS=' .' read -r uptime _ </proc/uptime && [ "$uptime" -gt "$not_after" ]; then
    give_up "refused it came $((uptime - not_after)) s too late, over a connection that hung: nothing was touched"
fi
full="cannot write in $folder: its disk is full, or this user may not write there"
mkdir -p "$folder" 2>/dev/null || give_up "cannot make $folder"
if [ "$4" != - ]; then
    staged=$(mktemp -d "$folder/staged.XXXXXX" 2>/dev/null) || { staged=- && give_up "$full"; }
    stage "$@" 2>/dev/null || give_up "$full"
fi
actor=$(mktemp "$folder/actor.XXXXXX" 2>/dev/null) || give_up "$full"
printf '%s\n' "$2" 2>/dev/null >"$actor" || give_up "$full"
shift 9
setsid sh "$actor" "$folder" "$@" "$staged" </dev/null >/dev/null 2>"$actor.err" &
child=$!
until read -r holder _ 2>/dev/null <"$folder/actor" && [ "$holder" = "$child" ] && [ -s "$folder/act" ]; do
    kill -0 "$child" 2>/dev/null || break
    sleep 0.01 2>/dev/null || sleep 1
done
if [ "${holder-}" = "$child" ] && [ -s "$folder/act" ]; then
    echo taken
    rm -f "$actor" # the shell keeps reading the open file
    [ -s "$actor.err" ] || rm -f "$actor.err"
    exit 0
fi
wait "$child"
status=$?
case $status in
4) give_up "locked $(head -n 1 "/tmp/specdeck-port-$4.lock" 2>/dev/null | cut -c 1-300)" ;;
5) give_up "$full" ;;
6) give_up "refused /tmp/specdeck-port-$4.lock was left by another user, or is no lock of specdeck: it must be removed before anybody can act" ;;
7) give_up "refused cannot write in /tmp, where the lock of port $4 must lie" ;;
esac
give_up "the actor did not start (status $status): $(head -c 500 "$actor.err" 2>/dev/null)"

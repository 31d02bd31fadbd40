# Hands an act to a detached actor and returns once the actor has taken the lock (prints `taken`) or not (prints why).
# Arguments: SERVER ACTOR_TEXT WRAPPER_TEXT  LAUNCH_TEXT(or -) COMMAND_TEXT SPEC RUN_ID PROFILE  then those of act.sh but FOLDER and STAGED.
set -f
umask 077
root=${XDG_STATE_HOME:-$HOME/.local/state}/specdeck
folder=$root/$1
mkdir -p "$folder" || { echo "cannot make $folder"; exit 1; }
staged=-
if [ "$4" != - ]; then
    staged=$(mktemp -d "$folder/staged.XXXXXX") || { echo "cannot write in $folder"; exit 1; }
    read -r boot_now </proc/sys/kernel/random/boot_id
    {
        printf '%s' "$3" >"$staged/wrapper" &&
            printf '%s\n' "$4" >"$staged/launch" &&
            printf '%s\n' "$5" >"$staged/command" &&
            printf '%s\n' "$6" >"$staged/spec" &&
            printf '%s\n' "$7" >"$staged/id" &&
            printf '%s\n' "$8" >"$staged/profile" &&
            printf '%s\n' "$boot_now" >"$staged/boot" &&
            printf '%s\n' "${12}" >"$staged/port" &&
            printf '%s\n' "${10}" >"$staged/who"
    } || {
        echo "cannot write in $staged"
        rm -rf "$staged"
        exit 1
    }
fi
actor=$(mktemp "$folder/actor.XXXXXX") || { echo "cannot write in $folder"; exit 1; }
printf '%s\n' "$2" >"$actor"
shift 8
setsid sh "$actor" "$folder" "$@" "$staged" </dev/null >/dev/null 2>"$actor.err" &
child=$!
tries=0
while [ "$tries" -lt 50 ]; do
    tries=$((tries + 1))
    holder=
    [ -f "$folder/actor" ] && read -r holder _ <"$folder/actor"
    if [ "$holder" = "$child" ]; then
        echo "taken"
        rm -f "$actor" # the shell keeps reading the open file
        [ -s "$actor.err" ] || rm -f "$actor.err"
        exit 0
    fi
    kill -0 "$child" 2>/dev/null || break
    sleep 0.1 2>/dev/null || sleep 1
done
wait "$child"
status=$?
if [ "$status" = 4 ]; then
    echo "locked $(cat "/tmp/specdeck-port-$4.lock" 2>/dev/null)"
else
    echo "the actor did not start (status $status): $(head -c 500 "$actor.err" 2>/dev/null)"
fi
rm -rf "$actor" "$actor.err"
[ "$staged" = - ] || rm -rf "$staged"
exit 1

# Waits until the journal of a server's act has more than so many lines, or its actor is gone, for a second or two at most: a step is
# told when it is written, and a long drain asks seldom. Needs proc.sh before it and steps.sh after it. Arguments: SERVER LINES.
# shellcheck shell=sh disable=SC2154
folder=${XDG_STATE_HOME:-$HOME/.local/state}/specdeck/$1
await_turns=0 await_nap=0.02
while [ "$await_turns" -lt 30 ] && read -r actor_pid actor_start 2>/dev/null <"$folder/actor" && proc_lives "$actor_pid" "$actor_start"; do
    await_lines=0
    while read -r _; do await_lines=$((await_lines + 1)); done 2>/dev/null <"$folder/act"
    [ "$await_lines" -le "$2" ] || break
    await_turns=$((await_turns + 1))
    sleep "$await_nap" 2>/dev/null || { sleep 1 && await_turns=$((await_turns + 29)); }
    [ "$await_turns" -lt 10 ] || await_nap=0.05
done

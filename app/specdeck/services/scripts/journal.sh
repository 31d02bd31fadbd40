# The journal of an act, which dashboards watch, and the audit log of all acts of a server, which is only ever appended to.
# An audit line is AT<TAB>ACT<TAB>WHO<TAB>KIND<TAB>PROFILE<TAB>STEP<TAB>DETAIL; the last STEP of every act is `result`.
# shellcheck shell=sh disable=SC2154

tab=$(printf '\t') newline='
'

# say STEP DETAIL: one line in each. A disk that is full in the middle of an act does not stop it: half a stop is worse.
say() {
    say_at=$(date +%s) say_detail=$2
    case $2 in *["$tab$newline"]*) say_detail=$(printf '%s' "$2" | tr '\n\t' '  ') ;; esac
    printf '%s\t%s\t%s\t%s\n' "$say_at" "$kind" "$1" "$say_detail" >>"$folder/act"
    audit "$1" "$say_detail"
}

# audit STEP DETAIL: for the audit log only, at the time of what was said last.
audit() {
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$say_at" "$began.$$" "$who" "$kind" "$profile" "$1" "$2" >>"$folder/audit"
}

# end_act STEP DETAIL: the last words of this act.
end_act() {
    say "$1" "$2"
    audit result "$1 after $((say_at - began)) s${2:+: $say_detail}"
    tidy
}

# begin_act: fails where the journal cannot be written; nothing was touched then.
begin_act() {
    began=$(date +%s)
    tell_the_end_of_the_last
    proc_stat "$$"
    printf '' >"$folder/act" && printf '%s %s\n' "$$" "$stat_start" >"$folder/actor" && say asked "$who $profile"
    [ -s "$folder/act" ] || return 1
    [ "$staged" = - ] || { IFS= read -r audited <"$staged/audited" && audit command "$audited"; }
}

# tell_the_end_of_the_last: an act whose script was ended in the middle gets its result in the audit log from the next one.
tell_the_end_of_the_last() {
    last=$(tail -n 1 "$folder/audit" 2>/dev/null)
    case $last in '' | *"${tab}result$tab"*) return 0 ;; esac
    last_end="broke off after"
    read -r last_pid last_start 2>/dev/null <"$folder/actor" && proc_lives "$last_pid" "$last_start" && last_end="left to the next act after"
    last_act=${last#*"$tab"} last_step=${last%"$tab"*}
    printf '%s\t%s\tresult\t%s %s\n' "$began" "$(printf '%s' "$last_act" | cut -f 1-4)" "$last_end" "${last_step##*"$tab"}" >>"$folder/audit"
}

# tidy: what askers that were ended in the middle left behind; none takes ten minutes.
tidy() {
    find "$folder" -maxdepth 1 \( -name 'staged.??????' -o -name 'actor.??????' -o -name 'actor.??????.err' \) -mmin +10 -exec rm -rf {} + 2>/dev/null
    find /tmp -maxdepth 1 -name 'specdeck-lock.??????' -type f -mmin +10 -exec rm -f {} + 2>/dev/null
}

# One act at a time on a port of this host, whoever asks. The holder is a process, so that "gone" can be told. A lock is one line:
# PID START SINCE KIND WHO. It lies in /tmp, where all users meet and none can remove another's file.
# Needs proc.sh before it, and set -f.
# shellcheck shell=sh disable=SC2034,SC2154

# lock_look FILE: sets lock_line to what a lock says, and lock_state to free, held, gone (its holder lives no more), stuck (gone, but
# only the user who made it may remove it) or strange (no lock of specdeck, or not readable: a link is never followed).
lock_look() {
    lock_line='' lock_state=free
    [ -e "$1" ] || [ -h "$1" ] || return 0
    lock_state=strange
    [ -f "$1" ] && [ ! -h "$1" ] && [ -r "$1" ] || return 0
    IFS= read -r lock_line 2>/dev/null <"$1" || { [ -e "$1" ] || lock_state=free && return 0; }
    lock_file=$1
    # shellcheck disable=SC2086 # fields
    set -- $lock_line
    case $1$2$3 in '' | *[!0-9]*) return 0 ;; esac
    if proc_lives "$1" "$2"; then
        lock_state=held
    elif [ -O "$lock_file" ] || [ "$(id -u)" = 0 ]; then
        lock_state=gone
    else
        lock_state=stuck
    fi
}

# take_lock: returns 0, or 4 where somebody holds it, 6 where it can never be taken as it is, 7 where /tmp cannot be written.
take_lock() {
    proc_stat "$$"
    lock_words="$$ $stat_start $(date +%s) $kind $who"
    lock_mine=$(mktemp /tmp/specdeck-lock.XXXXXX 2>/dev/null) || return 7
    { printf '%s\n' "$lock_words" >"$lock_mine" && chmod 644 "$lock_mine"; } 2>/dev/null || { rm -f "$lock_mine" && return 7; }
    lock_break_if_gone
    [ "$lock_state" = strange ] || ln "$lock_mine" "$lock" 2>/dev/null # fails where there is one: this decides between two
    rm -f "$lock_mine"
    lock_look "$lock"
    [ "$lock_line" != "$lock_words" ] || return 0
    case $lock_state in strange | stuck) return 6 ;; esac
    return 4
}

# lock_break_if_gone: removes a lock whose holder lives no more. Of several who try, only one is here at a time, and looks again.
lock_break_if_gone() {
    lock_look "$lock.breaking"
    [ "$lock_state" != gone ] || rm -f "$lock.breaking"
    lock_look "$lock"
    [ "$lock_state" = gone ] && ln "$lock_mine" "$lock.breaking" 2>/dev/null || return 0
    lock_look "$lock"
    [ "$lock_state" != gone ] || { lock_broken=${lock_line#* * } && rm -f "$lock"; }
    rm -f "$lock.breaking"
}

release_lock() {
    lock_look "$lock"
    [ "$lock_line" != "$lock_words" ] || rm -f "$lock"
}

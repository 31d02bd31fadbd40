# Looks, before anything is stopped, whether the new command can start; runs after the profile's setup lines in the same shell.
# Needs what preflight/script.py writes before it (python workdir login_limit old_pid old_names version_script flags_script flags_key engine_env ask_parser) and
# preflight_begin.sh. Arguments: the paths that must be there. Prints tagged lines.
# shellcheck shell=sh disable=SC2154,SC2012
state=${XDG_STATE_HOME:-$HOME/.local/state}

# ask_flags: what the engine's own parser says of the flags; answers that will not change are kept for a day.
ask_flags() {
    kept=$state/specdeck/.flags
    stamp=$(stat -L -c %Y "$found" 2>/dev/null || ls -lLd "$found")
    answer=$kept/$flags_key-$(printf '%s\n' "$found" "$stamp" "$version" | cksum | tr ' ' -)
    find "$kept" -type f -mmin +1440 -exec rm -f {} + 2>/dev/null
    if [ ! -s "$answer" ]; then
        ask_now
        case $said in known* | refused*) keep_answer ;; esac
    else
        read -r said <"$answer"
    fi
    printf 'flags %s\n' "$said"
}

# ask_now: sets `said`. No GPU is seen, nothing is downloaded, and the program limits its own time.
ask_now() {
    (
        engine_env
        [ -z "$workdir" ] || cd "$workdir" || exit 1
        export CUDA_VISIBLE_DEVICES='' HIP_VISIBLE_DEVICES='' HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1
        ask_parser
    ) </dev/null >"$work/flags" 2>"$work/flags-errors"
    status=$?
    said=$(sed -n 's/^specdeck-flags //p' "$work/flags" | tail -n 1)
    [ -z "$said" ] || return 0
    if [ "$status" = 142 ]; then said="unknown no answer in a minute"; else said="unknown $(tail -n 1 "$work/flags-errors")"; fi
}

keep_answer() {
    (umask 077 && mkdir -p "$kept" && printf '%s\n' "$said" >"$answer.$$" && mv "$answer.$$" "$answer") 2>/dev/null
}

# shown PREFIX: the variables that decide which engine starts and what it can reach.
shown() {
    grep -E '^(PATH|https?_proxy|HTTPS?_PROXY|all_proxy|ALL_PROXY|no_proxy|NO_PROXY|HF_[A-Z_]+|CUDA_[A-Z_]+|LD_LIBRARY_PATH|PYTHONPATH|CONDA_PREFIX|VIRTUAL_ENV)=' |
        grep -v -E 'TOKEN|KEY' | sed "s/^/$1 /"
}

# show_login: waits for the interactive login shell, which ends itself after login_limit tenths of a second.
show_login() {
    until grep -q '^specdeck-env-ends' "$work/login"; do
        if ! kill -0 "$login_pid" 2>/dev/null && ! grep -q '^specdeck-env-ends' "$work/login"; then
            printf 'login-silent\n'
            return
        fi
        sleep 0.1 2>/dev/null || sleep 1
    done
    shown login <"$work/login"
    case $python in */*) return ;; esac
    login_path=$(sed -n 's/^PATH=//p' "$work/login" | tail -n 1)
    login_found=$(PATH=$login_path && command -v "$python") && printf 'login-python %s\n' "$login_found"
}

# Both with the environment that the server will have: its PATH finds the interpreter, its PYTHONPATH the engine.
if found=$(engine_env && command -v "$python"); then
    printf 'python %s\n' "$found"
    if version=$(engine_env && "$found" -c "$version_script" 2>"$work/version-errors" </dev/null) && [ -n "$version" ]; then
        version=$(printf '%s\n' "$version" | tail -n 1)
        printf 'version %s\n' "$version"
        [ -z "$flags_script" ] || ask_flags
    else
        printf 'version-error %s\n' "$(tail -n 1 "$work/version-errors")"
    fi
fi
[ -z "$workdir" ] || [ -d "$workdir" ] || printf 'missing %s\n' "$workdir"
for path in "$@"; do
    [ -e "$path" ] || printf 'missing %s\n' "$path"
done
mkdir -p "$state" 2>/dev/null
# shellcheck disable=SC2046 # fields of the last line of df
set -- $(df -Pk "$state" 2>/dev/null | tail -n 1)
printf 'disk %s\n' "$4"
[ -z "$old_pid" ] || tr '\n\000' ' \n' 2>/dev/null <"/proc/$old_pid/environ" |
    grep -E "^($old_names)=" | grep -v -E '^[^=]*(TOKEN|KEY|SECRET|PASS)' | sed 's/^/old-env /'
command -v setsid >/dev/null || printf 'no-setsid\n'
env | shown ours
show_login
wait "$gpus_pid"
cat "$work/gpus"
printf 'end\n'

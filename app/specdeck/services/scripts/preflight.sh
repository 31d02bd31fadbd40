# Looks, before anything is stopped, whether the new command can start; runs after the profile's setup lines in the same shell.
# Arguments: PYTHON VERSION_SCRIPT WORKDIR(or empty) then the paths that must be there. Prints tagged lines.
# shellcheck shell=sh disable=SC2088
python=$1 script=$2 workdir=$3
shift 3
case $python in "~/"*) python=$HOME/${python#??} ;; esac
case $workdir in "~/"*) workdir=$HOME/${workdir#??} ;; esac
if found=$(command -v "$python"); then
    printf 'python %s\n' "$found"
    if version=$("$found" -c "$script" 2>&1 </dev/null); then
        printf 'version %s\n' "$version" | head -n 1
    else
        printf 'version-error %s\n' "$(printf '%s\n' "$version" | tail -n 1)"
    fi
else
    printf 'python-missing %s\n' "$python"
fi
[ -z "$workdir" ] || [ -d "$workdir" ] || printf 'missing %s\n' "$workdir"
for path in "$@"; do
    case $path in "~/"*) path=$HOME/${path#??} ;; esac
    [ -e "$path" ] || printf 'missing %s\n' "$path"
done
state=${XDG_STATE_HOME:-$HOME/.local/state}
mkdir -p "$state" 2>/dev/null
# shellcheck disable=SC2046 # fields of the last line of df
set -- $(df -Pk "$state" 2>/dev/null | tail -n 1)
printf 'disk %s\n' "$4"
command -v setsid >/dev/null || printf 'no-setsid\n'

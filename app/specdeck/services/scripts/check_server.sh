# Whether a server's interpreter and log are there; runs after its setup lines in the same shell. Arguments: PYTHON LOG(or empty) WORKDIR.
# shellcheck shell=sh disable=SC2088
case $1 in "~/"*) python=$HOME/${1#??} ;; *) python=$1 ;; esac
case $3 in "~/"*) workdir=$HOME/${3#??} ;; *) workdir=$3 ;; esac
if found=$(command -v "$python"); then printf '@python %s\n' "$found"; else printf '@no-python %s\n' "$python"; fi
[ -z "$workdir" ] || [ -d "$workdir" ] || printf '@no-workdir %s\n' "$workdir"
case $2 in
"") exit 0 ;;
"~/"*) log=$HOME/${2#??} ;;
/*) log=$2 ;;
*) log=${workdir:-$HOME}/$2 ;;
esac
if [ -d "$log" ]; then printf '@log folder %s\n' "$log"
elif [ -r "$log" ]; then printf '@log readable %s\n' "$log"
elif [ -e "$log" ]; then printf '@log unreadable %s\n' "$log"
else printf '@log missing %s\n' "$log"
fi
exit 0

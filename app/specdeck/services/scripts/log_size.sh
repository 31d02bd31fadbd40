# Size of the log $1 in bytes, or why it cannot be read.
exec 2>/dev/null </dev/null
if [ -d "$1" ]; then printf '@folder\n'
elif [ ! -e "$1" ]; then printf '@missing\n'
elif [ ! -r "$1" ]; then printf '@unreadable\n'
elif [ ! -f "$1" ]; then printf '@special\n'
else printf '@size %s\n' "$(wc -c <"$1")"
fi

# Size of the log $1 in bytes and when it was last written, by the host's clock; or why it cannot be read.
exec 2>/dev/null </dev/null
if [ -d "$1" ]; then printf '@folder\n'
elif [ ! -e "$1" ]; then printf '@missing\n'
elif [ ! -r "$1" ]; then printf '@unreadable\n'
elif [ ! -f "$1" ]; then printf '@special\n'
else printf '@size %s\n' "$(stat -L -c '%s %Y' -- "$1") $(date +%s)"
fi

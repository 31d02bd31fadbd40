# The one long-lived channel of a host, clocked by its client: a question is a line on stdin, the answer tagged lines.
# Answers come from shell builtins only: no process is started for a tick. Rows of nvidia-smi are the lines without a tag.
# The frame of a channel ends the process group when the client is gone. Runs in dash, bash --posix and busybox ash.
# uses nvidia_smi.sh
PATH=$PATH:${smi_places-}
exec 2>/dev/null
state="${XDG_STATE_HOME:-$HOME/.local/state}/specdeck"
smi_pid=
hung=

greet() {
  boot=
  IFS= read -r boot </proc/sys/kernel/random/boot_id
  while read -r name value rest; do
    [ "$name" = btime ] && printf '@booted %s\n' "$value" && break
  done </proc/stat
  printf '@boot %s\n@clock %s\n@home %s\n@state %s\n' "$boot" "$(date +%s)" "$HOME" "$state"
}

newest_run() { # SERVER -> $run
  run=
  for folder in "$state/$1"/[0-9]*/; do
    name=${folder%/}
    name=${name##*/}
    case $name in *[!0-9]*) continue ;; esac
    [ -d "$folder" ] && [ "${#name}" -ge "${#run}" ] && run=$name
  done
}

first_line() { # FILE -> $line
  line=
  [ -r "$1" ] && IFS= read -r line <"$1"
}

answer_run() { # KEY SERVER
  newest_run "$2"
  printf '@run %s %s\n' "$1" "${run:--}"
  [ -n "$run" ] && for item in profile port who started boot pid exit ended stop; do
    first_line "$state/$2/$run/$item"
    [ -n "$line" ] && printf '@item %s %s %s\n' "$1" "$item" "$line"
  done
  print_file "@act $1" "$state/$2/act"
  first_line "$state/$2/left"
  [ -n "$line" ] && printf '@left %s %s\n' "$1" "$line"
  first_line "$state/$2/actor"
  [ -n "$line" ] && printf '@actor %s %s\n' "$1" "$line"
}

print_file() { # TAG FILE
  [ -r "$2" ] && while IFS= read -r line || [ -n "$line" ]; do
    printf '%s %s\n' "$1" "$line"
  done <"$2"
}

answer_pid() { # PID
  first_line "/proc/$1/stat"
  printf '@pid %s %s\n' "$1" "$line"
}

# The newest pid, and those given since LAST (0: none) whose command line holds one of the words; the last MOST of them, and no threads.
answer_born() { # LAST MOST WORDS
  newest=0
  read -r _ _ _ _ newest </proc/loadavg
  printf '@newest %s\n' "$newest"
  pid=$1
  [ "$pid" -gt 0 ] || return
  [ $((newest - pid)) -le "$2" ] || pid=$((newest - $2))
  shift 2
  while [ "$pid" -lt "$newest" ]; do
    pid=$((pid + 1))
    first_line "/proc/$pid/cmdline"
    for word; do
      case $line in *"$word"*) is_process "$pid" && printf '@born %s\n' "$pid" && break ;; esac
    done
  done
}

is_process() { # PID: a thread has a number and a folder, too
  while read -r key value rest; do
    [ "$key" = Tgid: ] && break
  done <"/proc/$1/status"
  [ "$value" = "$1" ]
}

answer_ports() { # PORTS as four hex digits; the kernel lists all LISTEN rows first, so a few others end the reading
  for table in /proc/net/tcp /proc/net/tcp6; do
    others=0
    # shellcheck disable=SC2034 # columns of the table
    [ -r "$table" ] && while read -r slot local remote st queues timer retransmits uid timeout inode rest; do
      if [ "$st" = 0A ]; then
        for port; do
          [ "${local##*:}" = "$port" ] && printf '@listen %s %s %s\n' "$port" "$inode" "${local%:*}"
        done
      else
        others=$((others + 1))
        [ "$others" -gt 3 ] && break
      fi
    done <"$table"
  done
}

answer_file() { # KEY PATH
  if [ -d "$2" ]; then word=folder
  elif [ -r "$2" ]; then word=readable
  elif [ -e "$2" ]; then word=unreadable
  else word=missing
  fi
  printf '@file %s %s\n' "$1" "$word"
}

lives() { # PID START
  first_line "/proc/$1/stat"
  start=$2
  # shellcheck disable=SC2086 # fields: a letter and numbers
  set -- ${line##*) }
  case $1 in '' | Z | X) return 1 ;; esac
  [ "${20}" = "$start" ]
}

holder_line() { # FILE -> $told: PID START and more, of a plain file only; a link is never followed
  told=
  [ -f "$1" ] && [ ! -h "$1" ] && first_line "$1"
  case $line in [0-9]*' '[0-9]*' '[0-9]*) told=$line ;; esac
  line=${told#* }
  holder_pid=${told%% *} holder_start=${line%% *}
  case $holder_pid$holder_start in *[!0-9]*) told= ;; esac
  [ -n "$told" ]
}

answer_lock() { # KEY PORT
  lock=/tmp/specdeck-port-$2.lock
  if holder_line "$lock"; then
    if lives "$holder_pid" "$holder_start"; then word=held; else word=gone; fi
    printf '@lock %s %s %s\n' "$1" "$word" "$told"
  elif [ -e "$lock" ] || [ -h "$lock" ]; then
    printf '@lock %s strange\n' "$1"
  fi
}

watchers=${SPECDECK_DEMO_TREE:-/tmp}/specdeck-watch # a demo host has a folder of its own: it is a host of its own
presence=

# Tells everybody on this host that somebody watches it. The folder is everybody's and sticky; the file must be new and is ours.
watch() { # MODE TOKEN WHO
  leave
  mkdir -m 1777 "$watchers"
  [ -d "$watchers" ] && [ ! -h "$watchers" ] || return
  for file in "$watchers"/*; do
    [ -O "$file" ] && holder_line "$file" && { lives "$holder_pid" "$holder_start" || rm -f "$file"; }
  done
  first_line "/proc/$$/stat"
  line=${line##*) }
  words=$*
  # shellcheck disable=SC2086 # fields
  set -- $line
  set -C
  printf '%s %s %s %s\n' "$$" "${20}" "$(date +%s)" "$words" >"$watchers/$$.${20}" && presence=$watchers/$$.${20}
  set +C
  chmod 644 "$presence"
}

leave() {
  [ -n "$presence" ] && rm -f "$presence"
  presence=
}

answer_watchers() { # those who live, and no more than any team has
  count=0
  [ -h "$watchers" ] || for file in "$watchers"/*; do
    holder_line "$file" && lives "$holder_pid" "$holder_start" && printf '@watcher %s %s\n' "${file##*/}" "$told"
    count=$((count + 1))
    [ "$count" -gt 100 ] && break
  done
}

# Rows of nvidia-smi, and the end of a call only when its process is gone: who asks again then never has two of them.
query_gpus() { # PERIOD_MS (0: one answer) FIELDS [only IDS | without BUS-IDS]
  command -v nvidia-smi >/dev/null || {
    printf '@smi-end 127\n'
    return
  }
  if hung_smi; then
    printf '@smi-hung %s\n@smi-end 124\n' "$hung"
    return
  fi
  period="-lms $1" which=
  [ "$1" = 0 ] && period=
  [ "$3" = only ] && which="-i $4"
  [ "$3" = without ] && gpus_without "$4"
  # shellcheck disable=SC2086 # options and their values on purpose
  nvidia-smi $which --query-gpu="$2" --format=csv,noheader,nounits $period </dev/null 2>&1 &
  query=$!
  trap 'kill "$query"' TERM
  wait "$query"
  status=$?
  while kill -0 "$query"; do
    wait "$query"
    status=$?
  done
  printf '@smi-end %s\n' "$status"
}

gpus_without() { # BUS-IDS -> $which, by the driver's own list
  which=
  for folder in /proc/driver/nvidia/gpus/*:*; do
    case ",$1," in *",${folder##*/},"*) ;; *) [ -e "$folder" ] && which="$which,${folder##*/}" ;; esac
  done
  which=${which:+-i ${which#,}}
}

stop_gpus() {
  [ -n "$smi_pid" ] && kill "$smi_pid"
}

answer() { # QUESTION KEY REST
  # shellcheck disable=SC2086 # ports, fields, and the token and name of a watcher, are words of their own
  case $1 in
    run) answer_run "$2" "$3" ;;
    pid) answer_pid "$2" ;;
    ports) answer_ports $2 $3 ;;
    born) answer_born $2 $3 ;;
    file) answer_file "$2" "$3" ;;
    text) print_file "@text $2" "$3" ;;
    smi)
      query_gpus "$2" $3 &
      smi_pid=$!
      ;;
    smi-stop) stop_gpus ;;
    lock) answer_lock "$2" "$3" ;;
    watch) watch "$2" $3 ;;
    watchers) answer_watchers ;;
    beat) printf '@beat %s\n' "$2" ;;
  esac
}

trap leave EXIT
trap 'leave; exit' TERM
greet
if [ $# -gt 0 ]; then # one session at a time: the questions are the arguments, and nothing goes on
  for line; do
    question=${line%% *}
    line=${line#* }
    key=${line%% *}
    case $line in *' '*) rest=${line#* } ;; *) rest= ;; esac
    answer "$question" "$key" "$rest"
  done
  wait
else
  while read -r question key rest; do
    answer "$question" "$key" "$rest"
  done
fi

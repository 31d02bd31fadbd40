# The past starts of all servers of this host: `@start SERVER RUN LINE`, LINE as it stands in the run's folder.
exec 2>/dev/null </dev/null
set +f
state="${XDG_STATE_HOME:-$HOME/.local/state}/specdeck"
for file in "$state"/*/[0-9]*/phases; do
  [ -r "$file" ] || continue
  run=${file%/phases}
  server=${run%/*}
  IFS= read -r line <"$file" && printf '@start %s %s %s\n' "${server##*/}" "${run##*/}" "$line"
done | tail -n 400
exit 0

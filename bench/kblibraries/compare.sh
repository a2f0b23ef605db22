#!/usr/bin/env bash
# Builds the measuring program once per library and runs the builds in turns, so that a busy machine hits all of them
# alike. Prints medians. Needs the modules of this folder's go.mod; writes to a temporary folder only.
set -euo pipefail
cd "$(dirname "$0")"
runs=${1:-15}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
libraries=(none bleve modernc ncruces)
for l in "${libraries[@]}"; do
	go build -trimpath -ldflags='-s -w' -tags "$l" -o "$work/$l" .
done
notes=../../internal/kb/testdata/ferry/.claude/memories
"$work/none" make "$work/notes"

now() { date +%s%N; }
timed() { # NAME COMMAND...: wall time of the whole process
	local name=$1 from to
	shift
	from=$(now)
	"$@" >/dev/null
	to=$(now)
	echo $(((to - from) / 1000)) >>"$work/$name.times"
}
for ((i = 0; i < runs; i++)); do
	for l in "${libraries[@]}"; do
		timed "$l.start" "$work/$l"
		[ "$l" = none ] && continue
		if ((i < 5)); then
			rm -rf "$work/$l.idx"*
			timed "$l.index" "$work/$l" index "$work/$l.idx" "$work/notes"
		fi
		timed "$l.query" "$work/$l" query "$work/$l.idx" "w17ing w230 w1999ing"
		timed "$l.update" "$work/$l" update "$work/$l.idx" "$work/notes"
	done
done
median() { sort -n "$1" | awk '{v[NR]=$1} END {printf "%.1f", v[int((NR+1)/2)]/1000}'; }
printf '%-8s %10s %8s %8s %8s %8s %10s  %s\n' library size start index query update 'on disk' ranking
for l in "${libraries[@]}"; do
	size=$(stat -c %s "$work/$l" 2>/dev/null || stat -f %z "$work/$l")
	printf '%-8s %7.1f MB %5s ms' "$l" "$(awk "BEGIN{print $size/1e6}")" "$(median "$work/$l.start.times")"
	if [ "$l" != none ]; then
		printf ' %5s ms %5s ms %5s ms' "$(median "$work/$l.index.times")" "$(median "$work/$l.query.times")" "$(median "$work/$l.update.times")"
		printf ' %7.1f MB' "$(du -sk "$work/$l.idx"* | awk '{s+=$1} END {print s/1024}')"
		"$work/$l" index "$work/$l.rank" "$notes" >/dev/null
		printf '  %s' "$("$work/$l" rank "$work/$l.rank" ../../internal/kb/testdata/queries.tsv)"
	fi
	echo
done

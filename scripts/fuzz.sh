#!/bin/sh
# fuzz.sh DURATION [PACKAGES] runs every fuzz test of the packages (default ./...)
# for DURATION each, one after another, and fails if one fails. An input that fails is
# written to that package's testdata/fuzz: commit it with the fix.
set -eu

go=${GO:-go}
duration=${1:?usage: fuzz.sh DURATION [PACKAGES]}
shift
[ $# -gt 0 ] || set -- ./...

log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM

# Names come before the "ok" line of their package.
targets() {
	awk '/^Fuzz/ { names = names " " $1 }
	     /^(ok|\?)/ { n = split(names, a, " "); for (i = 1; i <= n; i++) print $2, a[i]; names = "" }'
}

# once PACKAGE NAME fuzzes; what go test prints is kept in the log, and shown unless the
# fuzzer itself ran out of time.
once() {
	status=0
	"$go" test -vet=off -run '^$' -fuzz "^$2\$" -fuzztime "$duration" -fuzzminimizetime 5s -timeout 0 "$1" >"$log" 2>&1 || status=$?
	[ "$status" -ne 0 ] && out_of_time || grep -v '^fuzz: elapsed' "$log" || true
	return "$status"
}

# Up to Go 1.26 the fuzzer itself may fail when its time is up (go.dev/issue/75804): a
# deadline and no failing input. That says nothing about our code, so it is tried again.
out_of_time() {
	grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input written' "$log"
}

fuzz() {
	for attempt in 1 2 3; do
		once "$1" "$2" && return 0
		out_of_time || return 1
		echo "fuzz.sh: $2: attempt $attempt of 3 ran out of time without a failing input"
	done
	return 1
}

listing=$("$go" test -vet=off -list '^Fuzz' "$@") || {
	printf '%s\nfuzz.sh: cannot list the fuzz tests; fix what does not compile\n' "$listing" >&2
	exit 1
}

count=0 failed=
for word in $(printf '%s\n' "$listing" | targets); do
	case $word in
	Fuzz*) ;;
	*) pkg=$word; continue ;;
	esac
	count=$((count + 1))
	echo "fuzz $pkg $word $duration"
	fuzz "$pkg" "$word" || failed="$failed $word"
done

if [ -n "$failed" ]; then
	echo "fuzz.sh: failed:$failed" >&2
	exit 1
fi
echo "fuzz.sh: $count fuzz tests passed, $duration each"

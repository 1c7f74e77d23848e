#!/bin/sh
# Runs the pages in a real browser, Debian's Chromium, and has axe-core from npm look for barriers. axe-core is
# installed into a cache outside the tree, once.
set -eu

cache=${ASSENT_WEB_E2E:-${XDG_CACHE_HOME:-$HOME/.cache}/assent-web-e2e}
version=4.14.0

for program in npm chromium; do
	if ! command -v $program >/dev/null 2>&1; then
		echo "web-e2e: $program is needed; run: sh scripts/need.sh all" >&2
		exit 1
	fi
done
if [ ! -e "$cache/installed-$version" ]; then
	mkdir -p "$cache"
	npm install --prefix "$cache" --no-audit --no-fund --ignore-scripts --loglevel=error --fetch-retries=5 "axe-core@$version"
	touch "$cache/installed-$version"
fi
ASSENT_WEB_E2E=$cache ${GO:-go} test -count=1 -timeout 20m -tags webe2e -run '^Test(Web|S60_|S61_)' "$@" ./cmd/assent

#!/bin/sh
# Tries the hooks with real agents from npm. They are installed into a cache outside the tree,
# once, and talk to a model on the loopback interface only.
set -eu

cache=${ASSENT_E2E:-${XDG_CACHE_HOME:-$HOME/.cache}/assent-e2e}
claude=2.1.325
codex=0.166.0
gemini=0.61.0

if ! command -v npm >/dev/null 2>&1; then
	echo 'e2e: npm is needed to install the agents; install Node.js 20 or newer' >&2
	exit 1
fi
for program in script unshare; do
	if ! command -v "$program" >/dev/null 2>&1; then
		echo "e2e: $program is needed for a terminal and for files of an administrator; install util-linux" >&2
		exit 1
	fi
done
if [ ! -e "$cache/installed-$claude-$codex-$gemini" ]; then
	mkdir -p "$cache"
	npm install --prefix "$cache" --no-audit --no-fund --ignore-scripts \
		"@anthropic-ai/claude-code@$claude" "@openai/codex@$codex" "@google/gemini-cli@$gemini"
	# The one script that is needed: it puts the program for this system in its place.
	(cd "$cache/node_modules/@anthropic-ai/claude-code" && node install.cjs)
	touch "$cache/installed-$claude-$codex-$gemini"
fi
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
for program in assent assent-shell assent-hook; do
	CGO_ENABLED=0 ${GO:-go} build -trimpath -o "$bin/$program" "./cmd/$program"
done
ASSENT_E2E_BIN=$bin ASSENT_E2E_AGENTS=$cache ${GO:-go} test -count=1 -timeout 40m -tags e2e ./internal/agents/e2e

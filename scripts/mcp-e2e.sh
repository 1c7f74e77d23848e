#!/bin/sh
# Runs the gateway between MCP programs that nobody here wrote: the reference servers and the
# inspector, from npm. They are installed into a cache outside the tree, once.
set -eu

cache=${ASSENT_MCP_E2E:-${XDG_CACHE_HOME:-$HOME/.cache}/assent-mcp-e2e}
version=2026.8.31
inspector=0.15.0

if ! command -v npm >/dev/null 2>&1; then
	echo 'mcp-e2e: npm is needed to install the MCP reference servers; install Node.js 20 or newer' >&2
	exit 1
fi
if [ ! -e "$cache/installed-$version-$inspector" ]; then
	mkdir -p "$cache"
	npm install --prefix "$cache" --no-audit --no-fund --ignore-scripts --loglevel=error --fetch-retries=5 \
		"@modelcontextprotocol/server-everything@$version" \
		"@modelcontextprotocol/server-filesystem@$version" \
		"@modelcontextprotocol/server-memory@$version" \
		"@modelcontextprotocol/inspector@$inspector"
	touch "$cache/installed-$version-$inspector"
fi
ASSENT_MCP_E2E=$cache ${GO:-go} test -count=1 -tags mcpe2e -run '^TestE2E' ./cmd/assent

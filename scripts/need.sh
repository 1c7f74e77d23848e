#!/bin/sh
# need.sh makes sure that the programs are there that `make test` works with, and with the
# word `all` those of `make test-all` as well. What is missing it installs from Debian's
# packages, and names before it does.
set -eu

missing=
# want PROGRAM[:PACKAGE]... adds the packages of the programs that are not there.
want() {
	for pair; do
		command -v "${pair%%:*}" >/dev/null 2>&1 && continue
		case "$missing " in *" ${pair#*:} "*) ;; *) missing="$missing ${pair#*:}" ;; esac
	done
}

# What `make test` needs: a C compiler with its headers, which `go test -race` links with and
# the soundness tests build their spy with; git and patch, which diffs are compared with and
# applied by; bubblewrap, which the sandbox is made of; Python, which probes it; and other seds
# and awks than one's own, in which scripts run that are read as harmless; groff and man, which show the manual pages.
# CC may carry flags, so it is not quoted.
# shellcheck disable=SC2046
printf '#include <stdlib.h>\n' | $("${GO:-go}" env CC) -E - >/dev/null 2>&1 || missing=" gcc libc6-dev"
want git patch bwrap:bubblewrap python3 gawk mawk busybox groff:groff-base man:man-db

if [ "${1-}" = all ]; then
	# The programs of the table that Debian has: their rows are shown to be true by running them.
	want ag:silversearcher-ag at awk:gawk batcat:bat bc busybox column:bsdextrautils cpio crontab:cron \
		dc doas dos2unix ed entr expect fdfind:fd-find file file-rename:rename fish fuser:psmisc gawk gosu \
		hostname hyperfine inotifywait:inotify-tools jq ksh less logger:bsdutils lsof ltrace lua5.4 lzip man:man-db nano \
		nc:netcat-openbsd parallel perl php:php-cli ps:procps pv rg:ripgrep ruby screen \
		make curl wget ssh:openssh-client sshd:openssh-server rsync dig:bind9-dnsutils socat openssl sqlite3 strings:binutils ip:iproute2 \
		sponge:moreutils strace sudo tclsh:tcl time tmux tree unbuffer:expect unzip valgrind vim xdg-open:xdg-utils xxd xz:xz-utils \
		zip zsh zstd 7z:p7zip-full
	# What agents and MCP servers from npm run on, and what projects are built with in a home with tools.
	want node:nodejs npm make
	/usr/bin/python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
	# The browser that shows the inbox.
	want chromium
	# PostgreSQL, on which teams work: Debian keeps its programs in a folder for each version.
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || want initdb:postgresql
fi

[ -n "$missing" ] || exit 0
command="apt-get install --no-install-recommends$missing"
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo

fail() {
	echo "need.sh: $1; as root, run: apt-get update && $command" >&2
	exit 1
}

if ! command -v apt-get >/dev/null 2>&1; then
	echo "need.sh: the tests need programs from these Debian packages:$missing; there is no apt-get here, so install them in your system's way and try again" >&2
	exit 1
fi
echo "The tests need these Debian packages:$missing; installing them with apt-get."
[ -z "$as_root" ] || command -v sudo >/dev/null 2>&1 || fail "this needs root, and there is no sudo"
$as_root apt-get update -q -o Acquire::Retries=3 || fail "apt-get update failed"
# The list is meant to be split into words.
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive $command -y -q -o Acquire::Retries=3 || fail "apt-get install failed"

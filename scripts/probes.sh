#!/bin/sh
# Probes the sandbox as root and as an ordinary user that is made for it, with the probes of a
# folder. As somebody else than root it says that nothing was probed.
#   scripts/probes.sh CORPUS ASSENT
set -eu
[ -f "$1/sandbox_corpus.py" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "sandbox probes: not run; they need root"
	exit 0
fi
user=assent-probe-$$
folder=$(mktemp -d /var/tmp/assent-probes-XXXXXX)
useradd --no-create-home --shell /bin/sh "$user"
trap 'userdel "$user"; rm -rf "$folder"' EXIT
chmod 755 "$folder"
cp "$2" "$folder/assent" # where everybody may start it
for who in root "$user"; do
	echo "sandbox probes as $who:"
	python3 "$1/sandbox_corpus.py" "$folder/assent" "$who"
done

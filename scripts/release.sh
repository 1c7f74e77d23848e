#!/bin/sh
# release.sh builds the archives of a release in dist/: assent for Linux and macOS, on amd64 and arm64,
# with manual pages, completions and licences, and SHA256SUMS over them. The same commit and version give
# the same bytes. PLATFORMS may name fewer.
set -eu

GO=${GO:-go}
version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo devel)}
out=${OUT:-dist}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1)}

tar --version 2>/dev/null | grep -q GNU || { echo "release.sh: GNU tar is needed" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
mkdir -p "$out"
rm -f "$out"/assent_* "$out"/SHA256SUMS

build() { # build FOLDER: the programs for $GOOS and $GOARCH
	for program in assent assent-shell assent-hook; do
		CGO_ENABLED=0 $GO build -trimpath -ldflags "-s -w -X main.version=$version" -o "$1/$program" "./cmd/$program"
	done
}

# licences writes those of all modules that the programs are linked from, and Go's own.
licences() {
	cat "$($GO env GOROOT)/LICENSE"
	$GO list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}' \
		./cmd/assent ./cmd/assent-shell ./cmd/assent-hook | sort -u | while read -r path dir; do
		[ -n "$path" ] || continue
		for file in "$dir"/LICENSE* "$dir"/LICENCE* "$dir"/COPYING* "$dir"/NOTICE*; do
			[ -f "$file" ] || continue
			printf '\n==== %s: %s\n\n' "$path" "$(basename "$file")"
			cat "$file"
		done
	done
}

echo "Building the program that writes the manual pages."
build "$work/host"
for platform in ${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}; do
	name=assent_${version}_$(echo "$platform" | tr / _)
	echo "Building $name."
	export GOOS="${platform%/*}" GOARCH="${platform#*/}"
	build "$work/programs/$platform"
	BIN=$work/programs/$platform HOST=$work/host/assent TO=$work/$name sh scripts/install.sh
	licences >"$work/$name/LICENSES-third-party"
	unset GOOS GOARCH
	cp LICENSE README.md CHANGELOG.md "$work/$name"
	chmod 644 "$work/$name"/[A-Z]*
	tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar \
		-cf "$work/$name.tar" "$name"
	gzip -9 -n <"$work/$name.tar" >"$out/$name.tar.gz"
	rm -r "$work/$name" "$work/$name.tar"
done
(cd "$out" && sha256sum assent_*.tar.gz >SHA256SUMS)
cat "$out/SHA256SUMS"

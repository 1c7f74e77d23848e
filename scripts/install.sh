#!/bin/sh
# install.sh puts what was built in BIN below the folder TO: the programs, manual pages, and the
# completions of bash, zsh and fish. `make install` and `make release` use it. HOST is a program that
# runs on this machine, if the one in BIN does not.
set -eu

host=${HOST:-$BIN/assent}
install -d "$TO/bin" "$TO/share/man/man1" "$TO/share/bash-completion/completions" \
	"$TO/share/zsh/site-functions" "$TO/share/fish/vendor_completions.d"
install -m 755 "$BIN/assent" "$BIN/assent-shell" "$BIN/assent-hook" "$TO/bin"
"$host" manual "$TO/share/man/man1"
"$host" completion bash >"$TO/share/bash-completion/completions/assent"
"$host" completion zsh >"$TO/share/zsh/site-functions/_assent"
"$host" completion fish >"$TO/share/fish/vendor_completions.d/assent.fish"

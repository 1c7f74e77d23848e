package programs

import (
	"slices"
	"strings"
	"testing"
)

// TestSpellings: a deny finds a flag under each of its names.
func TestSpellings(t *testing.T) {
	for _, tt := range []struct{ command, has, hasNot string }{
		{"rm -Rf x", "-r -R --recursive -f --force", "-i"},
		{"rm --rec --fo x", "-r -R --recursive -f --force", "-d"},
		{"git commit -anm x", "-a --all -n --no-verify -m --message", "--verify"},
		{"git commit --no-verif", "-n --no-verify", "-a"},
		{"git branch -d -f x", "-D --delete --force", "-M"},
		{"git branch -D x", "-d --delete -f --force -D", "-M"},
		{"git branch -d x", "--delete", "-D"},
		{"git fetch -f", "--force", "--multiple"},
		{"docker run --rm -it --privileged x", "--privileged --rm", ""},
		{"tar czf x y", "-c --create -z --gzip -f --file", "-x"},
		{"curl -kX POST h", "-k --insecure -X --request", "-d"},
		{"ls", "", "-a"},
	} {
		words := strings.Fields(tt.command)
		var args []Word
		for _, w := range words[1:] {
			args = append(args, Literal(w))
		}
		got := Interpret(words[0], args).Flags
		for _, name := range strings.Fields(tt.has) {
			if !slices.Contains(got, name) {
				t.Errorf("%s: %q has no %s", tt.command, got, name)
			}
		}
		for _, name := range strings.Fields(tt.hasNot) {
			if slices.Contains(got, name) {
				t.Errorf("%s: %q has %s", tt.command, got, name)
			}
		}
	}
}

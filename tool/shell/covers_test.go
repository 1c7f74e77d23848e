package shell

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
)

// wordsOf reads words; one that begins with ? is not known, one with ! must be spelled.
func wordsOf(text string) []policy.Word {
	var out []policy.Word
	for _, w := range strings.Fields(text) {
		out = append(out, policy.Word{Text: strings.TrimLeft(w, "?!"), Unknown: w[0] == '?', Spelled: w[0] == '!'})
	}
	return out
}

func TestBecomes(t *testing.T) {
	for _, tt := range []struct {
		shown, words string
		want         bool
	}{
		{"rm ?x", "rm a", true}, {"rm ?x", "rm", true}, {"rm ?x", "rm a b c", true}, {"rm ?x", "mv a", false}, {"?x a", "rm a", false},
		{"cp ?x b", "cp a b", true}, {"cp ?x b", "cp a a b", true}, {"cp ?x b", "cp a c", false}, {"cp ?x b ?y", "cp b b b", true}, {"cp ?x b ?y", "cp a a a", false},
		{"rm a", "rm a", true}, {"rm a", "rm a b", false}, {"rm a b", "rm a", false}, {"rm ?x", "rm ?x", true}, {"rm a", "rm ?x", false},
		{"sort ?x", "sort !-o f", false}, {"sort !-o ?x", "sort !-o f", true}, {"sort ?x a", "sort f !-o a", false}, {"sort ?x !-o ?y", "sort a !-o b", true},
		{"", "", false}, {"a", "", false},
	} {
		if got := becomes(wordsOf(tt.shown), wordsOf(tt.words)); got != tt.want {
			t.Errorf("%q becomes %q: %v", tt.shown, tt.words, got)
		}
	}
}

package rulebook_test

import (
	"testing"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
)

// Whatever the rules: they can be compared, a rule beside itself changes nothing, and what
// is said of two denies or two allows is never that they contradict.
func FuzzAdvise(f *testing.F) {
	f.Add("allow shell(git *)", "deny shell(= git push)")
	f.Add("allow write_file({a,b}/**/[a-z]?.md)", `deny *_file(\*)`)
	f.Add("deny http_request(GET https://*.example:8080/**)", "allow connector g*")
	f.Fuzz(func(t *testing.T, one, two string) {
		a, err := policy.ParseRule(one)
		b, err2 := policy.ParseRule(two)
		if err != nil || err2 != nil || a.Effect == policy.EffectExcept || b.Effect == policy.EffectExcept {
			return
		}
		rulebook.Wide(a)
		for _, advice := range rulebook.Advise([]policy.Rule{b}, a, config.BuiltinTools(), 3, epoch) {
			if advice.Concern == rulebook.Contradicts && a.Effect == b.Effect {
				t.Errorf("%s beside %s: %s", a, b, advice.Text)
			}
		}
		for _, advice := range rulebook.Advise([]policy.Rule{a}, a, nil, 0, epoch) {
			if advice.Concern != rulebook.Hidden {
				t.Errorf("%s beside itself: %s", a, advice.Text)
			}
		}
	})
}

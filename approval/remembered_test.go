package approval_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	. "github.com/assent-dev/assent/approval"
)

// whole is a memory that is asked for everything at once.
type whole struct {
	*Memory
	remembered func(*Memory) (Remembered, error)
}

func (w *whole) Approvals(context.Context) (bool, error) {
	return false, errors.New("asked one by one")
}

func (w *whole) Remembered(context.Context, string) (Remembered, error) {
	return w.remembered(w.Memory)
}

func TestWhatIsRememberedIsReadAtOnce(t *testing.T) {
	rules := func(m *Memory) *RuleSet {
		set, _ := m.Rules(context.Background())
		return set
	}
	cases := map[string]struct {
		mode       Mode
		remembered func(*Memory) (Remembered, error)
		want       State
	}{
		"nothing":              {ModeAsk, func(*Memory) (r Remembered, err error) { return }, Pending},
		"rules":                {ModeAsk, func(m *Memory) (Remembered, error) { return Remembered{Rules: rules(m)}, nil }, AutoApproved},
		"switched off":         {ModeAsk, func(*Memory) (Remembered, error) { return Remembered{Off: true}, nil }, ModeApproved},
		"switched off, strict": {ModeStrict, func(*Memory) (Remembered, error) { return Remembered{Off: true}, nil }, ModeDenied},
		"an error":             {ModeAsk, func(m *Memory) (Remembered, error) { return Remembered{Rules: rules(m)}, errors.New("gone") }, Denied},
		"a panic":              {ModeAsk, func(*Memory) (Remembered, error) { panic("gone") }, Denied},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.addRule("allow send")
			all := &whole{f.memory, c.remembered}
			gate := f.another(withMode(c.mode), func(cfg *Config) { cfg.Rules, cfg.Grants = all, all })
			o := gate.Review(t.Context(), call("send", "it")).Outcome(0)
			if o.State != c.want || c.want == Denied && !strings.Contains(o.Why, "what is remembered") && !strings.Contains(o.Why, "panicked") {
				t.Errorf("it is %s (%s), want %s", o.State, o.Why, c.want)
			}
		})
	}
}

// A store may be a value that cannot be compared, which is no reason to panic.
func TestAStoreThatCannotBeCompared(t *testing.T) {
	f := newFixture(t)
	all := struct {
		*whole
		_ []int
	}{whole: &whole{f.memory, nil}}
	gate := f.another(func(cfg *Config) { cfg.Rules, cfg.Grants = all, all })
	o := gate.Review(t.Context(), call("send", "it")).Outcome(0)
	if o.State != Denied || !strings.Contains(o.Why, "asked one by one") {
		t.Errorf("it is %s (%s)", o.State, o.Why)
	}
}

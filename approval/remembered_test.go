package approval_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// whole is a memory that is asked for everything at once.
type whole struct {
	*approval.Memory
	remembered func(*approval.Memory) (approval.Remembered, error)
}

func (w *whole) Approvals(context.Context) (bool, error) {
	return false, errors.New("asked one by one")
}

func (w *whole) Remembered(context.Context, string) (approval.Remembered, error) {
	return w.remembered(w.Memory)
}

func TestWhatIsRememberedIsReadAtOnce(t *testing.T) {
	rules := func(m *approval.Memory) *policy.RuleSet {
		set, _ := m.Rules(context.Background())
		return set
	}
	cases := map[string]struct {
		mode       policy.Mode
		remembered func(*approval.Memory) (approval.Remembered, error)
		want       policy.State
	}{
		"nothing": {policy.ModeAsk, func(*approval.Memory) (r approval.Remembered, err error) { return }, policy.StatePending},
		"rules": {policy.ModeAsk, func(m *approval.Memory) (approval.Remembered, error) {
			return approval.Remembered{Rules: rules(m)}, nil
		}, policy.StateAutoApproved},
		"switched off":         {policy.ModeAsk, func(*approval.Memory) (approval.Remembered, error) { return approval.Remembered{Off: true}, nil }, policy.StateModeApproved},
		"switched off, strict": {policy.ModeStrict, func(*approval.Memory) (approval.Remembered, error) { return approval.Remembered{Off: true}, nil }, policy.StateModeDenied},
		"an error": {policy.ModeAsk, func(m *approval.Memory) (approval.Remembered, error) {
			return approval.Remembered{Rules: rules(m)}, errors.New("gone")
		}, policy.StateDenied},
		"a panic": {policy.ModeAsk, func(*approval.Memory) (approval.Remembered, error) { panic("gone") }, policy.StateDenied},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.addRule("allow send")
			all := &whole{f.memory, c.remembered}
			gate := f.another(withMode(c.mode), func(cfg *approval.Config) { cfg.Rules, cfg.Grants = all, all })
			o := gate.Review(t.Context(), call("send", "it")).Outcome(0)
			if o.State != c.want || c.want == policy.StateDenied && !strings.Contains(o.Why, "what is remembered") && !strings.Contains(o.Why, "panicked") {
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
	gate := f.another(func(cfg *approval.Config) { cfg.Rules, cfg.Grants = all, all })
	o := gate.Review(t.Context(), call("send", "it")).Outcome(0)
	if o.State != policy.StateDenied || !strings.Contains(o.Why, "asked one by one") {
		t.Errorf("it is %s (%s)", o.State, o.Why)
	}
}

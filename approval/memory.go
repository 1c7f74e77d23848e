package approval

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/assent-dev/assent/policy"
)

// A RuleStore keeps rules. Rules is called for every decision, so it must be
// cheap when nothing changed; an error from it refuses the call.
type RuleStore interface {
	Rules(ctx context.Context) (*policy.RuleSet, error)
	// AddRules saves all the rules or none.
	AddRules(ctx context.Context, rules ...policy.Rule) error
}

// A GrantStore keeps grants as long as their sessions live. What is said of
// [RuleStore.Rules] holds for Grants.
type GrantStore interface {
	Grants(ctx context.Context, session string) (*policy.GrantSet, error)
	// AddGrants saves all the grants or none.
	AddGrants(ctx context.Context, grants ...policy.Grant) error
}

// A Notifier is a store that tells when what it keeps has changed. The function
// is called after the change, without any lock held, until stop is called.
type Notifier interface {
	Notify(changed func()) (stop func())
}

// DefaultRuleLimit is how many rules a [Memory] keeps unless told otherwise.
const DefaultRuleLimit = 1000

// Memory keeps rules and grants in memory. Several gates may share one. It is
// safe for concurrent use. Make one with [NewMemory].
type Memory struct {
	limit int

	mu        sync.Mutex
	rules     []policy.Rule
	ruleSet   *policy.RuleSet
	grants    map[string][]policy.Grant // by session
	grantSets map[string]*policy.GrantSet
	listeners map[int]func()
	nextID    int
}

var (
	_ RuleStore  = (*Memory)(nil)
	_ GrantStore = (*Memory)(nil)
	_ Notifier   = (*Memory)(nil)
)

// NewMemory returns an empty memory that takes at most limit rules; 0 means
// [DefaultRuleLimit].
func NewMemory(limit int) *Memory {
	if limit == 0 {
		limit = DefaultRuleLimit
	}
	return &Memory{
		limit:     limit,
		ruleSet:   &policy.RuleSet{},
		grants:    map[string][]policy.Grant{},
		grantSets: map[string]*policy.GrantSet{},
		listeners: map[int]func(){},
	}
}

// Rules returns the rules as they are now.
func (m *Memory) Rules(context.Context) (*policy.RuleSet, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ruleSet, nil
}

// AddRules implements [RuleStore]. A rule without an id gets one. The errors
// are of type [*policy.RuleError].
func (m *Memory) AddRules(_ context.Context, rules ...policy.Rule) error {
	return m.changeRules(func(now []policy.Rule) ([]policy.Rule, error) {
		for _, r := range rules {
			if err := policy.CheckNewRule(now, r, m.limit); err != nil {
				return nil, err
			}
			if r.ID == "" {
				r.ID = m.freshRuleID(now)
			}
			now = append(now, r)
		}
		return now, nil
	})
}

// freshRuleID returns an id that none of the rules has.
func (m *Memory) freshRuleID(rules []policy.Rule) string {
	for {
		m.nextID++
		id := fmt.Sprintf("rule-%d", m.nextID)
		if _, err := findRule(rules, id); err != nil {
			return id
		}
	}
}

// RemoveRule forgets a rule.
func (m *Memory) RemoveRule(id string) error {
	return m.changeRules(func(now []policy.Rule) ([]policy.Rule, error) {
		i, err := findRule(now, id)
		if err != nil {
			return nil, err
		}
		return slices.Delete(now, i, i+1), nil
	})
}

// EnableRule turns a rule on or off.
func (m *Memory) EnableRule(id string, on bool) error {
	return m.changeRules(func(now []policy.Rule) ([]policy.Rule, error) {
		i, err := findRule(now, id)
		if err != nil {
			return nil, err
		}
		now[i].Enabled = on
		return now, nil
	})
}

func findRule(rules []policy.Rule, id string) (int, error) {
	i := slices.IndexFunc(rules, func(r policy.Rule) bool { return r.ID == id })
	if i < 0 {
		return 0, &policy.RuleError{Err: policy.ErrRuleNotFound, Rule: id}
	}
	return i, nil
}

func (m *Memory) changeRules(change func([]policy.Rule) ([]policy.Rule, error)) error {
	m.mu.Lock()
	rules, err := change(slices.Clone(m.rules))
	var set *policy.RuleSet
	if err == nil {
		set, err = policy.CompileRules(rules)
	}
	if err != nil {
		m.mu.Unlock()
		return err
	}
	m.rules, m.ruleSet = rules, set
	m.mu.Unlock()
	m.tell()
	return nil
}

// Grants returns the grants of a session as they are now.
func (m *Memory) Grants(_ context.Context, session string) (*policy.GrantSet, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.grantSets[session], nil
}

// AddGrants implements [GrantStore]. A grant without an id gets one.
func (m *Memory) AddGrants(_ context.Context, grants ...policy.Grant) error {
	m.mu.Lock()
	for _, g := range grants {
		if g.ID == "" {
			m.nextID++
			g.ID = fmt.Sprintf("grant-%d", m.nextID)
		}
		m.grants[g.Session] = append(m.grants[g.Session], g)
		m.grantSets[g.Session] = policy.NewGrantSet(m.grants[g.Session])
	}
	m.mu.Unlock()
	m.tell()
	return nil
}

// RevokeGrant ends one grant.
func (m *Memory) RevokeGrant(session, id string) error {
	m.mu.Lock()
	list := m.grants[session]
	left := slices.DeleteFunc(slices.Clone(list), func(g policy.Grant) bool { return g.ID == id })
	if len(left) == len(list) {
		m.mu.Unlock()
		return fmt.Errorf("grant %q in session %q: %w", id, session, policy.ErrGrantNotFound)
	}
	m.grants[session] = left
	m.grantSets[session] = policy.NewGrantSet(m.grants[session])
	m.mu.Unlock()
	m.tell()
	return nil
}

// ClearGrants ends all grants of a session.
func (m *Memory) ClearGrants(session string) {
	m.mu.Lock()
	delete(m.grants, session)
	delete(m.grantSets, session)
	m.mu.Unlock()
	m.tell()
}

// Notify implements [Notifier].
func (m *Memory) Notify(changed func()) (stop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nextID++
	id := m.nextID
	m.listeners[id] = changed
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.listeners, id)
	}
}

func (m *Memory) tell() {
	m.mu.Lock()
	listeners := make([]func(), 0, len(m.listeners))
	for _, f := range m.listeners {
		listeners = append(listeners, f)
	}
	m.mu.Unlock()
	for _, f := range listeners {
		f()
	}
}

// Remembered is what answers calls of a session now. The zero Remembered has everything
// asked.
type Remembered struct {
	Rules  *policy.RuleSet
	Grants *policy.GrantSet
	// Off says that the master switch is: people are not asked.
	Off bool
}

// A MemoryStore keeps rules and grants and has the master switch. If it is both Rules and
// Grants of a gate, it is asked for all of it at once, which is cheaper than one by one.
type MemoryStore interface {
	RuleStore
	GrantStore
	Switch
	Remembered(ctx context.Context, session string) (Remembered, error)
}

// remembered reads what is remembered now, together or one by one.
func (g *Gate) remembered(ctx context.Context, session string) (r Remembered, err error) {
	if all, ok := g.cfg.Rules.(MemoryStore); ok && same(g.cfg.Grants, g.cfg.Rules) {
		err = safely("reading what is remembered", func() (err error) {
			r, err = all.Remembered(ctx, session)
			return err
		})
		if err != nil {
			err = fmt.Errorf("what is remembered cannot be read: %w", err)
		}
		return r, err
	}
	if r.Off, err = g.switchedOff(ctx); err != nil {
		return r, fmt.Errorf("the master switch cannot be read: %w", err)
	}
	if g.cfg.Rules != nil {
		err = safely("reading the rules", func() (err error) {
			r.Rules, err = g.cfg.Rules.Rules(ctx)
			return err
		})
		if err != nil {
			return r, fmt.Errorf("the rules cannot be read: %w", err)
		}
	}
	err = safely("reading the grants", func() (err error) {
		r.Grants, err = g.cfg.Grants.Grants(ctx, session)
		return err
	})
	if err != nil {
		return r, fmt.Errorf("the grants cannot be read: %w", err)
	}
	return r, nil
}

// same reports whether two stores are one. Of values that cannot be compared nobody knows.
func same(a, b any) bool { return reflect.ValueOf(a).Comparable() && a == b }

// policy is what answers calls of a session now: what is remembered, and what is fixed.
func (g *Gate) policy(ctx context.Context, session string) (policy.Policy, error) {
	r, err := g.remembered(ctx, session)
	p := policy.Policy{Rules: r.Rules, Fixed: g.cfg.Policy, Grants: r.Grants, Mode: g.cfg.Mode}
	if err == nil && g.cfg.Team != nil {
		err = safely("reading what is reserved", func() (err error) {
			p.Reserved, err = g.cfg.Team.Reserved()
			return err
		})
	}
	if err == nil && g.cfg.Fixed != nil {
		err = safely("reading the rules of the policy", func() (err error) {
			p.Fixed, err = g.cfg.Fixed()
			return err
		})
	}
	if r.Off && p.Mode == policy.ModeAsk {
		p.Mode = policy.ModeApproveAll
	}
	return p, err
}

// A Switch is the master switch of all gates that share it. Off, [policy.ModeAsk] answers
// as [policy.ModeApproveAll] does; what waits already is still asked. It is looked at for
// every judgement, also at the last moment before a call runs.
type Switch interface {
	// Approvals reports whether people are asked.
	Approvals(ctx context.Context) (on bool, err error)
}

// switchedOff reports whether the master switch is off. A mode that asks nobody does not
// look at it.
func (g *Gate) switchedOff(ctx context.Context) (off bool, err error) {
	master, ok := g.cfg.Rules.(Switch)
	if !ok || g.cfg.Mode != policy.ModeAsk {
		return false, nil
	}
	err = safely("reading the master switch", func() error {
		on, err := master.Approvals(ctx)
		off = err == nil && !on
		return err
	})
	return off, err
}

// IsDenied reports whether an act is denied on its own by what is kept, or by the fixed rules, in the
// session and project of the call. If what is kept cannot be read, everything is.
func IsDenied(ctx context.Context, kept interface {
	RuleStore
	GrantStore
}, call policy.Call, fixed *policy.RuleSet, act policy.Act, now time.Time) bool {
	rules, err := kept.Rules(ctx)
	if err != nil {
		return true
	}
	grants, err := kept.Grants(ctx, call.Session)
	if err != nil {
		return true
	}
	meets, _ := policy.Policy{Rules: rules, Fixed: fixed, Grants: grants}.Denies(call, act, now)
	return meets == policy.MatchYes
}

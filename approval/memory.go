package approval

import (
	"context"
	"fmt"
	"slices"
	"sync"

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
const DefaultRuleLimit = 100

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

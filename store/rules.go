package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/kept"
)

// A ruleRow is a row of the table of rules.
type ruleRow struct {
	n    int64 // the rules' order
	body []byte
	rule policy.Rule
}

func (r *ruleRow) sum() []byte { return sumOf("rules", r.n, r.body) }

// sumRules is what the head keeps of all rules: a row that is gone is noticed too.
func sumRules(rows []ruleRow) []byte {
	return sumRows("all rules", rows, func(r *ruleRow) []byte { return r.sum() })
}

func readRules(ctx context.Context, q querier, h head) ([]ruleRow, error) {
	rows, err := collect(ctx, q, func(r *ruleRow, scan scanner) error {
		if err := scan(&r.n, &r.body); err != nil {
			return err
		}
		if err := json.Unmarshal(r.body, &r.rule); err != nil {
			return damage("rule %d: %v", r.n, err)
		}
		return nil
	}, "SELECT n, body FROM rules ORDER BY n")
	if err == nil && string(sumRules(rows)) != string(h.rulesSum) {
		err = damage("its rules were changed outside of assent")
	}
	return rows, err
}

// Rules returns the rules as they are now, whoever changed them last.
func (s *Store) Rules(ctx context.Context) (*policy.RuleSet, error) {
	h, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rulesAt(ctx, h)
}

// rulesAt returns the rules as they are at a head or later. It wants the lock.
func (s *Store) rulesAt(ctx context.Context, h head) (*policy.RuleSet, error) {
	if !s.rules.fresh(h.policy) {
		if err := s.loadRules(ctx); err != nil {
			return nil, err
		}
	}
	return s.unexpiredRules(s.rules.value, h)
}

func (s *Store) loadRules(ctx context.Context) error {
	return s.snapshot(ctx, func(ctx context.Context, q querier, h head) error {
		rows, err := readRules(ctx, q, h)
		if err != nil {
			return err
		}
		set, err := policy.CompileRules(plainRules(rows))
		if err != nil {
			return damage("%v", err)
		}
		s.rules = cached[*policy.RuleSet]{set, h.policy, true}
		return nil
	})
}

func plainRules(rows []ruleRow) []policy.Rule {
	out := make([]policy.Rule, len(rows))
	for i := range rows {
		out[i] = rows[i].rule
	}
	return out
}

// unexpiredRules leaves out allows that have expired by a clock that was put back
// since. The gate looks at the others itself.
func (s *Store) unexpiredRules(set *policy.RuleSet, h head) (*policy.RuleSet, error) {
	latest := kept.FromNano(h.clock)
	if !s.opt.Clock().Before(latest) {
		return set, nil
	}
	return kept.UnexpiredRules(set, latest)
}

// AddRules implements [approval.RuleStore]. A rule without an id gets one. The
// errors about rules are of type [*policy.RuleError].
func (s *Store) AddRules(ctx context.Context, rules ...policy.Rule) error {
	return s.changeRules(ctx, func(all []policy.Rule) ([]policy.Rule, error) {
		return kept.AddRules(all, rules, s.opt.RuleLimit, rand.Text)
	})
}

// RemoveRule forgets a rule. One that is not there is [policy.ErrRuleNotFound].
func (s *Store) RemoveRule(ctx context.Context, id string) error {
	return s.changeRules(ctx, func(all []policy.Rule) ([]policy.Rule, error) { return kept.RemoveRule(all, id) })
}

// EnableRule turns a rule on or off.
func (s *Store) EnableRule(ctx context.Context, id string, on bool) error {
	return s.changeRules(ctx, func(all []policy.Rule) ([]policy.Rule, error) { return kept.EnableRule(all, id, on) })
}

// ErrRulesChanged says that the rules are not what somebody believed.
var ErrRulesChanged = errors.New("another process changed the rules in the meantime")

// ReplaceRules puts after in the place of before, which must be what is kept, else
// it is [ErrRulesChanged]. Each rule is checked against those before it.
func (s *Store) ReplaceRules(ctx context.Context, before, after []policy.Rule) error {
	return s.changeRules(ctx, func(now []policy.Rule) ([]policy.Rule, error) {
		if !slices.EqualFunc(now, before, policy.Rule.Same) {
			return nil, ErrRulesChanged
		}
		return kept.AddRules(nil, after, s.opt.RuleLimit, rand.Text)
	})
}

// changeRules writes the rules that f makes of those that are there.
func (s *Store) changeRules(ctx context.Context, f func([]policy.Rule) ([]policy.Rule, error)) error {
	return s.change(ctx, func(t *txn) error {
		rows, err := readRules(t.ctx, t.conn, t.head)
		if err != nil {
			return err
		}
		rules, err := f(plainRules(rows))
		if err != nil {
			return err
		}
		if _, err := policy.CompileRules(rules); err != nil {
			return err
		}
		return t.writeRules(rules)
	})
}

// writeRules replaces the rows. There are few, and they change seldom.
func (t *txn) writeRules(rules []policy.Rule) error {
	if err := t.exec("DELETE FROM rules"); err != nil {
		return err
	}
	rows := make([]ruleRow, len(rules))
	for i, rule := range rules {
		body, err := json.Marshal(rule)
		if err != nil {
			return fmt.Errorf("rule %q: %w", rule, err)
		}
		rows[i] = ruleRow{n: int64(i + 1), body: body, rule: rule}
		if err := t.exec("INSERT INTO rules (n, body) VALUES (?, ?)", rows[i].n, body); err != nil {
			return err
		}
	}
	t.head.rulesSum = sumRules(rows)
	t.head.policy++
	t.lasting()
	return nil
}

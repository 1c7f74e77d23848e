package postgres

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/kept"
)

// A cached value was read at a version.
type cached[T any] struct {
	value T
	at    int64
	known bool
}

func (c cached[T]) fresh(version int64) bool { return c.known && c.at == version }

// ruleCache are the rules, and when the first allow among them ends.
type ruleCache struct {
	cached[*policy.RuleSet]
	ends time.Time
}

// state is what there is now, to be compared with what was read before.
type state struct {
	rules, preferences int64
	session            int64 // 0 if it is not alive
	now                time.Time
}

// look asks for the state of a session and of what all share. One round trip tells whether anything has changed.
func (s *Store) look(ctx context.Context, session string) (at state, err error) {
	row := s.pool.QueryRow(ctx, `SELECT (SELECT version FROM store_versions WHERE name = 'rules'),
		(SELECT version FROM store_versions WHERE name = 'preferences'),
		coalesce((SELECT s.version`+fromSessions+` WHERE s.id = $2 AND NOT (`+stale+`)), 0), `+now, s.clock.argument(), session)
	err = row.Scan(&at.rules, &at.preferences, &at.session, &at.now)
	return at, fault(err)
}

// Remembered implements [approval.MemoryStore].
func (s *Store) Remembered(ctx context.Context, session string) (r approval.Remembered, err error) {
	at, err := s.look(ctx, session)
	if err != nil {
		return r, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	off, err := s.preferenceAt(ctx, approvalsOff, at)
	if err != nil {
		return r, err
	}
	if r.Rules, err = s.rulesAt(ctx, at); err != nil {
		return r, err
	}
	r.Off = off == yes
	r.Grants, err = s.grantsAt(ctx, session, at)
	return r, err
}

// Rules implements [approval.RuleStore]. Allows that have expired by the database's clock are left out, whatever the gate's
// clock says.
func (s *Store) Rules(ctx context.Context) (*policy.RuleSet, error) {
	at, err := s.look(ctx, "")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rulesAt(ctx, at)
}

// rulesAt returns the rules as they are at a state or later. It wants the lock.
func (s *Store) rulesAt(ctx context.Context, at state) (*policy.RuleSet, error) {
	if !s.rules.fresh(at.rules) {
		rules, version, err := readRules(ctx, s.pool)
		if err != nil {
			return nil, fault(err)
		}
		set, err := policy.CompileRules(rules)
		if err != nil {
			return nil, err
		}
		s.rules = ruleCache{cached[*policy.RuleSet]{set, version, true}, firstEnd(rules)}
	}
	if s.rules.ends.IsZero() || at.now.Before(s.rules.ends) {
		return s.rules.value, nil
	}
	return kept.UnexpiredRules(s.rules.value, at.now)
}

// firstEnd is when the first allow ends; zero if none does.
func firstEnd(rules []policy.Rule) (end time.Time) {
	for _, r := range rules {
		if r.Effect == policy.EffectAllow && !r.Expires.IsZero() && (end.IsZero() || r.Expires.Before(end)) {
			end = r.Expires
		}
	}
	return end
}

// readRules reads the rules with their version, in one statement: both are of the same moment.
func readRules(ctx context.Context, q querier) (rules []policy.Rule, version int64, err error) {
	var bodies [][]byte
	row := q.QueryRow(ctx, `SELECT version, coalesce((SELECT array_agg(body ORDER BY n) FROM store_rules), '{}') FROM store_versions WHERE name = 'rules'`)
	if err := row.Scan(&version, &bodies); err != nil {
		return nil, 0, err
	}
	rules = make([]policy.Rule, len(bodies))
	for i, body := range bodies {
		if err := json.Unmarshal(body, &rules[i]); err != nil {
			return nil, 0, fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return rules, version, nil
}

// AddRules implements [approval.RuleStore]. A rule without an id gets one. The errors about rules are of type
// [*policy.RuleError].
func (s *Store) AddRules(ctx context.Context, rules ...policy.Rule) error {
	return s.changeRules(ctx, func(all []policy.Rule) ([]policy.Rule, error) {
		return kept.AddRules(all, rules, s.opt.RuleLimit, rand.Text)
	})
}

// RemoveRule forgets a rule. One that is not there is [policy.ErrRuleNotFound].
func (s *Store) RemoveRule(ctx context.Context, id string) error {
	return s.changeRules(ctx, func(all []policy.Rule) ([]policy.Rule, error) {
		return kept.ChangeRule(all, id, func(all []policy.Rule, i int) []policy.Rule { return slices.Delete(all, i, i+1) })
	})
}

// EnableRule turns a rule on or off.
func (s *Store) EnableRule(ctx context.Context, id string, on bool) error {
	return s.changeRules(ctx, func(all []policy.Rule) ([]policy.Rule, error) {
		return kept.ChangeRule(all, id, func(all []policy.Rule, i int) []policy.Rule {
			all[i].Enabled = on
			return all
		})
	})
}

// changeRules writes the rules that f makes of those that are there. There are few, and they change seldom.
func (s *Store) changeRules(ctx context.Context, f func([]policy.Rule) ([]policy.Rule, error)) error {
	var version int64
	err := s.change(ctx, func(tx pgx.Tx) error {
		now, read, err := readRules(ctx, tx)
		if err != nil {
			return err
		}
		rules, err := f(now)
		if err != nil {
			return err
		}
		if _, err := policy.CompileRules(rules); err != nil {
			return err
		}
		if version, err = nextVersion(ctx, tx, "rules", read); err != nil {
			return err
		}
		return writeRules(ctx, tx, rules)
	})
	if err == nil {
		s.hub.memoryChanged(version)
	}
	return err
}

// nextVersion makes sure that what was read at a version is still so, and that nobody else changes it any more.
func nextVersion(ctx context.Context, tx pgx.Tx, name string, read int64) (version int64, err error) {
	err = tx.QueryRow(ctx, `UPDATE store_versions SET version = nextval('store_memory_changes') WHERE name = $1 AND version = $2 RETURNING version`,
		name, read).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, errAgain
	}
	return version, err
}

func writeRules(ctx context.Context, tx pgx.Tx, rules []policy.Rule) error {
	bodies := make([][]byte, len(rules))
	for i, rule := range rules {
		body, err := json.Marshal(rule)
		if err != nil {
			return fmt.Errorf("rule %q: %w", rule, err)
		}
		bodies[i] = body
	}
	if _, err := tx.Exec(ctx, "DELETE FROM store_rules"); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "INSERT INTO store_rules (n, body) SELECT n, body FROM unnest($1::bytea[]) WITH ORDINALITY AS r (body, n)", bodies)
	return err
}

// Grants implements [approval.GrantStore]. A session that has ended, gone stale or was never begun has none.
func (s *Store) Grants(ctx context.Context, session string) (*policy.GrantSet, error) {
	at, err := s.look(ctx, session)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.grantsAt(ctx, session, at)
}

// maxCached is how many sessions' grants are remembered.
const maxCached = 1000

// grantsAt returns the grants as they are at a state or later. It wants the lock.
func (s *Store) grantsAt(ctx context.Context, session string, at state) (*policy.GrantSet, error) {
	if at.session == 0 {
		delete(s.grants, session)
		return nil, nil
	}
	if !s.grants[session].fresh(at.session) {
		r, err := s.readSession(ctx, s.pool, session)
		if err != nil || r == nil || r.stale {
			return nil, fault(err)
		}
		grants, err := r.plainGrants()
		if err != nil {
			return nil, err
		}
		if len(s.grants) >= maxCached {
			clear(s.grants)
		}
		s.grants[session] = cached[*policy.GrantSet]{policy.NewGrantSet(grants), r.version, true}
	}
	return kept.UnexpiredGrants(s.grants[session].value, at.now), nil
}

func (r *sessionRow) plainGrants() (grants []policy.Grant, err error) {
	if err := json.Unmarshal(r.grants, &grants); err != nil {
		return nil, fmt.Errorf("the grants of session %q: %w", r.session.ID, err)
	}
	return grants, nil
}

// AddGrants implements [approval.GrantStore]. A grant without an id gets one; a session that is not alive is
// [sessions.ErrNoSession].
func (s *Store) AddGrants(ctx context.Context, grants ...policy.Grant) error {
	bySession := map[string][]policy.Grant{}
	for _, g := range grants {
		if g.ID == "" {
			g.ID = rand.Text()
		}
		bySession[g.Session] = append(bySession[g.Session], g)
	}
	return s.changeGrants(ctx, slices.Sorted(maps.Keys(bySession)), func(session string, all []policy.Grant) ([]policy.Grant, error) {
		return append(all, bySession[session]...), nil
	})
}

// RevokeGrant ends one grant. One that is not there is [policy.ErrGrantNotFound].
func (s *Store) RevokeGrant(ctx context.Context, session, id string) error {
	return s.changeGrants(ctx, []string{session}, func(_ string, all []policy.Grant) ([]policy.Grant, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(g policy.Grant) bool { return g.ID == id })
		if len(left) == len(all) {
			return nil, fmt.Errorf("grant %q in session %q: %w", id, session, policy.ErrGrantNotFound)
		}
		return left, nil
	})
}

// ClearGrants ends all grants of a session. The session goes on.
func (s *Store) ClearGrants(ctx context.Context, session string) error {
	return s.changeGrants(ctx, []string{session}, func(string, []policy.Grant) ([]policy.Grant, error) { return []policy.Grant{}, nil })
}

// changeGrants writes what f makes of the grants of sessions, of all or of none. The sessions are in order, so that no two who
// change them wait for each other.
func (s *Store) changeGrants(ctx context.Context, sessions []string, f func(string, []policy.Grant) ([]policy.Grant, error)) error {
	var changes changes
	err := s.change(ctx, func(tx pgx.Tx) error {
		changes.reset()
		for _, id := range sessions {
			r, err := s.readSession(ctx, tx, id)
			if err != nil {
				return err
			}
			if r == nil || r.stale {
				return noSession(id)
			}
			grants, err := r.plainGrants()
			if err != nil {
				return err
			}
			if grants, err = f(id, grants); err != nil {
				return err
			}
			body, err := json.Marshal(grants)
			if err != nil {
				return err
			}
			err = changes.one(tx.QueryRow(ctx, `UPDATE store_sessions SET grants = $4, seen = `+now+`, version = nextval('store_memory_changes')
				WHERE id = $2 AND version = $3 RETURNING version`, s.clock.argument(), id, r.version, body))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		changes.tell(s)
	}
	return err
}

// AllGrants returns the grants of every session that is alive.
func (s *Store) AllGrants(ctx context.Context) (out []policy.Grant, err error) {
	rows, err := s.sessionsWhere(ctx, s.pool, "NOT ("+stale+")")
	if err != nil {
		return nil, fault(err)
	}
	for _, r := range rows {
		grants, err := r.plainGrants()
		if err != nil {
			return nil, err
		}
		out = append(out, kept.UnexpiredGrants(policy.NewGrantSet(grants), s.clock.now()).Grants()...)
	}
	return out, nil
}

// approvalsOff is the name of the preference that turns asking off.
const approvalsOff = "approvals.off"

const yes = "yes"

// Approvals implements [approval.Switch]. With an error it is on.
func (s *Store) Approvals(ctx context.Context) (on bool, err error) {
	value, err := s.Preference(ctx, approvalsOff)
	return err != nil || value != yes, err
}

// SetApprovals turns the master switch on or off.
func (s *Store) SetApprovals(ctx context.Context, on bool) error {
	if on {
		return s.SetPreference(ctx, approvalsOff, "")
	}
	return s.SetPreference(ctx, approvalsOff, yes)
}

// Preference returns what was set, or "".
func (s *Store) Preference(ctx context.Context, name string) (string, error) {
	at, err := s.look(ctx, "")
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.preferenceAt(ctx, name, at)
}

// Preferences returns all whose name begins so.
func (s *Store) Preferences(ctx context.Context, prefix string) (map[string]string, error) {
	at, err := s.look(ctx, "")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.preferenceAt(ctx, "", at); err != nil {
		return nil, err
	}
	out := maps.Clone(s.preferences.value)
	maps.DeleteFunc(out, func(name, _ string) bool { return !strings.HasPrefix(name, prefix) })
	return out, nil
}

// preferenceAt returns a preference as it is at a state or later. It wants the lock.
func (s *Store) preferenceAt(ctx context.Context, name string, at state) (string, error) {
	if !s.preferences.fresh(at.preferences) {
		var names, values []string
		var version int64
		row := s.pool.QueryRow(ctx, `SELECT version, coalesce((SELECT array_agg(name ORDER BY name) FROM store_preferences), '{}'),
			coalesce((SELECT array_agg(value ORDER BY name) FROM store_preferences), '{}') FROM store_versions WHERE name = 'preferences'`)
		if err := row.Scan(&version, &names, &values); err != nil {
			return "", fault(err)
		}
		all := make(map[string]string, len(names))
		for i := range names {
			all[names[i]] = values[i]
		}
		s.preferences = cached[map[string]string]{all, version, true}
	}
	return s.preferences.value[name], nil
}

// SetPreference sets a value; "" takes it away.
func (s *Store) SetPreference(ctx context.Context, name, value string) error {
	var version int64
	err := s.change(ctx, func(tx pgx.Tx) error {
		row := tx.QueryRow(ctx, `UPDATE store_versions SET version = nextval('store_memory_changes') WHERE name = 'preferences' RETURNING version`)
		if err := row.Scan(&version); err != nil {
			return err
		}
		if value == "" {
			_, err := tx.Exec(ctx, "DELETE FROM store_preferences WHERE name = $1", name)
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO store_preferences (name, value) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
		return err
	})
	if err == nil {
		s.hub.memoryChanged(version)
	}
	return err
}

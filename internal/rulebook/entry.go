package rulebook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
)

// An Entry is a rule, and what its owner noted about it. Nobody but them sees the note.
type Entry struct {
	approval.Rule
	Note string `json:"note,omitempty"`
}

// A Store is where rules and notes are kept.
type Store interface {
	approval.RuleStore
	RemoveRule(ctx context.Context, id string) error
	SetRules(ctx context.Context, rules []approval.Rule) error
	Preference(ctx context.Context, name string) (string, error)
	SetPreference(ctx context.Context, name, value string) error
}

// Load returns the rules that are kept, in order.
func Load(ctx context.Context, s Store) ([]Entry, error) {
	set, err := s.Rules(ctx)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, r := range set.Rules() {
		note, err := s.Preference(ctx, noteName(r.ID))
		if err != nil {
			return nil, err
		}
		out = append(out, Entry{r, note})
	}
	return out, nil
}

// Add keeps further rules, all or none. Each needs an id.
func Add(ctx context.Context, s Store, entries ...Entry) error {
	if err := s.AddRules(ctx, Rules(entries)...); err != nil {
		return err
	}
	return setNotes(ctx, s, entries)
}

// Remove forgets a rule with its note.
func Remove(ctx context.Context, s Store, id string) error {
	if err := s.RemoveRule(ctx, id); err != nil {
		return err
	}
	return s.SetPreference(ctx, noteName(id), "")
}

// ErrChanged says that somebody else changed the rules meanwhile.
var ErrChanged = errors.New("the rules were changed by somebody else meanwhile")

// Replace puts after in the place of before, which must still be what is kept.
func Replace(ctx context.Context, s Store, before, after []Entry) error {
	now, err := Load(ctx, s)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(now, before, same) {
		return ErrChanged
	}
	if err := s.SetRules(ctx, Rules(after)); err != nil {
		return err
	}
	var gone []Entry
	for _, e := range before {
		if !slices.ContainsFunc(after, func(a Entry) bool { return a.ID == e.ID }) {
			gone = append(gone, Entry{Rule: e.Rule})
		}
	}
	return setNotes(ctx, s, append(gone, after...))
}

func setNotes(ctx context.Context, s Store, entries []Entry) error {
	for _, e := range entries {
		old, err := s.Preference(ctx, noteName(e.ID))
		if err == nil && old != e.Note {
			err = s.SetPreference(ctx, noteName(e.ID), e.Note)
		}
		if err != nil {
			return fmt.Errorf("the note of rule %s: %w", e.ID, err)
		}
	}
	return nil
}

func noteName(id string) string { return "rule.note." + id }

// same reports whether two entries say the same.
func same(a, b Entry) bool {
	return a.ID == b.ID && a.String() == b.String() && a.Enabled == b.Enabled && a.Note == b.Note &&
		a.Because == b.Because && a.Expires.Equal(b.Expires)
}

// Rules returns the rules of the entries.
func Rules(entries []Entry) []approval.Rule {
	out := make([]approval.Rule, len(entries))
	for i, e := range entries {
		out[i] = e.Rule
	}
	return out
}

// Find returns the entry that a person means: by its id, the beginning of it, or the text
// of the rule. The error is a [*approval.RuleError].
func Find(entries []Entry, word string) (Entry, error) {
	var found []Entry
	for _, e := range entries {
		if e.ID == word || e.String() == word {
			return e, nil
		}
		if len(word) >= minPrefix && len(e.ID) > len(word) && strings.EqualFold(e.ID[:len(word)], word) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Entry{}, &approval.RuleError{Err: approval.ErrRuleNotFound, Rule: word, Detail: "'assent rules list' prints the ids"}
	}
	return Entry{}, &approval.RuleError{Err: approval.ErrRuleNotFound, Rule: word, Detail: "several rules have an id that begins so; write more of it"}
}

// minPrefix is how much of an id has to be given, ShortID how much is shown.
const (
	minPrefix = 4
	shownID   = 8
)

// ShortID returns the beginning of an id, which is enough to name a rule or grant.
func ShortID(id string) string {
	if len(id) > shownID && !strings.ContainsAny(id, ":./ ") {
		return id[:shownID]
	}
	return id
}

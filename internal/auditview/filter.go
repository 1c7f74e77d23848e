package auditview

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/store"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// A Filter says which records are wanted, as a person writes it in flags.
type Filter struct {
	Since, Until                         string
	Tool, Worker, Session, Outcome, Rule string
}

// Records is what the store is asked for. A rule may be named by the beginning of its id.
func (f *Filter) Records(ctx context.Context, s *store.Store, now time.Time) (approval.RecordFilter, error) {
	out := approval.RecordFilter{Tool: f.Tool, Worker: f.Worker, Session: f.Session, Rule: f.Rule}
	for _, t := range []struct {
		flag, text string
		into       *time.Time
	}{{"--since", f.Since, &out.Since}, {"--until", f.Until, &out.Until}} {
		if t.text == "" {
			continue
		}
		var err error
		if *t.into, err = parseSince(t.text, now); err != nil {
			return out, fmt.Errorf("%s: %w", t.flag, err)
		}
	}
	if f.Outcome != "" {
		if err := filterOutcome(&out, f.Outcome); err != nil {
			return out, fmt.Errorf("--outcome: %w", err)
		}
	}
	if f.Rule == "" {
		return out, nil
	}
	set, err := s.Rules(ctx)
	if err != nil {
		return out, err
	}
	for _, r := range set.Rules() {
		if rulebook.ShortID(r.ID) == f.Rule {
			out.Rule = r.ID
		}
	}
	return out, nil
}

// states, stages and groups are the words by which records can be looked for. A stage that
// is called like a state is left out: the state is meant.
var (
	allowed = []policy.State{
		policy.StateApproved, policy.StateAutoApproved, policy.StateSessionApproved, policy.StateModeApproved, policy.StateFree,
	}
	refused = []policy.State{
		policy.StateDenied, policy.StateAutoDenied, policy.StateModeDenied, policy.StateDismissed, policy.StateExpired,
		policy.StateBlocked, policy.StateInvalid,
	}
	states = slices.Concat(allowed, refused, []policy.State{policy.StateAnswered, policy.StateHandedOver})
	stages = []approval.Stage{
		approval.StageExecuting, approval.StageCompleted, approval.StageFailed, approval.StageCancelled,
		approval.StageSuspended, approval.StageUnknown, approval.StageReleased,
	}
)

// The groups of states.
const (
	allowedWord = "allowed"
	refusedWord = "refused"
)

// filterOutcome makes a filter want calls that were answered so (denied), that ended so
// (failed), or that were allowed or refused in whatever way.
func filterOutcome(f *approval.RecordFilter, word string) error {
	switch {
	case word == allowedWord:
		f.States = allowed
	case word == refusedWord:
		f.States = refused
	case slices.Contains(states, policy.State(word)):
		f.States = []policy.State{policy.State(word)}
	case slices.Contains(stages, approval.Stage(word)):
		f.Stage = approval.Stage(word)
	default:
		return fmt.Errorf("there is no %q; it is one of %s; %s and %s mean several", word, list(states, stages),
			allowedWord, refusedWord)
	}
	return nil
}

func list(states []policy.State, stages []approval.Stage) string {
	var out []string
	for _, s := range states {
		out = append(out, string(s))
	}
	for _, s := range stages {
		out = append(out, string(s))
	}
	return strings.Join(out, ", ")
}

// layouts are how a time may be written, the most exact first. Without a zone it is local.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04", time.DateOnly}

// parseSince reads a point in the past: how long ago (90m, 2d, 1w), or a time.
func parseSince(text string, now time.Time) (time.Time, error) { return parseTime(text, now, -1) }

// ParseUntil reads a point in the future: in how long (12h, 30d), or a time.
func ParseUntil(text string, now time.Time) (time.Time, error) {
	t, err := parseTime(text, now, 1)
	if err == nil && !t.After(now) {
		err = fmt.Errorf("%q is in the past", text)
	}
	return t, err
}

func parseTime(text string, now time.Time, direction int) (time.Time, error) {
	text = strings.TrimSpace(text)
	if d, ok := parseDuration(text); ok {
		return now.Add(time.Duration(direction) * d), nil
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is neither a duration, such as 90m, 12h or 30d, nor a time, such as "+
		"2026-12-31 or 2026-12-31T18:00:00Z", text)
}

// parseDuration reads what Go reads, and whole days and weeks.
func parseDuration(text string) (time.Duration, bool) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, true
	}
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		number, ok := strings.CutSuffix(text, suffix)
		if n, err := strconv.ParseUint(number, 10, 16); ok && err == nil && n < 36500 {
			return time.Duration(n) * unit, true
		}
	}
	return 0, false
}

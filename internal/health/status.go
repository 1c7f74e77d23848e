// Package health says what is on and what is wrong: [Now] is 'assent status', a screen about this
// folder and its agents; [Examine] is 'assent doctor', everything that can be wrong with its cure.
// Neither changes anything but the note on whether a sandbox works.
package health

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/hook"
	"github.com/assent-dev/assent/internal/agents/install"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// A Status is what holds in a folder, and what is going on.
type Status struct {
	Version string `json:"version"`
	Folder  string `json:"folder"`
	// Agents are those that are installed, or the one that was asked about.
	Agents []install.AgentStatus `json:"agents"`
	// Policy are the files that say what is allowed, the strongest first.
	Policy []Tier `json:"policy"`
	// Otherwise is what holds for other agents where no file says anything; empty if a trusted
	// policy of the project does.
	Otherwise string `json:"otherwise,omitempty"`
	// HookShell and HookPolicy are what the user chose for other agents.
	HookShell  string `json:"hook_shell"`
	HookPolicy string `json:"hook_policy"`
	// Sandbox says whether one works; NoSandbox is why none does.
	Sandbox   bool   `json:"sandbox"`
	NoSandbox string `json:"no_sandbox,omitempty"`
	// Store is the folder of what is kept, and Bytes the size of the store in it.
	Store string `json:"store"`
	Bytes int64  `json:"store_bytes"`
	Rules Rules  `json:"rules"`
	// Inbox says that one is open, and Waiting how many requests wait.
	Inbox   bool `json:"inbox_open"`
	Waiting int  `json:"waiting"`
	// Team is how this machine stands to its team; nil if it has none.
	Team *Team `json:"team,omitempty"`
	// Approvals says that the master switch is on.
	Approvals bool  `json:"approvals"`
	Today     Today `json:"today"`
	// Problems are what could not be found out, and why.
	Problems []string `json:"problems,omitempty"`
	// Next is what to do now, the most urgent first.
	Next []string `json:"next"`
}

// A Tier is a file that says what is allowed.
type Tier struct {
	Whose string `json:"whose"` // administrator, you, project
	File  string `json:"file"`
	// There is false if the file does not exist; Untrusted says that it can only deny.
	There     bool `json:"exists"`
	Untrusted bool `json:"untrusted,omitempty"`
}

// Rules count the saved rules by where they apply.
type Rules struct {
	Everywhere int `json:"everywhere"`
	Here       int `json:"this_project"`
	Elsewhere  int `json:"other_projects"`
	Disabled   int `json:"disabled"` // or expired; not among the others
}

// Today counts the calls of today by how they were decided.
type Today struct {
	Calls    int64 `json:"calls"`
	Allowed  int64 `json:"allowed"` // without a question
	Approved int64 `json:"approved"`
	Denied   int64 `json:"denied"`
	Blocked  int64 `json:"blocked"`
	Handed   int64 `json:"asked_by_agent"` // by the agent's own prompt
}

// careful is what holds for other agents where no file says anything.
const careful = "careful: asks before changes and unknown commands"

// Now finds out what is on in the current folder, for the agent that is named or those that are
// installed. What fails is one of the problems; the rest is there all the same.
func Now(ctx context.Context, state, version string, named *agents.Agent) (*Status, error) {
	order, err := setup.OrderHere("", state)
	if err != nil {
		return nil, err
	}
	s := &Status{Version: version, Folder: order.Dir, Approvals: true, Store: order.Places.State,
		HookShell: config.HookJudge, HookPolicy: config.HookCareful}
	if s.NoSandbox, err = open.TrySandbox(ctx, order.Places); err != nil {
		s.NoSandbox = err.Error()
	}
	s.Sandbox = s.NoSandbox == ""
	order.Default, order.NoSandbox = true, func(context.Context) string { return s.NoSandbox }
	holds, err := setup.Resolve(ctx, order)
	if err != nil {
		s.failed("the policy", err)
	} else {
		s.policy(holds)
		s.Team = teamOf(holds)
		if err := s.kept(ctx, holds); err != nil {
			s.failed("what is saved", err)
		}
	}
	if s.Agents, err = install.AgentsHere(ctx, named, s.HookShell); err != nil {
		s.failed("the agents' settings", err)
	}
	s.next()
	return s, nil
}

func (s *Status) failed(what string, err error) {
	s.Problems = append(s.Problems, what+" cannot be read: "+err.Error())
}

// policy says which files speak here, and what holds where none does.
func (s *Status) policy(of *setup.Setup) {
	s.HookShell = cmp.Or(of.Person.Hook.Shell, config.HookJudge)
	s.HookPolicy = cmp.Or(of.Person.Hook.Policy, config.HookCareful)
	tiers := []Tier{{Whose: "administrator", File: of.Places.Admin},
		{Whose: "you", File: filepath.Join(of.Places.Config, config.UserName)}}
	for i := range tiers {
		_, err := os.Stat(tiers[i].File)
		tiers[i].There = err == nil
	}
	if of.File != nil {
		tiers = append(tiers, Tier{Whose: "this project", File: of.File.Path, There: true, Untrusted: of.Untrusted})
	}
	s.Policy = tiers
	if of.File == nil || of.Untrusted {
		s.Otherwise = cmp.Or(hook.Policy(of), careful)
	}
}

// kept finds out what is saved, who can be asked, and what was decided today.
func (s *Status) kept(ctx context.Context, of *setup.Setup) error {
	kept, err := open.ReadStore(ctx, of.Places, of.Person)
	if errors.Is(err, open.ErrNoStore) {
		s.Approvals = !of.Person.ApprovalsOff
		return nil
	}
	if err != nil {
		return err
	}
	defer kept.Close()
	if info, err := os.Stat(kept.Path()); err == nil {
		s.Bytes = info.Size()
	}
	live, err := kept.Sessions(ctx)
	if err != nil {
		return err
	}
	s.Inbox = slices.ContainsFunc(live, func(s sessions.Session) bool { return s.Kind == sessions.KindInbox })
	waiting, err := kept.Open(ctx, "")
	if err != nil {
		return err
	}
	s.Waiting = len(waiting)
	if s.Team != nil {
		s.Team.Unsent = unsent(ctx, of.Places.State, kept)
	}
	off, err := open.ApprovalsOff(ctx, of.Person, kept)
	if err != nil {
		return err
	}
	s.Approvals = off == ""
	rules, err := kept.Rules(ctx)
	if err != nil {
		return err
	}
	s.Rules = countRules(rules.Rules(), of.Scope, time.Now())
	s.Today, err = today(ctx, kept, time.Now())
	return err
}

// countRules counts rules by where they apply, seen from a project.
func countRules(rules []policy.Rule, project string, now time.Time) (out Rules) {
	for _, r := range rules {
		switch {
		case !r.Enabled || !r.Expires.IsZero() && !now.Before(r.Expires):
			out.Disabled++
		case r.Project == "":
			out.Everywhere++
		case r.Project == project:
			out.Here++
		default:
			out.Elsewhere++
		}
	}
	return out
}

// today counts what was decided since midnight.
func today(ctx context.Context, kept *store.Store, now time.Time) (out Today, err error) {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	stats, err := kept.Stats(ctx, approval.RecordFilter{Since: midnight})
	out.Calls = stats.Calls
	for _, a := range stats.Answers {
		switch a.State {
		case policy.StateFree, policy.StateAutoApproved, policy.StateSessionApproved, policy.StateModeApproved:
			out.Allowed += a.Calls
		case policy.StateApproved, policy.StateAnswered:
			out.Approved += a.Calls
		case policy.StateDenied, policy.StateExpired, policy.StateDismissed:
			out.Denied += a.Calls
		case policy.StateHandedOver:
			out.Handed += a.Calls
		default:
			out.Blocked += a.Calls
		}
	}
	return out, err
}

package setup

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/realpath"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/policy"
)

// A follower says what holds in a program that runs on once the bridge has a newer policy of the team: its rules, and
// its words on tools by name. The rest is what tools, sandbox and connectors were made of when the program started: if
// that changes, what it is about is denied until the program is started again.
type follower struct {
	member *member.Member
	tiers  []config.Tier  // as the program started
	first  *config.Policy // of the team, then; nil if there was none
	fresh  bool           // its allows counted then

	mu   sync.Mutex
	of   *config.Policy // of the team: what holds now was made of it
	wide bool           // its allows count
	now  *config.Policy // of all tiers
	err  error
}

// follow lets the configuration follow the policy of the team.
func (s *Setup) follow(c *config.Configuration) {
	if s.member == nil {
		return
	}
	f := &follower{member: s.member, tiers: c.Tiers, now: c.Policy}
	if i := f.team(); i >= 0 {
		f.first, f.fresh = c.Tiers[i].Policy, c.Tiers[i].Trusted
	}
	f.of, f.wide = f.first, f.fresh
	judged := func() (*config.Policy, error) { return f.take(f.member.Seen()) } // the gate has had it look
	c.Follow(judged, func() (*config.Policy, error) { return f.take(f.member.Newest()) })
}

// team is where the policy of the team stands among the tiers; -1 for nowhere.
func (f *follower) team() int {
	return slices.IndexFunc(f.tiers, func(t config.Tier) bool { return t.Kind == config.TeamTier })
}

// take takes a newer policy over, if it is one, and returns what holds. While there is none that can be used, the last one
// holds, and besides it everything is reserved: see [member.Member.Reserved].
func (f *follower) take(p *config.Policy, fresh bool) (*config.Policy, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// A program that started without the team's roots does not know their names, by which its rules may speak.
	wide := p != nil && fresh && (f.fresh || len(p.Roots) == 0)
	if p == nil || p == f.of && wide == f.wide {
		return f.now, f.err
	}
	f.of, f.wide = p, wide
	if f.now, f.err = f.combine(p, wide); f.err != nil {
		f.err = fmt.Errorf("%s cannot be used in this program: %w", p.File, f.err)
	}
	return f.now, f.err
}

func (f *follower) combine(p *config.Policy, wide bool) (*config.Policy, error) {
	tier := config.Tier{Kind: config.TeamTier, Policy: p, Trusted: wide}
	tiers := slices.Clone(f.tiers)
	if i := f.team(); i >= 0 {
		tiers[i] = tier
	} else {
		admin := slices.IndexFunc(tiers, func(t config.Tier) bool { return t.Kind == config.Administrator })
		tiers = slices.Insert(tiers, admin+1, tier)
	}
	all, err := config.Combine(realpath.Resolve, tiers...)
	if err != nil {
		return nil, err
	}
	denies, err := f.atStart(p)
	if err == nil && len(denies) > 0 {
		all.Policy.Rules, err = policy.CompileRules(append(denies, all.Policy.Rules.Rules()...))
	}
	return all.Policy, err
}

// atStart are denies of what the program would have to be started again for.
func (f *follower) atStart(p *config.Policy) ([]policy.Rule, error) {
	keys, err := f.first.OnlyAtStart(p)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	text := "deny *"
	if config.OnlyCommands(keys) {
		text = "deny " + policy.ActShell
	}
	rule, err := policy.ParseRule(text)
	rule.ID, rule.Source = "newer", p.File+", of another "+strings.Join(keys, ", ")
	rule.Because = fmt.Sprintf("%s changes what counts only when a program starts (%s): start this program again", p.File,
		strings.Join(keys, ", "))
	return []policy.Rule{rule}, err
}

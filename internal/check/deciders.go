package check

import (
	"fmt"
	"strings"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// ofSource are the acts that the deciders in the source of a team's policy are named for.
func ofSource(deciders []config.Decider) []policy.Reservation {
	var out []policy.Reservation
	for _, d := range deciders {
		var who []string
		for _, n := range d.Need {
			who = append(who, fmt.Sprintf("%d of %s", n.Count, n.From))
		}
		out = append(out, policy.Reservation{Acts: d.Acts, Source: d.Source,
			Because: fmt.Sprintf("this needs %s (%s)", strings.Join(who, " and "), d.Source)})
	}
	return out
}

// decided warns of allows that never apply because people of a team decide about all that they allow, and of deciders
// who are never asked because a rule denies all of it. A rule that is met in part is nobody's mistake.
func (l *look) decided() {
	var allows []policy.Rule
	for _, r := range l.policy.Rules.Rules() {
		if r.Effect == policy.EffectAllow && l.own(r.Source) {
			allows = append(allows, r)
		}
	}
	for _, r := range l.policy.Shell.Rules {
		if r.Approval == tool.WordAllow && r.Preset == "" && l.own(r.Source) {
			allows = append(allows, policy.Rule{Scope: policy.ScopeTool, Effect: policy.EffectAllow, Source: r.Source,
				Pattern: policy.ActShell + "(" + r.Pattern + ")"})
		}
	}
	for _, of := range l.reservations {
		for _, act := range of.Acts {
			reserved, err := config.ParseRule(string(policy.EffectDeny) + " " + act)
			if err != nil {
				continue // which reserving them has said
			}
			for _, r := range allows {
				if hides(reserved, r) {
					l.warn(r.Source, "%s never applies: %s", r, of.Because)
				}
			}
			for _, r := range l.policy.Rules.Rules() {
				if l.file.Team != nil && r.Effect == policy.EffectDeny && hides(r, reserved) {
					l.warn(of.Source, "nobody is asked about %s: %s (%s) denies all of it", act, r, r.Source)
				}
			}
		}
	}
}

// own reports whether a line is one of the file that is checked.
func (l *look) own(source string) bool { return strings.HasPrefix(source, l.file.Policy.File+":") }

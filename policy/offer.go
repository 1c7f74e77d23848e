package policy

import (
	"slices"
	"strings"
)

// What nobody would read as a rule is not offered as one.
const (
	maxOffered   = 50      // acts of one call
	maxRuleBytes = 4 << 10 // of one rule
)

// An Offer is a way to remember an answer: how far it reaches, the rules that
// say so, and the acts that they cover.
type Offer struct {
	Reach Reach    `json:"reach"`
	Allow []string `json:"allow"` // rules that allow, one for each open act
	Deny  []string `json:"deny"`  // rules that deny
	Acts  []int    `json:"acts"`  // indices of the acts that are covered
	// Warn is what to know before the rules that allow are kept.
	Warn []string `json:"warn,omitempty"`
}

// Offers returns the reaches that make sense for all the open acts. A reach
// that one act does not have falls back to exactly that act.
func Offers(call *Call, acts []Act, open []int) []Offer {
	var out []Offer
	if len(open) > maxOffered {
		return nil
	}
	for _, reach := range []Reach{ReachExact, ReachPrefix, ReachProject, ReachDomain, ReachTool} {
		o := Offer{Reach: reach}
		own := reach == ReachExact
		if reach == ReachDomain && slices.ContainsFunc(open, func(i int) bool { return acts[i].Domain == "" }) {
			continue // a question about more than hosts
		}
		for _, i := range open {
			if follows(acts, open, i) {
				o.Acts = append(o.Acts, i)
				continue
			}
			a, r := remembered(acts, i, reach)
			if a != &acts[i] {
				o.Warn = appendNew(o.Warn, connectsToo(a, r, &acts[i]))
			}
			own = own || r == reach
			text, ok := a.ruleText(r)
			if !ok || !a.coveredBy(call, text) {
				own = false
				break
			}
			o.Allow = appendNew(o.Allow, "allow "+text)
			o.Deny = appendNew(o.Deny, "deny "+text)
			o.Acts = append(o.Acts, i)
		}
		if own && len(o.Acts) > 0 {
			out = append(out, o)
		}
	}
	return out
}

// follows reports whether what answers another open act answers this one too: a
// yes to cp is a yes to what it copies inside the roots. To remember it on its own
// would say more than was asked.
func follows(acts []Act, open []int, i int) bool {
	a := &acts[i]
	return a.Cause > 0 && a.Cause <= i && !a.ByName && !a.Secret && !a.PersonOnly && slices.Contains(open, a.Cause-1)
}

// remembered returns the act that an answer to act i is remembered for, and how far. For a
// connection of a command's own that is the command, if so much of it is spelled: to remember
// the host would open it to every other command, and one that is not known has no name.
func remembered(acts []Act, i int, reach Reach) (*Act, Reach) {
	a := &acts[i]
	if c := a.Cause - 1; c >= 0 && c < i && ownConnection(a, &acts[c]) && !a.PersonOnly {
		command := &acts[c]
		r := command.reachOr(reach)
		if a.Target.Unknown && !(&Grant{Act: *command, Reach: r}).spells(a.Own) {
			r = ReachExact
		}
		if command.reachable(r) && (&Grant{Act: *command, Reach: r}).spells(a.Own) {
			return command, r
		}
	}
	return a, a.reachOr(reach)
}

// GrantsFor returns, for the open acts of a call, what a grant of this reach is about: of each
// its Act and Reach, and nothing else yet.
func GrantsFor(acts []Act, open []int, reach Reach) (grants []Grant) {
	for _, i := range open {
		if follows(acts, open, i) {
			continue
		}
		a, r := remembered(acts, i, reach)
		kept := func(g Grant) bool {
			return g.Reach == r && g.Act.Name == a.Name && g.Act.Dir == a.Dir && g.Act.Target.same(a.Target)
		}
		if a != &acts[i] && slices.ContainsFunc(grants, kept) {
			continue // with the command of which this is a connection
		}
		grants = append(grants, Grant{Act: *a, Reach: r})
	}
	return grants
}

// reachOr returns the reach, or that of exactly this act where it makes no sense.
func (a *Act) reachOr(reach Reach) Reach {
	if reach == "" || !a.reachable(reach) {
		return ReachExact
	}
	return reach
}

// connectsToo says which connection is remembered together with a command.
func connectsToo(command *Act, reach Reach, to *Act) string {
	words := joinWords(command.prefixWords(reach))
	if to.Target.Unknown {
		return "This includes the connections of " + words + " to any host."
	}
	return "This includes the connections of " + words + ", now to " + to.Target.String() + "."
}

// Denials returns the way to remember a no to what only a person may answer:
// exactly those acts. A yes to it is never remembered.
func Denials(acts []Act, open []int) []Offer {
	o := Offer{Reach: ReachExact}
	for _, i := range open {
		text, ok := acts[i].ruleText(ReachExact)
		if _, err := ParseRule("deny " + text); !ok || err != nil || acts[i].Target.Unknown || hasUnknown(acts[i].Target.Words) {
			continue // a deny of what is not known would not say what it denies
		}
		o.Deny = appendNew(o.Deny, "deny "+text)
		o.Acts = append(o.Acts, i)
	}
	if len(o.Acts) == 0 || len(open) > maxOffered {
		return nil
	}
	return []Offer{o}
}

func appendNew(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}

// reachable reports whether the reach is one to offer for the act: a whole
// tool is never offered for commands, nor where acts are answered by name only.
func (a *Act) reachable(reach Reach) bool {
	if a.PersonOnly || a.Target.Unknown || hides(a.Target.Words) {
		return false
	}
	if a.Secret && reach != ReachExact {
		return false
	}
	switch reach {
	case ReachProject:
		return a.plainProjectCode()
	case ReachDomain:
		return a.Name == ActConnect && a.Domain != "" && a.Target.URL.Port != ""
	case ReachTool:
		return a.Target.Kind != KindWords && !a.ByName
	case ReachPrefix:
		return a.Target.Kind == KindPath || a.Target.Kind == KindURL && !a.ByName || a.Target.hasInput() ||
			a.Target.Kind == KindWords && a.Prefix > 0
	}
	return !hasUnknown(a.Target.Words)
}

// ruleText returns the pattern of the rule that reaches so far, if one can be
// written: a name with glob characters would stand for others as well.
func (a *Act) ruleText(reach Reach) (text string, ok bool) {
	if reach == ReachProject {
		return ActProjectCode + "(" + escapeGlob(a.Project) + ")", a.Project != "" && len(a.Project) <= maxRuleBytes
	}
	text = qualified(a.Connector, a.Name)
	if strings.ContainsAny(text, "*?[]") || a.Target.size() > maxRuleBytes {
		return "", false
	}
	if reach == ReachTool {
		return text, true
	}
	return text + "(" + a.reachText(reach) + ")", true // an empty target does not parse
}

// reachText returns the target of the rule that reaches so far; empty for a
// whole tool.
func (a *Act) reachText(reach Reach) string {
	t := &a.Target
	if reach == ReachTool {
		return ""
	}
	switch t.Kind {
	case KindPath:
		return t.pathReach(reach)
	case KindWords:
		if reach == ReachPrefix && a.Prefix > 0 {
			return joinWords(a.prefixWords(ReachPrefix))
		}
		return "= " + joinWords(t.Words)
	case KindURL:
		if reach == ReachDomain && a.Domain != "" {
			u := t.URL
			u.Host = a.Domain
			return u.String()
		}
		if reach == ReachPrefix && t.URL.Scheme != "" {
			u := t.URL
			u.Path, u.Query = "/**", ""
			return u.String()
		}
		if t.URL.Scheme == "" {
			return t.URL.String()
		}
		u := t.URL
		u.Path, u.Query = escapeGlob(u.Path), escapeGlob(u.Query)
		if u.Query != "" {
			u.Path, u.Query = u.Path+`\?`+u.Query, ""
		}
		return u.String()
	}
	if reach == ReachExact && t.hasInput() {
		return escapeGlob(t.Text) + ", " + t.To
	}
	return escapeGlob(t.Text)
}

// hasInput reports whether the target is somebody who is handed something.
func (t *Target) hasInput() bool { return t.Kind == KindText && t.To != "" }

func (t *Target) pathReach(reach Reach) string {
	if len(t.Written) == 0 {
		return ""
	}
	text := escapeGlob(t.Written[0])
	if reach == ReachPrefix {
		folder, ok := t.folder()
		if !ok {
			return ""
		}
		text = strings.TrimSuffix(escapeGlob(folder), "/") + "/**"
	}
	if strings.IndexAny(text, "~$\"'`") == 0 {
		text = `\` + text // a file of that name, and not the home folder
	}
	text = strings.ReplaceAll(text, "/$", `/\$`)
	if t.To != "" {
		text += ", " + escapeGlob(t.To)
	}
	return text
}

// folder returns the folder of a file. The top of the root named "." has no
// virtual name that would not hold every other root as well, so it is named by
// its absolute one.
func (t *Target) folder() (string, bool) {
	for _, f := range folders(t.Written) {
		if f != "." {
			return f, true
		}
	}
	return "", false
}

// coveredBy reports whether an allow with this pattern would answer the act:
// an offer that does not keep its word is not made.
func (a *Act) coveredBy(call *Call, text string) bool {
	rule, err := ParseRule("allow " + text)
	if err != nil {
		return false
	}
	set, err := CompileRules([]Rule{rule})
	here := *a
	here.Away = false // a grant holds in the folder it was given in
	return err == nil && set.allowed(allowing{call: call, act: &here, byName: a.ByName}) != nil
}

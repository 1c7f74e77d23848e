package hosts

import (
	"strings"

	"github.com/assent-dev/assent/policy"
)

// What is said about hosts.
const (
	WordFree    = "free"    // reached without a question
	WordAsked   = "asked"   // somebody is asked when they are reached
	WordDenied  = "denied"  // refused, whatever else is said
	WordRefused = "refused" // refused unless the list of free hosts names them
)

// A Word is what is said about some hosts, and by which line.
type Word struct {
	Word   string `json:"word"`
	Hosts  string `json:"hosts"`
	Source string `json:"source,omitempty"`
}

// Words says which hosts are denied, free and asked by the policy and by rules, the strictest
// first. Rules that are about other things, and those that do not hold, are left out.
func (p Policy) Words(rules []policy.Rule) []Word {
	if p.off() {
		return []Word{{WordDenied, "every host: the network is off", source(p.Source)}}
	}
	var out []Word
	for _, host := range p.Deny {
		out = append(out, Word{WordDenied, host, source(p.line("deny", host))})
	}
	out = append(out, ruleWords(rules, policy.EffectDeny, WordDenied)...)
	for _, l := range p.listed(p.Allow) {
		text := l.text
		if l.Port == "" {
			text += " over https on port 443"
		}
		out = append(out, Word{WordFree, text, source(p.line("allow", l.text))})
	}
	out = append(out, ruleWords(rules, policy.EffectAllow, WordFree)...)
	return append(out,
		Word{WordRefused, "this machine, private networks and metadata services, unless they are listed by name or address", "built in"},
		Word{WordAsked, "every other host", source(p.Source)})
}

// ruleWords are those of the rules for connections that have this effect.
func ruleWords(rules []policy.Rule, e policy.Effect, word string) []Word {
	var out []Word
	for _, r := range rules {
		target, ok := strings.CutPrefix(strings.ToLower(r.Pattern), policy.ActConnect)
		bare := target == "" && e == policy.EffectDeny // a bare allow answers no connection
		if r.Effect != e || !r.Enabled || r.Scope != policy.ScopeTool || !ok ||
			!bare && !strings.HasPrefix(target, "(") {
			continue
		}
		hosts := strings.TrimSuffix(strings.TrimPrefix(target, "("), ")")
		if bare || strings.Trim(hosts, "*") == "" {
			if e == policy.EffectAllow {
				continue
			}
			hosts = "every host"
		}
		out = append(out, Word{word, hosts, r.Origin()})
	}
	return out
}

func source(line string) string {
	if line == "" {
		return "default"
	}
	return line
}

package rulebook

import (
	"strings"
	"time"

	"github.com/assent-dev/assent/policy"
)

// odd stands in examples for what a * may be: nobody's rule names it.
const odd = "zq9"

// An example is a call with one act.
type example struct {
	call policy.Call
	act  policy.Act
}

// decided reports whether the rule alone decides about the example.
func (e *example) decided(rule policy.Rule) bool {
	rule.Enabled, rule.Expires, rule.Project = true, time.Time{}, ""
	set, err := policy.CompileRules([]policy.Rule{rule})
	if err != nil {
		return false
	}
	q := policy.Question{Call: &e.call, Acts: []policy.Act{e.act}}
	state := policy.Policy{Rules: set}.Judge(q).State
	return state == policy.StateAutoApproved || state == policy.StateAutoDenied
}

// examples returns calls that the rule decides about, as different as its pattern allows.
func examples(rule policy.Rule) []example {
	connector, name, target, hasTarget := split(rule.Pattern)
	if rule.Scope == policy.ScopeConnector {
		connector, name, target, hasTarget = rule.Pattern, odd, "", false
	}
	connector, name = sample(connector, odd), sample(name, odd)
	var out []example
	for _, t := range targets(target, hasTarget) {
		e := example{
			call: policy.Call{Connector: connector, Tool: name},
			act:  policy.Act{Name: name, Connector: connector, Target: t, Verdict: policy.VerdictAsk, Known: true},
		}
		if e.decided(rule) {
			out = append(out, e)
		}
	}
	return out
}

// targets returns examples of what a target may mean, of every kind. Those that the rule
// does not mean are left out later.
func targets(target string, hasTarget bool) []policy.Target {
	if !hasTarget {
		target = "**"
	}
	out := append(paths(target), commands(target)...)
	out = append(out, addresses(target)...)
	out = append(out, policy.TextTarget(sample(target, odd)))
	if strings.Trim(target, "*") == "" {
		out = append(out, policy.ArgumentsTarget([]byte("{}")))
	}
	return out
}

// paths returns a file as near and one as deep as the pattern allows.
func paths(pattern string) []policy.Target {
	var out []policy.Target
	for _, fill := range []struct{ folders, rest string }{{"", odd}, {odd + "/" + odd + "/", odd + "/" + odd + ".x"}} {
		text := strings.ReplaceAll(pattern, "**/", "\x01")
		text = strings.ReplaceAll(text, "**", "\x02")
		text = sample(text, odd)
		text = strings.NewReplacer("\x01", fill.folders, "\x02", fill.rest).Replace(text)
		file, to, shared := strings.Cut(text, ", ")
		t := policy.PathTarget(file)
		if shared {
			t = t.SharedWith(to)
		}
		out = append(out, t)
	}
	return out
}

// commands returns the command alone, and with one more word.
func commands(pattern string) []policy.Target {
	pattern, exact := strings.CutPrefix(strings.TrimSpace(pattern), "= ")
	words := strings.Fields(strings.TrimRight(pattern, " *"))
	for i, w := range words {
		words[i] = unquoted(w)
	}
	if len(words) == 0 {
		return []policy.Target{policy.CommandTarget(odd), policy.CommandTarget(odd, odd)}
	}
	if exact {
		return []policy.Target{policy.CommandTarget(words...)}
	}
	return []policy.Target{policy.CommandTarget(words...),
		policy.CommandTarget(append(words[:len(words):len(words)], odd)...)}
}

// addresses returns the URL that a pattern means, and a host with a port.
func addresses(pattern string) []policy.Target {
	method, address, ok := strings.Cut(pattern, " ")
	if !ok {
		method, address = "GET", pattern
	}
	if strings.Trim(address, "*") == "" {
		address = "https://" + odd + ".example/" + odd
	}
	var out []policy.Target
	if t, err := policy.URLTarget(method, sample(strings.ReplaceAll(address, "**", odd), odd)); err == nil {
		out = append(out, t)
	}
	if host, port, ok := strings.Cut(address, ":"); ok && !strings.Contains(port, "/") {
		out = append(out, policy.HostTarget(sample(host, odd), sample(port, "443")))
	}
	return out
}

// sample returns a text that a glob matches: a * is the filling, of [a-z] and {a,b} the
// first is taken.
func sample(glob, filling string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			if i == 0 || glob[i-1] != '*' {
				b.WriteString(filling)
			}
		case '?':
			b.WriteByte('z')
		case '\\':
			if i++; i < len(glob) {
				b.WriteByte(glob[i])
			}
		case '[', '{':
			inner, rest, ok := strings.Cut(glob[i+1:], map[byte]string{'[': "]", '{': "}"}[c])
			if !ok {
				b.WriteByte(c)
				continue
			}
			first, _, _ := strings.Cut(inner, ",")
			if c == '[' && first != "" {
				first = first[:1]
			}
			b.WriteString(sample(first, filling))
			i = len(glob) - len(rest) - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

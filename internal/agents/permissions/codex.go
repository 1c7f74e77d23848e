package permissions

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/assent-dev/assent/internal/agents/settings"
)

// A prefixRule is one that says with which words a command begins. Each place has alternatives.
type prefixRule struct {
	pattern [][]string
	verdict Verdict
	said    string
}

// codex reads what Codex 0.166 has in its files: the rules of the system, the user and the project,
// and the administrator's requirements. Project files that Codex does not trust are read as well.
func (r reader) codex() (func(*commands, folders) (Verdict, string), error) {
	var rules []prefixRule
	for _, f := range r.codexFiles() {
		more, err := r.codexRules(f.Path)
		if err != nil {
			return nil, err
		}
		rules = append(rules, more...)
	}
	rules = slices.DeleteFunc(rules, func(p prefixRule) bool { return p.verdict == None })
	return func(c *commands, _ folders) (Verdict, string) { return judgeCodex(rules, c) }, nil
}

// codexFiles are the files with rules.
func (r reader) codexFiles() (out []settings.File) {
	var seen []string
	for _, f := range r.target.Files(r.Surroundings) {
		folder := filepath.Join(filepath.Dir(f.Path), "rules")
		if !slices.Contains(seen, folder) {
			seen = append(seen, folder)
			for _, name := range r.List(folder) {
				if strings.HasSuffix(name, ".rules") {
					out = append(out, settings.File{Scope: f.Scope, Path: filepath.Join(folder, name)})
				}
			}
		}
		if filepath.Base(f.Path) == "requirements.toml" {
			out = append(out, f)
		}
	}
	return out
}

// codexRules reads the rules of a file, those that allow too: their verdict is None.
func (r reader) codexRules(file string) ([]prefixRule, error) {
	if filepath.Base(file) == "requirements.toml" {
		return r.requirements(file)
	}
	return r.rulesFile(file)
}

func (r reader) rulesFile(file string) ([]prefixRule, error) {
	text, err := r.optional(file)
	if err != nil {
		return nil, err
	}
	calls, err := parseRules(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var out []prefixRule
	for _, c := range calls {
		rule, err := c.rule()
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, c.line, err)
		}
		if len(rule.pattern) > 0 {
			rule.said = fmt.Sprintf("%s:%d forbids commands that begin with %s", file, c.line, rule)
			if rule.verdict == Ask {
				rule.said = fmt.Sprintf("%s:%d asks about commands that begin with %s", file, c.line, rule)
			}
			out = append(out, rule)
		}
	}
	return out, nil
}

func (p prefixRule) String() string {
	var words []string
	for _, alternatives := range p.pattern {
		words = append(words, strings.Join(alternatives, "|"))
	}
	return fmt.Sprintf("%q", strings.Join(words, " "))
}

// decision is the verdict of a rule, None for one that allows.
func decision(text string) (Verdict, error) {
	switch text {
	case "", "allow":
		return None, nil
	case "prompt":
		return Ask, nil
	case "forbidden":
		return Deny, nil
	}
	return Deny, fmt.Errorf("unknown decision %q: it must be allow, prompt or forbidden", text)
}

// rule reads a call in a file of rules. One without a pattern is about no commands.
func (c ruleCall) rule() (p prefixRule, err error) {
	names := map[string][]string{
		"prefix_rule":     {"pattern", "decision", "match", "not_match", "justification"},
		"host_executable": {"name", "paths"}, "network_rule": {"host", "protocol", "decision", "justification"},
	}[c.name]
	if names == nil {
		return p, fmt.Errorf("assent does not know the function %q in rules; take it out, "+
			"or have commands of this agent judged without replacing them", c.name)
	}
	args := map[string]any{}
	for i, a := range c.args {
		if a.name == "" {
			if i >= len(names) {
				return p, fmt.Errorf("%s has too many arguments", c.name)
			}
			a.name = names[i]
		}
		if !slices.Contains(names, a.name) {
			return p, fmt.Errorf("assent does not know the argument %q of %s", a.name, c.name)
		}
		args[a.name] = a.value
	}
	said, _ := args["decision"].(string)
	if _, given := args["decision"]; given && said == "" {
		return p, fmt.Errorf("the decision of %s must be a string", c.name)
	}
	switch c.name {
	case "host_executable": // it narrows which paths a name stands for; here a name stands for all
		return p, nil
	case "network_rule":
		if said != "allow" {
			return p, fmt.Errorf("assent does not apply the network_rule for %v to commands that it runs", args["host"])
		}
		return p, nil
	}
	if p.verdict, err = decision(said); err != nil {
		return p, err
	}
	list, ok := args["pattern"].([]any)
	if !ok || len(list) == 0 {
		return p, fmt.Errorf("the pattern of prefix_rule must be a list of words")
	}
	for _, item := range list {
		alternatives, ok := item.([]any)
		if !ok {
			alternatives = []any{item}
		}
		var words []string
		for _, a := range alternatives {
			text, ok := a.(string)
			if !ok {
				return p, fmt.Errorf("the pattern of prefix_rule must have words, and lists of words")
			}
			words = append(words, text)
		}
		if len(words) == 0 {
			return p, fmt.Errorf("the pattern of prefix_rule has an empty list")
		}
		p.pattern = append(p.pattern, words)
	}
	return p, nil
}

// requirements reads the rules of the administrator.
func (r reader) requirements(file string) ([]prefixRule, error) {
	text, err := r.optional(file)
	if err != nil || text == nil {
		return nil, err
	}
	var top struct {
		Rules struct {
			Prefix []struct {
				Pattern []struct {
					Token string   `toml:"token"`
					AnyOf []string `toml:"any_of"`
				} `toml:"pattern"`
				Decision      string `toml:"decision"`
				Justification string `toml:"justification"`
			} `toml:"prefix_rules"`
		} `toml:"rules"`
	}
	meta, err := toml.Decode(string(text), &top)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, key := range meta.Undecoded() {
		if len(key) > 0 && key[0] == "rules" {
			return nil, fmt.Errorf("%s: assent does not know the key %s", file, key)
		}
	}
	var out []prefixRule
	for _, rule := range top.Rules.Prefix {
		p := prefixRule{}
		for _, t := range rule.Pattern {
			alternatives := t.AnyOf
			if t.Token != "" {
				alternatives = append(alternatives, t.Token)
			}
			if len(alternatives) == 0 {
				return nil, fmt.Errorf("%s: a prefix rule has a place without words", file)
			}
			p.pattern = append(p.pattern, alternatives)
		}
		if p.verdict, err = decision(rule.Decision); err != nil || len(p.pattern) == 0 {
			return nil, fmt.Errorf("%s: a prefix rule has no pattern, or: %w", file, err)
		}
		p.said = fmt.Sprintf("%s has a rule for commands that begin with %s", file, p)
		out = append(out, p)
	}
	return out, nil
}

func judgeCodex(rules []prefixRule, c *commands) (Verdict, string) {
	f := finding{verdict: None}
	for _, rule := range rules {
		for _, s := range c.simple {
			switch rule.matches(s) {
			case Deny:
				f.add(rule.verdict, "%s", rule.said)
			case Ask:
				f.add(Ask, "some of its words are unknown before it runs, and %s", rule.said)
			}
		}
		if c.plain {
			continue
		}
		// Codex takes a text that is not plain as a whole: the shell and its text.
		for _, shell := range []string{"bash", "/bin/bash", "sh", "/bin/sh", "zsh", "/bin/zsh"} {
			for _, flag := range []string{"-lc", "-c"} {
				if rule.matches(command{words: []word{{shell, true}, {flag, true}, {c.text, true}}}) == Deny {
					f.add(rule.verdict, "%s", rule.said)
				}
			}
		}
	}
	if c.err != nil && len(rules) > 0 {
		f.add(Ask, "the command cannot be split into its parts (%v), and %s", c.err, rules[0].said)
	}
	return f.verdict, f.why
}

// matches says whether a command begins as the rule says: Deny for yes, Ask for perhaps.
func (p prefixRule) matches(c command) Verdict {
	out := Deny
	for i, alternatives := range p.pattern {
		if i >= len(c.words) {
			if out == Ask && !c.words[len(c.words)-1].fixed {
				return Ask
			}
			return None
		}
		w := c.words[i]
		switch {
		case !w.fixed:
			out = Ask
		case !slices.Contains(alternatives, w.text) && (i > 0 || !slices.Contains(alternatives, path.Base(w.text))):
			return None
		}
	}
	return out
}

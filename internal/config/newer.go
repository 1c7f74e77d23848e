package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/goccy/go-yaml"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// Rules are the rules of a configuration.
type Rules struct {
	// Set is what they were when the configuration was put together.
	Set *policy.RuleSet
	// Now returns what they are now. Nil means that they stay as they are.
	Now func() (*policy.RuleSet, error)
}

// Current returns the rules as they are now.
func (r Rules) Current() (*policy.RuleSet, error) {
	if r.Now == nil {
		return r.Set, nil
	}
	return r.Now()
}

// InForce returns the rules of the configuration, which follow the policy of the team.
func (c *Configuration) InForce() Rules { return Rules{c.Rules, c.Newer} }

// Follow lets the configuration take its rules, and its words on tools by name, from what holds now. Judged is asked for
// each judgement, prepared before that, when a call is prepared.
func (c *Configuration) Follow(judged, prepared func() (*Policy, error)) {
	c.Newer = func() (*policy.RuleSet, error) {
		p, err := judged()
		if err != nil {
			return nil, err
		}
		return p.Rules, nil
	}
	c.Policy.Tools.Now = func() ([]tool.Named, error) {
		p, err := prepared()
		if err != nil {
			return nil, err
		}
		return p.Tools.Tools, nil
	}
}

// live are the keys of a team's policy that a running program takes over from a newer one: rules, and the words on
// tools by name. Expectations are for its editor.
var live = []string{"version", "rules", "except", "expect", "tools", "tool_configs", "pre_approved"}

// OnlyAtStart returns the keys in which the newer policy says something else than this one, and which count only when
// a program starts: tools, sandbox and connectors are made of them. A nil policy says nothing.
func (p *Policy) OnlyAtStart(newer *Policy) (keys []string, err error) {
	before, err := p.keys()
	if err != nil {
		return nil, err
	}
	now, err := newer.keys()
	if err != nil {
		return nil, err
	}
	for _, key := range changedKeys(before, now) {
		if !slices.Contains(live, key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// OnlyCommands reports whether the keys are about what commands may do, and about nothing else.
func OnlyCommands(keys []string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool {
		return !slices.Contains([]string{"shell.presets", "shell.rules", "shell.default"}, key)
	})
}

// changedKeys are the keys that have another value in the two.
func changedKeys(a, b map[string]any) (keys []string) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !reflect.DeepEqual(a[key], b[key]) {
			keys = append(keys, key)
		}
	}
	return keys
}

// keys are the values of the text that the policy was read from, those below shell one by one.
func (p *Policy) keys() (keys map[string]any, err error) {
	keys = map[string]any{}
	if p == nil {
		return keys, nil
	}
	if err := yaml.Unmarshal([]byte(p.Text), &keys); err != nil {
		return nil, fmt.Errorf("%s: %w", p.File, err)
	}
	if keys == nil { // a text without keys, such as the policy of a team that names only deciders
		return map[string]any{}, nil
	}
	if shell, ok := keys["shell"].(map[string]any); ok {
		delete(keys, "shell")
		for key, value := range shell {
			keys["shell."+key] = value
		}
	}
	return keys, nil
}

package config

import (
	"strings"
	"testing"
)

func TestSetHookKeepsTheRest(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"no file": {"", "# How other agents are answered: see 'assent install --help'.\nhook:\n  shell: stage\n  policy: quiet\n"},
		"only comments": {"# mine\n",
			"# mine\n\n# How other agents are answered: see 'assent install --help'.\nhook:\n  shell: stage\n  policy: quiet\n"},
		"other keys, and no end of line": {"mode: ask # mine",
			"mode: ask # mine\n\n# How other agents are answered: see 'assent install --help'.\nhook:\n  shell: stage\n  policy: quiet\n"},
		"a section": {"hook:\n    # who\n    ask: inbox # always\n\nmode: ask\n",
			"hook:\n    shell: stage\n    policy: quiet\n    # who\n    ask: inbox # always\n\nmode: ask\n"},
		"one of them": {"hook:\n  policy: careful # for now\n  ask: inbox\n",
			"hook:\n  shell: stage\n  policy: quiet # for now\n  ask: inbox\n"},
		"both": {"hook:\n  policy: careful\n  shell: judge\nmode: ask\n", "hook:\n  policy: quiet\n  shell: stage\nmode: ask\n"},
		"in braces": {"notify: [\"é\"]\nhook: {ask: inbox, policy: careful} # é\n",
			"notify: [\"é\"]\nhook: {shell: stage, ask: inbox, policy: quiet} # é\n"},
		"Windows lines": {"mode: ask\r\nhook:\r\n  policy: careful\r\n", "mode: ask\r\nhook:\r\n  shell: stage\n  policy: quiet\r\n"},
	} {
		got, err := SetHook("config.yaml", []byte(c.before), HookStage, HookQuiet)
		if err != nil || string(got) != c.after {
			t.Errorf("%s: %v\n%q, want\n%q", name, err, got, c.after)
			continue
		}
		again, err := SetHook("config.yaml", got, HookStage, HookQuiet)
		if err != nil || string(again) != c.after {
			t.Errorf("%s: a second time: %v\n%q", name, err, again)
		}
	}
}

func TestSetHookRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"{mode: ask}":                 "write it yourself, as hook: {shell: stage, policy: quiet}",
		"hook:\n":                     "write it yourself",
		"hook: {}\n":                  "write it yourself",
		"hook: {policy: \"careful\"}": "write it yourself",
		"mode: nope\n":                "unknown mode",
	} {
		if got, err := SetHook("config.yaml", []byte(text), HookStage, HookQuiet); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v %q", text, err, got)
		}
	}
}

package config

import (
	"strings"
	"testing"
)

// What a running program takes from a newer policy of the team, and what it would have to be started again for.
func TestWhatCountsOnlyAtTheStart(t *testing.T) {
	const folder = "sandbox: {paths: {w: {root: /w, mode: rw}}}\n"
	for name, c := range map[string]struct {
		before, now, keys string
		commands          bool
	}{
		"nothing":          {folder, "# another line\n\n" + folder, "", true},
		"rules":            {folder, folder + "rules: [deny read_file(x), allow shell(ls)]\nexcept: [read_file(x)]\n", "", true},
		"words on tools":   {"tools: {write_file: {approval: allow}}\n", "tools: {write_file: {approval: ask}}\n", "", true},
		"examples":         {"", "expect: [deny read_file(x)]\n", "", true},
		"commands":         {"shell: {rules: [{pattern: ls, approval: allow}]}\n", "shell: {presets: [readonly], default: {approval: deny}}\n", "shell.default shell.presets shell.rules", true},
		"the environment":  {"shell: {env: [A]}\n", "shell: {env: [B]}\n", "shell.env", false},
		"the network":      {folder, folder + "shell: {network: true}\n", "shell.network", false},
		"roots":            {folder, strings.Replace(folder, "rw", "ro", 1), "sandbox", false},
		"a new sandbox":    {"", folder, "sandbox", false},
		"connectors":       {"", "connectors: {x: {command: [x]}}\n", "connectors", false},
		"custom tools":     {"", "custom_tools: {x: {command: [x]}}\n", "custom_tools", false},
		"undo":             {"undo: off\n", "", "undo", false},
		"commands and all": {"", folder + "shell: {default: {approval: deny}}\n", "sandbox shell.default", false},
	} {
		before, err := LoadSigned("team 1", c.before)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		now, err := LoadSigned("team 2", c.now)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.before == "" {
			before = nil
		}
		keys, err := before.OnlyAtStart(now)
		if err != nil || strings.Join(keys, " ") != c.keys || OnlyCommands(keys) != c.commands {
			t.Errorf("%s: %q %v, want %q", name, keys, err, c.keys)
		}
	}
}

// A team may begin with deciders alone: its policy is then a text without keys.
func TestWhatChangesAfterAPolicyWithoutKeys(t *testing.T) {
	for _, text := range []string{"", "{}\n", "# nothing yet\n"} {
		empty, err := LoadSigned("team 1", text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		full, err := LoadSigned("team 2", "rules: [allow write_file(notes/*)]\nundo: off\n")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range [][2]*Policy{{empty, full}, {full, empty}} {
			if keys, err := c[0].OnlyAtStart(c[1]); err != nil || strings.Join(keys, " ") != "undo" {
				t.Errorf("%q: %q %v", text, keys, err)
			}
		}
	}
}

// What a policy of the team says that is too old is not said to be untrusted.
func TestWhatAnOldPolicyOfTheTeamAllows(t *testing.T) {
	p, err := LoadSigned("the team's policy 7", "rules: [allow shell(ls), deny shell(rm)]\n")
	if err != nil {
		t.Fatal(err)
	}
	e, err := Combine(nil, Tier{Kind: TeamTier, Policy: p})
	if err != nil || len(e.Ignored) != 0 || len(e.Stale) != 1 || !strings.Contains(e.Stale[0], "allow shell(ls)") || len(e.Rules.Rules()) != 1 {
		t.Errorf("%+v %v", e, err)
	}
}

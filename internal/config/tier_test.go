package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// tiers reads a file for each tier; an empty text leaves it out.
func tiers(t *testing.T, admin, user, project string, trusted bool) []Tier {
	t.Helper()
	var out []Tier
	for _, each := range []struct {
		kind       TierKind
		file, text string
	}{{Administrator, AdminFile, admin}, {UserTier, "config.yaml", user}, {Project, ".assent/policy.yaml", project}} {
		if each.text == "" {
			continue
		}
		p, err := Load(each.file, []byte(each.text), "/proj")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, Tier{Kind: each.kind, Policy: p, Trusted: trusted})
	}
	return out
}

func combine(t *testing.T, admin, user, project string, trusted bool) *Effective {
	t.Helper()
	e, err := Combine(nil, tiers(t, admin, user, project, trusted)...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const widening = `
sandbox:
  paths: {mine: {root: /mine, mode: rw, approval: {write: allow}}}
  network: {allow: [evil.example]}
  git_write: true
  secrets: ["!id_rsa", "*.token"]
  extra: {write: [/etc]}
shell:
  presets: [readonly]
  rules: [{pattern: curl, approval: allow}, {pattern: git push, approval: once_per_session, description: Harmless}]
  default: {approval: allow}
  env: [AWS_PROFILE]
  cwd: mine
tools: {write_file: {approval: allow}, delete_file: {approval: once_per_session}}
custom_tools: {evil: {command: [./evil.sh], approval: allow}}
connectors: {evil: {command: [./evil.sh]}}
rules: [allow shell, deny shell(rm)]
pre_approved: [edit_file]
`

func TestAnUntrustedFileAddsNothing(t *testing.T) {
	user := "shell: {}\n"
	e := combine(t, "", user, widening, false)
	want := combine(t, "", user, "", false)
	for name, pair := range map[string][2]any{
		"roots":        {e.Roots, want.Roots},
		"custom tools": {e.CustomTools, want.CustomTools},
		"connectors":   {e.Connectors, want.Connectors},
		"system":       {e.OS, want.OS},
		"preset":       {e.Shell.Readonly, want.Shell.Readonly},
		"default":      {e.Shell.Default, want.Shell.Default},
		"variables":    {e.Shell.Env, want.Shell.Env},
		"folder":       {e.Shell.Cwd, want.Shell.Cwd},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if slices.Contains(e.Secrets, "!id_rsa") || !slices.Contains(e.Secrets, "*.token") {
		t.Errorf("secrets: %v", e.Secrets)
	}
	for _, r := range e.Shell.Rules {
		if r.Approval != tool.WordAsk || r.Description != "" {
			t.Errorf("shell rule %+v", r)
		}
	}
	for _, n := range e.Tools.Tools {
		if n.Approval != tool.WordAsk {
			t.Errorf("tool %+v", n)
		}
	}
	if rules := e.Rules.Rules(); len(rules) != 1 || rules[0].Effect != policy.EffectDeny {
		t.Errorf("rules %v", rules)
	}
	all := strings.Join(e.Ignored, "\n")
	for _, want := range []string{
		"root mine: /mine", "the network", "git_write", "!id_rsa", "sandbox.extra", "preset readonly", `shell rule "curl": allow`, "default for commands",
		"tool write_file: allow", "tool edit_file: allow", "custom tool evil", "connector evil", "rule: allow shell",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not told:\n%s", want, all)
		}
	}
	if strings.Contains(all, "the shell\n") {
		t.Errorf("the user gave the shell:\n%s", all)
	}
	if combine(t, "", "rules: []\n", widening, false).HasShell {
		t.Error("an untrusted file gives the shell")
	}
}

func TestATrustedFileWidens(t *testing.T) {
	e := combine(t, "", "sandbox: {network: true}\nshell: {default: {approval: ask}}\n", widening, true)
	if len(e.Roots) != 1 || len(e.Connectors) != 1 || len(e.CustomTools) != 1 || !e.Shell.Readonly || e.Shell.Default.Approval != tool.WordAllow ||
		!e.OS.GitWrite || !slices.Equal(e.OS.Network.Domains, []string{"evil.example"}) || e.Shell.Cwd != "mine" || len(e.Ignored) != 0 {
		t.Errorf("%+v", e.Policy)
	}
	if len(e.OS.Extra.Write) != 0 || len(e.Warnings) == 0 {
		t.Errorf("a project's sandbox.extra: %+v", e.OS.Extra)
	}
	if !cmp.Equal(e.Shell.Network.Allow, e.OS.Network.Domains) {
		t.Error("tools and sandbox see another network")
	}
}

// Only the file that denies can except: files of one name would lift each other's.
func TestTwoFilesOfOneNameAreRefused(t *testing.T) {
	ts := tiers(t, "", "rules: [deny shell]\n", "except: [shell]\n", true)
	ts[1].Policy.File = ts[0].Policy.File
	if _, err := Combine(nil, ts...); err == nil || !strings.Contains(err.Error(), "rename one") {
		t.Error(err)
	}
}

func TestRootsOfSeveralTiers(t *testing.T) {
	const free, ask, block = policy.VerdictFree, policy.VerdictAsk, policy.VerdictBlock
	for name, c := range map[string]struct {
		user, project string
		trusted       bool
		want          map[string]verdicts // by name
	}{
		"both are there": {"{a: {root: /a}}", "{b: {root: /b}}", true, map[string]verdicts{"a": {}, "b": {}}},
		"the later wins": {"{a: {root: /a, approval: ask}}", "{a: {root: /a, approval: {write: allow}}}", true,
			map[string]verdicts{"a": {roots.AccessRead: ask, roots.AccessWrite: free, roots.AccessDelete: ask}}},
		"a deny holds": {"{a: {root: /a, approval: {write: deny}}}", "{a: {root: /a, approval: allow}}", true,
			map[string]verdicts{"a": {roots.AccessRead: free, roots.AccessWrite: block, roots.AccessDelete: free}}},
		"a deny holds below, under another name": {"{a: {root: /a, approval: {delete: deny}}}", "{b: {root: /a/b, approval: allow}}", true,
			map[string]verdicts{"a": {roots.AccessDelete: block}, "b": {roots.AccessRead: free, roots.AccessWrite: free, roots.AccessDelete: block}}},
		"another folder of the name": {"{a: {root: /a}}", "{a: {root: /b, approval: ask}}", true,
			map[string]verdicts{"a": {roots.AccessRead: ask, roots.AccessWrite: ask, roots.AccessDelete: ask}}},
		"narrowed": {"{a: {root: /a, mode: rw, approval: allow}}", "{x: {root: /a, approval: {write: ask, delete: deny}}}", false,
			map[string]verdicts{"a": {roots.AccessRead: free, roots.AccessWrite: ask, roots.AccessDelete: block}}},
		"not widened": {"{a: {root: /a, mode: rw, approval: {write: ask, delete: deny}}}", "{x: {root: /a, mode: rw, approval: allow}}", false,
			map[string]verdicts{"a": {roots.AccessWrite: ask, roots.AccessDelete: block}}},
		"read-only in so many words": {"{a: {root: /a, mode: rw, approval: allow}}", "{x: {root: /a, mode: ro}}", false,
			map[string]verdicts{"a": {roots.AccessRead: free, roots.AccessWrite: block, roots.AccessDelete: block}}},
		"narrowed from above": {"{a: {root: /proj/a, mode: rw, approval: allow}}", "{x: {root: /proj, approval: ask}}", false,
			map[string]verdicts{"a": {roots.AccessRead: ask, roots.AccessWrite: ask, roots.AccessDelete: ask}}},
		"an ask below is for all of it": {"{a: {root: /a, mode: rw, approval: allow}}", "{x: {root: /a/x, approval: {write: ask}}}", false,
			map[string]verdicts{"a": {roots.AccessRead: free, roots.AccessWrite: ask, roots.AccessDelete: free}}},
		"once is ask": {"{a: {root: /a, mode: rw, approval: {write: once_per_session}}}", "{x: {root: /a, approval: {write: ask}}}", false,
			map[string]verdicts{"a": {roots.AccessWrite: ask}}},
	} {
		e := combine(t, "", "sandbox: {paths: "+c.user+"}\n", "sandbox: {paths: "+c.project+"}\n", c.trusted)
		got := map[string]verdicts{}
		for _, r := range e.Roots {
			got[r.Name] = r.Approval
			if len(r.Once) > 0 {
				t.Errorf("%s: once %v", name, r.Once)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestARootThatDeniesIsNotHiddenByAnotherOfItsName(t *testing.T) {
	ts := tiers(t, "", "sandbox: {paths: {a: {root: /a, approval: deny}}}\n", "sandbox: {paths: {a: {root: /b}, all: {root: /}}}\n", true)
	if _, err := Combine(nil, ts...); err == nil || !strings.Contains(err.Error(), `.assent/policy.yaml:1: root "a" is another folder than the one at config.yaml:1`) {
		t.Error(err)
	}
}

// A later file may take a name over for another folder. What a rule denies by that name in the
// first folder stays denied there, by whatever name the later file reaches it.
func TestADenyHoldsWhereItsRootsNameIsTakenOver(t *testing.T) {
	admin := "sandbox: {paths: {s: {root: /srv, mode: rw}}}\nrules: [deny read_file(s/locked/**), allow read_file(s/open/**), deny shell(rm)]\n"
	texts := func(project string) string {
		var out []string
		for _, r := range combine(t, admin, "", project, true).Rules.Rules() {
			out = append(out, r.String())
		}
		return strings.Join(out, ", ")
	}
	const own = "deny read_file(s/locked/**), allow read_file(s/open/**), deny shell(rm)"
	if got, want := texts("sandbox: {paths: {s: {root: /else}, t: {root: /srv}}}\n"), own+", deny read_file(/srv/locked/**)"; got != want {
		t.Errorf("taken over: %s\nwant %s", got, want)
	}
	if got := texts("sandbox: {paths: {s: {root: /srv}, t: {root: /srv}}}\n"); got != own {
		t.Errorf("the same folder: %s", got)
	}
}

func TestADenyBelowARootIsARule(t *testing.T) {
	e := combine(t, "", "sandbox: {paths: {a: {root: /a, mode: rw, approval: allow}}}\n", "sandbox: {paths: {x: {root: '/a/[x]', approval: {write: deny}}}}\n", false)
	var got []string
	for _, r := range e.Rules.Rules() {
		got = append(got, r.String()+" "+r.Source)
	}
	if diff := cmp.Diff([]string{`deny write_file(/a/\[x]) .assent/policy.yaml:1`, `deny write_file(/a/\[x]/**) .assent/policy.yaml:1`}, got); diff != "" {
		t.Error(diff)
	}
}

// A deny of an untrusted file means what its author meant by the names of its roots, though
// it adds none.
func TestADenyByTheNameOfAnUntrustedRoot(t *testing.T) {
	for name, c := range map[string]struct {
		have, paths, rule string
		want              []string // besides the rule itself
	}{
		"its own name":     {"{.: {root: /proj}}", "{p: {root: .}}", "deny read_file(p/secret)", []string{"deny read_file(/proj/secret)"}},
		"the folder":       {"{.: {root: /proj}}", "{p: {root: .}}", "deny read_file(p)", []string{"deny read_file(/proj)"}},
		"all of it":        {"{.: {root: /proj}}", "{p: {root: .}}", "deny *_file(./p/)", []string{"deny *_file(/proj/)"}},
		"a glob":           {"{.: {root: /proj}}", "{p1: {root: ./a}, p2: {root: ./b}, q: {root: ./c}}", "deny read_file(p?/x)", []string{"deny read_file(/proj/a/x)", "deny read_file(/proj/b/x)"}},
		"through a link":   {"{.: {root: /proj}}", "{p: {root: /link/a}}", "deny read_file(p/x)", []string{"deny read_file(/link/a/x)", "deny read_file(/real/a/x)"}},
		"an exception":     {"{.: {root: /proj}}", "{p: {root: .}}", "except read_file(p/x)", []string{"except read_file(/proj/x)"}},
		"below the dot":    {"{.: {root: /proj/sub}}", "{.: {root: .}, p: {root: ./q}}", "deny write_file(.github/**)", []string{"deny write_file(/proj/.github/**)"}},
		"not below it":     {"{.: {root: /proj/sub}}", "{.: {root: .}, p: {root: ./q}}", "deny write_file(p/x)", []string{"deny write_file(/proj/q/x)"}},
		"odd letters":      {"{.: {root: /proj}}", "{p: {root: './[a]'}}", "deny read_file(p/x)", []string{`deny read_file(/proj/\[a]/x)`}},
		"known already":    {"{.: {root: /proj}}", "{.: {root: .}}", "deny read_file(secret)", nil},
		"for every name":   {"{.: {root: /proj}}", "{p: {root: .}}", "deny read_file(**/x)", nil},
		"a path":           {"{.: {root: /proj}}", "{p: {root: .}}", "deny read_file(/p/x)", nil},
		"another's name":   {"{.: {root: /proj}}", "{p: {root: .}}", "deny read_file(q/x)", nil},
		"a command":        {"{.: {root: /proj}}", "{p: {root: .}}", "deny shell(p/x)", nil},
		"a whole tool":     {"{.: {root: /proj}}", "{p: {root: .}}", "deny read_file", nil},
		"another's server": {"{.: {root: /proj}}", "{p: {root: .}}", "deny x:read_file(p/x)", nil},
	} {
		section := "rules: ['" + c.rule + "']\n"
		if text, ok := strings.CutPrefix(c.rule, "except "); ok {
			section = "except: ['" + text + "']\n"
		}
		ts := tiers(t, "", "sandbox: {paths: "+c.have+"}\n", "sandbox: {paths: "+c.paths+"}\n"+section, false)
		e, err := Combine(func(p string) (string, error) { return strings.Replace(p, "/link", "/real", 1), nil }, ts...)
		if err != nil {
			t.Fatal(name, err)
		}
		var got []string
		for _, r := range e.Rules.Rules()[1:] {
			got = append(got, r.String())
			if r.Source != ".assent/policy.yaml:2" {
				t.Errorf("%s: %s stands at %s", name, r, r.Source)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		ts[1].Trusted = true
		if e, err = Combine(nil, ts...); err != nil || len(e.Rules.Rules()) != 1 {
			t.Errorf("%s, trusted: %v", name, err)
		}
	}
}

func TestALinkLeadsToTheSamePlace(t *testing.T) {
	ts := tiers(t, "", "sandbox: {paths: {a: {root: /a, approval: {read: deny}}}}\n", "sandbox: {paths: {b: {root: /link/b}}}\n", true)
	e, err := Combine(func(p string) (string, error) { return strings.Replace(p, "/link", "/a", 1), nil }, ts...)
	if err != nil || !blocks(&e.Roots[1], roots.AccessRead) {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestNetworkOfSeveralTiers(t *testing.T) {
	for name, c := range map[string]struct {
		user, project string
		trusted       bool
		on            bool
		hosts         []string
		denies        string // each with its line
	}{
		"nothing said":           {"", "", true, false, nil, ""},
		"the later wins":         {"network: true", "network: {allow: [a.example]}", true, false, []string{"a.example"}, ""},
		"a deny holds":           {"network: false", "network: true", true, false, nil, ""},
		"turned off":             {"network: true", "network: false", true, false, nil, ""},
		"untrusted, not said":    {"", "network: true", false, false, nil, ""},
		"untrusted, off":         {"network: {allow: [a.example]}", "network: false", false, false, nil, ""},
		"untrusted, fewer":       {"network: {allow: [a.example, '*.b.example']}", "network: {allow: [a.example, x.b.example, '*.c.b.example', b.example, evil.example]}", false, true, []string{"a.example", "x.b.example", "*.c.b.example"}, ""},
		"untrusted, all ask":     {"network: {allow: [a.example]}", "network: true", false, true, nil, ""},
		"untrusted, none listed": {"network: true", "network: {allow: [a.example]}", false, true, nil, ""},
		"only denies":            {"", "network: {deny: [x.example, '*.y.example:22']}", true, true, nil, "x.example .assent/policy.yaml:1, *.y.example:22 .assent/policy.yaml:1"},
		"denies and allows":      {"", "network: {allow: [A.example:8443], deny: [x.example]}", true, false, []string{"a.example:8443"}, "x.example .assent/policy.yaml:1"},
		"a deny of any":          {"network: {deny: [x.example]}", "network: {allow: [x.example, a.example]}", true, false, []string{"x.example", "a.example"}, "x.example config.yaml:1"},
		"denies of both":         {"network: {deny: [x.example]}", "network: {deny: [y.example, x.example]}", true, true, nil, "y.example .assent/policy.yaml:1, x.example .assent/policy.yaml:1"},
		"a deny, and off":        {"network: {deny: [x.example]}", "network: false", true, false, nil, "x.example config.yaml:1"},
		"untrusted, denies":      {"network: {allow: [a.example, b.example], deny: [x.example]}", "network: {allow: [a.example], deny: [a.example]}", false, true, []string{"a.example"}, "a.example .assent/policy.yaml:1, x.example config.yaml:1"},
		"untrusted, a port":      {"network: {allow: ['*.b.example:8443', 'c.example:443']}", "network: {allow: ['a.b.example:8443', a.b.example, c.example]}", false, true, []string{"a.b.example:8443", "c.example"}, ""},
		"untrusted, a pattern":   {"network: {allow: [a.b.example]}", "network: {allow: ['*.b.example']}", false, true, []string{"a.b.example"}, ""},
	} {
		e := combine(t, "", "sandbox: {"+c.user+"}\n", "sandbox: {"+c.project+"}\n", c.trusted)
		n := e.OS.Network
		if (n.On || n.ByName) != c.on || !slices.Equal(n.Domains, c.hosts) {
			t.Errorf("%s: %+v", name, n)
		}
		if n.On && !c.trusted && strings.Contains(c.user, "allow") {
			t.Errorf("%s: a file that nobody trusts gives processes the whole network", name)
		}
		var denies []string
		for _, host := range e.OS.Network.Deny {
			denies = append(denies, host+" "+e.OS.Network.Lines["deny "+host])
		}
		if got := strings.Join(denies, ", "); got != c.denies || !slices.Equal(e.Shell.Network.Deny, e.OS.Network.Deny) {
			t.Errorf("%s: denies %s, want %s", name, got, c.denies)
		}
	}
}

func TestHomeOfSeveralTiers(t *testing.T) {
	for name, c := range map[string]struct {
		user, project string
		trusted       bool
		tools         bool
	}{
		"nothing said":        {"", "", true, false},
		"the user's own":      {"home: tools", "", true, true},
		"trusted":             {"", "home: tools", true, true},
		"private holds":       {"home: private", "home: tools", true, false},
		"narrowed":            {"home: tools", "home: private", true, false},
		"untrusted":           {"", "home: tools", false, false},
		"untrusted, the same": {"home: tools", "home: tools", false, true},
		"untrusted, narrowed": {"home: tools", "home: private", false, false},
	} {
		e := combine(t, "", "sandbox: {"+c.user+"}\n", "sandbox: {"+c.project+"}\n", c.trusted)
		if e.OS.Home.Tools != c.tools {
			t.Errorf("%s: %+v", name, e.OS.Home)
		}
		told := len(e.Warnings)+len(e.Ignored) > 0
		if wider := strings.Contains(c.project, "tools") && (!c.trusted || !c.tools); told != wider {
			t.Errorf("%s: %q %q", name, e.Warnings, e.Ignored)
		}
	}
}

// A project's file may turn undo on, and off only if somebody trusts it.
func TestUndoTiers(t *testing.T) {
	load := func(name, text string) *Policy {
		p, err := Load(name, []byte(text), "/base")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	off, on, silent := load("off.yaml", "undo: off"), load("on.yaml", "undo: on"), load("silent.yaml", "{}")
	for _, tt := range []struct {
		user, project *Policy
		trusted       bool
		off           bool
		ignored       int
	}{
		{silent, off, false, false, 1},
		{silent, off, true, true, 0},
		{off, silent, false, true, 0},
		{off, on, false, false, 0},
		{silent, on, false, false, 0},
	} {
		e, err := Combine(nil, Tier{Kind: UserTier, Policy: tt.user}, Tier{Kind: Project, Policy: tt.project, Trusted: tt.trusted})
		if err != nil {
			t.Fatal(err)
		}
		if e.UndoOff != tt.off || len(e.Ignored) != tt.ignored {
			t.Errorf("%s under %s, trusted %v: off %v, ignored %q", tt.project.File, tt.user.File, tt.trusted, e.UndoOff, e.Ignored)
		}
	}
	if _, err := Load("bad.yaml", []byte("undo: sometimes"), "/base"); err == nil {
		t.Error("sometimes is taken")
	}
}

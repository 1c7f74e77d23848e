package config

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

func load(t *testing.T, text string) *Policy {
	t.Helper()
	p, err := Load("policy.yaml", []byte(text), "/base")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type verdicts = map[roots.Access]policy.Verdict

func TestAPathThatSaysNothingLeavesItToTheDefaults(t *testing.T) {
	p := load(t, "sandbox:\n  paths:\n    notes: {}\n")
	want := []roots.Root{{Name: "notes", Host: "/base/notes", Approval: verdicts{}, Source: "policy.yaml:3"}}
	if diff := cmp.Diff(want, p.Roots); diff != "" {
		t.Error(diff)
	}
}

func TestPathKeys(t *testing.T) {
	p := load(t, `
sandbox:
  paths:
    notes:
      root: ./my notes
      mode: rw
      suffixes: [.md, .txt]
      max_file_bytes: 200000
      approval: {read: allow, write: ask, delete: deny}
      reason: keep them
  zones:
    - {name: abs, root: /data, mode: ro, approval: deny}
`)
	want := []roots.Root{
		{Name: "notes", Host: "/base/my notes", Mode: roots.ModeReadWrite, Suffixes: []string{".md", ".txt"}, MaxFileBytes: 200000,
			Approval: verdicts{roots.AccessRead: policy.VerdictFree, roots.AccessWrite: policy.VerdictAsk, roots.AccessDelete: policy.VerdictBlock},
			Reason:   "keep them", Source: "policy.yaml:4"},
		{Name: "abs", Host: "/data", Mode: roots.ModeReadOnly, Source: "policy.yaml:12",
			Approval: verdicts{roots.AccessRead: policy.VerdictBlock, roots.AccessWrite: policy.VerdictBlock, roots.AccessDelete: policy.VerdictBlock}},
	}
	if diff := cmp.Diff(want, p.Roots); diff != "" {
		t.Error(diff)
	}
}

// The ways in which the documents write consent for a path.
func TestPathConsentSpellings(t *testing.T) {
	const free, ask, block = policy.VerdictFree, policy.VerdictAsk, policy.VerdictBlock
	for text, want := range map[string]verdicts{
		"{write_approval: true, read_approval: false}":                 {roots.AccessRead: free, roots.AccessWrite: ask},
		"{write_approval: false}":                                      {roots.AccessWrite: free},
		"{read_approval: true}":                                        {roots.AccessRead: ask},
		"{approval: {write: preApproved, delete: preApproved}}":        {roots.AccessWrite: free, roots.AccessDelete: free},
		"{approval: {write: ask, delete: blocked}}":                    {roots.AccessWrite: ask, roots.AccessDelete: block},
		"{approval: {write: required}}":                                {roots.AccessWrite: ask},
		"{approval: {write: none}}":                                    {roots.AccessWrite: free},
		"{approval: ask}":                                              {roots.AccessRead: ask, roots.AccessWrite: ask, roots.AccessDelete: ask},
		"{approval: {write: ask}, write_approval: true, mode: rw}":     {roots.AccessWrite: ask},
		"{approval: {read: true, write: false, delete: pre_approved}}": {roots.AccessRead: ask, roots.AccessWrite: free, roots.AccessDelete: free},
	} {
		got := load(t, "sandbox:\n  paths:\n    x: "+text+"\n").Roots[0].Approval
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestAPathAsksOncePerSession(t *testing.T) {
	for text, want := range map[string][]roots.Access{
		"{approval: {read: once_per_session, write: ask}}": {roots.AccessRead},
		"{approval: once_per_session}":                     {roots.AccessRead, roots.AccessWrite, roots.AccessDelete},
		"{write_approval: once_per_session}":               {roots.AccessWrite},
		"{approval: ask}":                                  nil,
	} {
		got := load(t, "sandbox:\n  paths:\n    x: "+text+"\n").Roots[0]
		if diff := cmp.Diff(want, got.Once); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		for _, access := range want {
			if got.Approval[access] != policy.VerdictAsk {
				t.Errorf("%s: %s is %v", text, access, got.Approval[access])
			}
		}
	}
}

func TestToolConsentSpellings(t *testing.T) {
	for text, want := range map[string]tool.Word{
		"{approval: allow}": tool.WordAllow, "{approval: none}": tool.WordAllow, "{approval: false}": tool.WordAllow,
		"{preApproved: true}": tool.WordAllow, "{pre_approved: true}": tool.WordAllow,
		"{approval: ask}": tool.WordAsk, "{approval: required}": tool.WordAsk, "{approval: true}": tool.WordAsk,
		"{preApproved: false}": tool.WordAsk, "{action: approve}": tool.WordAsk,
		"{approval: deny}": tool.WordDeny, "{approval: blocked}": tool.WordDeny, "{blocked: true}": tool.WordDeny,
		"{allowed: false}": tool.WordDeny, "{allowed: true}": "", "{}": "", "": "",
		"{approval: once_per_session}":           tool.WordOnce,
		"{blocked: true, blockReason: Disabled}": tool.WordDeny,
	} {
		named := load(t, "tools:\n  x: "+text+"\n").Tools.Tools
		if len(named) != 1 || named[0].Approval != want || named[0].Source != "policy.yaml:2" {
			t.Errorf("%s: got %+v, want %q", text, named, want)
		}
	}
}

func TestToolsKeepTheOrderOfTheFileAndTheirReasons(t *testing.T) {
	p := load(t, "tools:\n  z: {approval: deny, reason: broken}\n  \"github:*\": {approval: ask}\n  a: {approval: allow}\n")
	want := []tool.Named{
		{Name: "z", Approval: tool.WordDeny, Reason: "broken", Source: "policy.yaml:2"},
		{Name: "github:*", Approval: tool.WordAsk, Source: "policy.yaml:3"},
		{Name: "a", Approval: tool.WordAllow, Source: "policy.yaml:4"},
	}
	if diff := cmp.Diff(want, p.Tools.Tools); diff != "" {
		t.Error(diff)
	}
}

func TestRulesAndExceptionsCarryTheirLine(t *testing.T) {
	p := load(t, "rules:\n  - deny read_file(**/.env.*)\n  - allow connector docs\nexcept:\n  - read_file(**/.env.example)\n")
	var got []string
	for _, r := range p.Rules.Rules() {
		got = append(got, r.Source+" "+r.String())
	}
	want := []string{
		"policy.yaml:2 deny read_file(**/.env.*)",
		"policy.yaml:3 allow connector docs",
		"policy.yaml:5 except read_file(**/.env.example)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	judge := func(path string) policy.State {
		call := policy.Call{Tool: policy.ActReadFile}
		acts := []policy.Act{{Name: policy.ActReadFile, Target: policy.PathTarget(path), Verdict: policy.VerdictFree}}
		return policy.Policy{Fixed: p.Rules}.Judge(policy.Question{Call: &call, Acts: acts}).State
	}
	if got := judge("a/.env.local"); got != policy.StateAutoDenied {
		t.Errorf("the denied file is %s", got)
	}
	if got := judge("a/.env.example"); got != policy.StateFree {
		t.Errorf("the excepted file is %s", got)
	}
}

func TestSecretsAddToTheBuiltInOnesOrExceptThem(t *testing.T) {
	p := load(t, "sandbox:\n  secrets: [\"*.token\", \"!test.pem\"]\n")
	if diff := cmp.Diff(append(slices.Clone(roots.DefaultSecrets()), "*.token", "!test.pem"), p.Secrets); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(roots.DefaultSecrets(), load(t, "").Secrets); diff != "" {
		t.Error(diff)
	}
}

func TestPreApprovedIsTakenAndWarnedAbout(t *testing.T) {
	p := load(t, "tools: {a: {approval: ask}}\npre_approved: [a, b]\n")
	want := []tool.Named{
		{Name: "a", Approval: tool.WordAsk, Source: "policy.yaml:1"},
		{Name: "b", Approval: tool.WordAllow, Source: "policy.yaml:2"},
	}
	if diff := cmp.Diff(want, p.Tools.Tools); diff != "" {
		t.Error(diff)
	}
	if len(p.Warnings) != 1 || p.Warnings[0].Line != 2 || !strings.Contains(p.Warnings[0].Text, "deprecated") {
		t.Errorf("warnings: %v", p.Warnings)
	}
}

func TestAnEmptyFileIsAnEmptyPolicy(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		if p := load(t, text); len(p.Roots)+len(p.Tools.Tools)+len(p.Rules.Rules()) != 0 {
			t.Errorf("%q: %+v", text, p)
		}
	}
}

func TestProblems(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"unknown key, with the nearest", "sandbx: {}\n", `policy.yaml:1:1: unknown key "sandbx" in the file; did you mean "sandbox"?`},
		{"unknown key far from all", "zzzzzzzz: {}\n", `policy.yaml:1:1: unknown key "zzzzzzzz" in the file; it takes`},
		{"unknown path key", "sandbox:\n  paths:\n    n: {moed: rw}\n", `policy.yaml:3:9: unknown key "moed" in path n; did you mean "mode"?`},
		{"unknown word", "tools:\n  x: {approval: maybe}\n", `policy.yaml:2:17: tools.x: approval: unknown approval "maybe"`},
		{"disagreeing spellings", "tools:\n  x: {approval: ask, preApproved: true}\n", `tools.x: this says allow, and line 2 says ask; keep one`},
		{"disagreeing path spellings", "sandbox:\n  paths:\n    n: {approval: {write: ask}, write_approval: false}\n", "this says allow, and line 3 says ask"},
		{"reason without deny", "tools:\n  x: {approval: ask, reason: no}\n", "reason belongs to a deny"},
		{"bad secret", "sandbox:\n  secrets: [\"[\"]\n", `policy.yaml:2:12: sandbox.secrets: secret pattern "[" is malformed`},
		{"bad mode", "sandbox:\n  paths:\n    n: {mode: rwx}\n", `unknown mode "rwx"; it is ro or rw`},
		{"bad suffix", "sandbox:\n  paths:\n    n: {suffixes: [md]}\n", `suffix "md" must be a dot and a name`},
		{"negative size", "sandbox:\n  paths:\n    n: {max_file_bytes: -1}\n", "not negative"},
		{"two paths of one name", "sandbox:\n  paths: {n: {}}\n  zones: [{name: n}]\n", `two paths are named "n"`},
		{"zone without a name", "sandbox:\n  zones: [{mode: rw}]\n", "a zone needs a name"},
		{"a rule in another agent's words", "rules:\n  - allow Bash(git push:*)\n",
			`policy.yaml:2:5: "allow Bash(git push:*)" is how another agent says it; write allow shell(git push)`},
		{"a rule that another agent can say", "rules:\n  - allow Bash(git * main)\n", "and no rule can: a rule has a *"},
		{"a rule without parentheses", "rules:\n  - deny git push\n", "write deny shell(git push)"},
		{"malformed rule", "rules:\n  - deny read_file([)\n", `policy.yaml:2:5: rule "deny read_file([)": malformed rule`},
		{"unknown effect", "rules:\n  - forbid x\n", "write allow or deny"},
		{"exception among rules", "rules:\n  - except x\n", "write an exception under except:"},
		{"tool_rules", "tool_rules: {}\n", "tool_rules is not used here; write"},
		{"wrong kind", "sandbox: [a]\n", "sandbox must be a mapping, not a list"},
		{"anchors", "tools: &a {}\n", "anchor"},
		{"version", "version: 2\n", "this program knows version 1"},
		{"second document", "tools: {}\n---\ntools: {}\n", "a second document"},
		{"not YAML", "a: [\n", "policy.yaml:1:4:"},
		{"nested lists", "rules: [\n" + strings.Repeat("[", 200) + "\n", "policy.yaml:2:1: it is nested too deeply"},
		{"items in items", "rules:\n  " + strings.Repeat("- ", 200) + "\n", "policy.yaml:2:1: it is nested too deeply"},
		{"too much", "rules: # " + strings.Repeat("x", maxYAML) + "\n", "more than 131072 bytes"},
		{"duplicate key", "tools: {}\ntools: {}\n", "policy.yaml:2:1:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Load("policy.yaml", []byte(tt.text), "/base")
			if p != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v\nwant %s", p, err, tt.want)
			}
		})
	}
}

func TestManyEntriesOnOneLineAreNotDeep(t *testing.T) {
	p := load(t, "shell: {rules: ["+strings.Repeat("{pattern: 'a [x]', approval: ask}, ", 300)+"]}\n")
	if len(p.Shell.Rules) != 300 {
		t.Error(len(p.Shell.Rules))
	}
}

func TestAllProblemsAreReportedInOrder(t *testing.T) {
	_, err := Load("policy.yaml", []byte("rules: [nonsense]\nsandbx: {}\ntools:\n  x: {approval: maybe}\n"), "/base")
	var ps Problems
	if !errors.As(err, &ps) || len(ps) != 3 {
		t.Fatalf("got %v", err)
	}
	for i, line := range []int{1, 2, 4} {
		if ps[i].Line != line {
			t.Errorf("problem %d is at line %d, want %d", i, ps[i].Line, line)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("sandbox:\n  paths:\n    n: {root: ./n, mode: rw, approval: {write: ask}}\ntools: {x: {approval: deny}}\nrules: [deny shell(rm)]\n")
	f.Add("sandbox: {zones: [{name: a}]}\nexcept: [read_file(x)]\n")
	f.Add("? [a]\n: b\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Load("f.yaml", []byte(text), "/base")
		if (p == nil) == (err == nil) {
			t.Errorf("policy %v with error %v", p, err)
		}
	})
}

func TestModesInOtherWords(t *testing.T) {
	for text, want := range map[string]roots.Mode{"read-only": "ro", "ReadOnly": "ro", "read-write": "rw", "ro": "ro"} {
		p := load(t, "sandbox:\n  paths:\n    n: {mode: "+text+"}\n")
		if p.Roots[0].Mode != want {
			t.Fatalf("%s: %+v", text, p.Roots)
		}
		said := len(p.Warnings) == 1 && strings.Contains(p.Warnings[0].String(), "is read as "+string(want))
		if said != (text != "ro") {
			t.Errorf("%s: %v", text, p.Warnings)
		}
	}
}

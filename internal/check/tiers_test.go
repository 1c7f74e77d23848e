package check

import (
	"testing"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
)

// What happens to calls under several tiers. The root is the user's.
const usersRoot = "sandbox: {paths: {p: {root: /nowhere/p, mode: rw, approval: {read: allow, write: allow, delete: ask}}}}\n"

var tierCases = map[string]struct {
	admin, user, project string
	trusted              bool
	want                 map[string]string
}{
	"a deny of any tier holds": {
		"rules: [deny shell(git push)]\ntools: {delete_file: {approval: deny}}\n",
		"shell: {rules: [{pattern: git push, approval: allow}]}\nrules: [allow shell(git push)]\n",
		"shell: {rules: [{pattern: rm, approval: deny}]}\ntools: {delete_file: {approval: allow}}\n", true,
		map[string]string{"shell(git push)": "deny", "shell(rm x)": "deny", "delete_file(p/a)": "deny"},
	},
	"the last that speaks wins": {
		"", "shell: {rules: [{pattern: make, approval: ask}], default: {approval: ask}}\ntools: {write_file: {approval: ask}}\n",
		"shell: {rules: [{pattern: make, approval: allow}]}\ntools: {write_file: {approval: allow}}\n", true,
		map[string]string{"shell(make)": "allow", "shell(ninja)": "ask", "write_file(p/a)": "allow"},
	},
	"a rule of an earlier tier holds where the later is silent": {
		"", "shell: {rules: [{pattern: git log, approval: allow}]}\n", "shell: {rules: [{pattern: make, approval: allow}]}\n", true,
		map[string]string{"shell(git log)": "allow", "shell(make)": "allow"},
	},
	"an untrusted file turns allow into ask and deny": {
		"", "shell: {presets: [readonly], rules: [{pattern: make, approval: allow}]}\n",
		"shell: {rules: [{pattern: make, approval: ask}, {pattern: ls, approval: deny}, {pattern: ninja, approval: allow}]}\n" +
			"tools: {read_file: {approval: ask}, write_file: {approval: deny}, delete_file: {approval: allow}}\n", false,
		map[string]string{
			"shell(make)": "ask", "shell(ls)": "deny", "shell(ninja)": "ask", "shell(cat /nowhere)": "ask",
			"read_file(p/a)": "ask", "write_file(p/a)": "deny", "delete_file(p/a)": "ask",
		},
	},
	"an exception lifts denies of its own file only": {
		"", "rules: [deny read_file(**/a.env)]\n", "rules: [deny read_file(**/b.env)]\nexcept: [read_file(p/a.env), read_file(p/b.env)]\n", true,
		map[string]string{"read_file(p/a.env)": "deny", "read_file(p/b.env)": "allow", "read_file(p/x/b.env)": "deny"},
	},
	"an untrusted exception lifts its own denies too": {
		"", "rules: [deny read_file(**/a.env)]\n", "rules: [deny read_file(**/b.env)]\nexcept: [read_file(p/a.env), read_file(p/b.env)]\n", false,
		map[string]string{"read_file(p/a.env)": "deny", "read_file(p/b.env)": "allow"},
	},
	"an administrator's default denies what no rule of theirs names": {
		"shell: {rules: [{pattern: git, approval: allow}, {pattern: make test, approval: ask}], default: {approval: deny}}\n",
		"shell: {presets: [readonly], rules: [{pattern: git push, approval: ask}, {pattern: make, approval: allow}, {pattern: ninja, approval: allow}], default: {approval: allow}}\n",
		"", true,
		map[string]string{"shell(git log)": "allow", "shell(git add x)": "allow", "shell(make test)": "allow", "shell(make)": "deny", "shell(ninja)": "deny", "shell(ls)": "deny"},
	},
	"a project's default denies what its rules do not name": {
		"", "shell: {presets: [readonly], rules: [{pattern: make, approval: allow}]}\n",
		"shell: {rules: [{pattern: ninja, approval: allow}], default: {approval: deny}}\n", true,
		map[string]string{"shell(ninja)": "allow", "shell(make)": "deny", "shell(ls)": "deny"},
	},
	"an untrusted default denies, and frees nothing": {
		"", "shell: {presets: [readonly], rules: [{pattern: make, approval: allow}, {pattern: git, approval: allow}]}\n",
		"shell: {rules: [{pattern: make test, approval: allow}, {pattern: ninja, approval: allow}, {pattern: git log, approval: ask}], default: {approval: deny}}\n", false,
		map[string]string{"shell(make test)": "allow", "shell(make)": "deny", "shell(ninja)": "deny", "shell(ls)": "deny", "shell(git log)": "ask", "shell(git add x)": "deny"},
	},
	"an untrusted default asks": {
		"", "shell: {default: {approval: allow}}\n", "shell: {default: {approval: ask}}\n", false,
		map[string]string{"shell(make)": "ask"},
	},
	"an untrusted file cannot free by effect": {
		"", "shell: {}\n", "shell: {default: {approval: by_effect}}\n", false,
		map[string]string{"shell(cat p/a)": "ask"},
	},
}

func TestTiers(t *testing.T) {
	for name, c := range tierCases {
		t.Run(name, func(t *testing.T) {
			var tiers []config.Tier
			for _, each := range []struct {
				kind       config.TierKind
				file, text string
			}{{config.Administrator, "/etc/assent/policy.yaml", c.admin}, {config.UserTier, "root.yaml", usersRoot}, {config.UserTier, "config.yaml", c.user}, {config.Project, "w.worker", c.project}} {
				p, err := config.Load(each.file, []byte(each.text), "/nowhere")
				if err != nil {
					t.Fatal(err)
				}
				tiers = append(tiers, config.Tier{Kind: each.kind, Policy: p, Trusted: c.trusted})
			}
			all, err := config.Combine(nil, tiers...)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			policy, err := all.Policy.StandIns(dir)
			if err != nil {
				t.Fatal(err)
			}
			e, closing, err := (&look{file: &config.File{Path: "config.yaml"}}).explainer(policy, dir)
			if err != nil {
				t.Fatal(err)
			}
			defer closing()
			for call, want := range c.want {
				x, err := config.Load("f", []byte("expect: {'"+call+"': "+want+"}"), "/")
				if err != nil {
					t.Fatal(err)
				}
				got := e.Explain(t.Context(), explain.Call{Tool: x.Expect[0].Tool, Args: x.Expect[0].Args})
				if got.Outcome != want {
					t.Errorf("%s is %s, want %s: %s%s", call, got.Outcome, want, got.Why, got.Error)
				}
			}
		})
	}
}

package shell

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/system"
)

// namesSet is a project with the roots that are given, whose hosts are below it.
func namesSet(t *testing.T, list ...roots.Root) (*roots.Set, string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = errors.Join(os.MkdirAll(top+"/proj/sub", 0o700), os.WriteFile(top+"/proj/a.txt", []byte("a"), 0o600),
			os.WriteFile(top+"/proj/secret.txt", []byte("s"), 0o600), os.Symlink("proj", top+"/link"))
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i].Host = filepath.Join(top, list[i].Host)
	}
	set, err := roots.New(roots.Options{}, list...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set, top
}

func namesTool(set *roots.Set, cfg Config) (*Tool, error) {
	env := []string{"PATH=/usr/bin:/bin"}
	return New(cfg, set, Options{World: func(dir string) analysis.World { return system.New(dir, env) }})
}

// proposed is what a command in a folder would do.
func proposed(t *testing.T, sh *Tool, command, cwd string) approval.Proposal {
	t.Helper()
	set, err := tool.NewSet(sh)
	if err != nil {
		t.Fatal(err)
	}
	args, err := json.Marshal(map[string]string{"command": command, "cwd": cwd})
	if err == nil {
		args, err = canonical.Arguments(args)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := set.Prepare(t.Context(), policy.Call{Tool: "shell", Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCommandsInAFolderWithSeveralNames(t *testing.T) {
	set, top := namesSet(t, roots.Root{Name: ".", Host: "proj", Mode: roots.ModeReadWrite}, roots.Root{Name: "p", Host: "proj", Mode: roots.ModeReadWrite},
		roots.Root{Name: "q", Host: "link", Mode: roots.ModeReadWrite})
	sh, err := namesTool(set, Config{Readonly: true})
	if err != nil {
		t.Fatal(err)
	}
	denied := func(rule string, p approval.Proposal) bool {
		q := p.Question(&policy.Call{Tool: "shell"}, time.Time{})
		return policy.Policy{Fixed: compile(t, []string{rule})}.Judge(q).State == policy.StateAutoDenied
	}
	for _, cwd := range []string{"", ".", "p", "q", "p/sub/.."} {
		for _, command := range []string{"cat secret.txt", "cat " + top + "/link/secret.txt", "cat ./sub/../secret.txt"} {
			p := proposed(t, sh, command, cwd)
			if got := p.Acts[len(p.Acts)-1].String(); got != "read_file(p/secret.txt)" {
				t.Errorf("%s in %q is %s", command, cwd, got)
			}
			for _, rule := range []string{"deny read_file(secret.txt)", "deny read_file(p/secret.txt)", "deny read_file(q/secret.*)", "deny read_file(**/secret.txt)"} {
				if !denied(rule, p) {
					t.Errorf("%s in %q is not met by %s", command, cwd, rule)
				}
			}
		}
	}
}

// A yes that holds in a folder holds there by each name, and in no other.
func TestAGrantForACommandHoldsInAFolderByEachName(t *testing.T) {
	set, _ := namesSet(t, roots.Root{Name: ".", Host: "proj", Mode: roots.ModeReadWrite}, roots.Root{Name: "p", Host: "proj", Mode: roots.ModeReadWrite})
	sh, err := namesTool(set, Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, given := range []string{"", ".", "p"} {
		grant := policy.Grant{Session: "s", Effect: policy.EffectAllow, Act: proposed(t, sh, "make", given).Acts[0]}
		for used, want := range map[string]policy.State{"": policy.StateSessionApproved, ".": policy.StateSessionApproved, "p": policy.StateSessionApproved, "sub": policy.StatePending, "p/sub": policy.StatePending} {
			p := proposed(t, sh, "make", used)
			q := p.Question(&policy.Call{Tool: "shell", Session: "s"}, time.Time{})
			if got := (policy.Policy{Grants: policy.NewGrantSet([]policy.Grant{grant}), Mode: policy.ModeAsk}).Judge(q).State; got != want {
				t.Errorf("granted in %q, in %q it is %s, want %s", given, used, got, want)
			}
		}
	}
}

func TestTheFolderOfCommandsWithSeveralNames(t *testing.T) {
	rw := func(name, host string) roots.Root {
		return roots.Root{Name: name, Host: host, Mode: roots.ModeReadWrite}
	}
	set, _ := namesSet(t, rw("a", "proj"), roots.Root{Name: "b", Host: "link"})
	sh, err := namesTool(set, Config{})
	if err != nil {
		t.Fatalf("the only folder: %v", err)
	}
	if words := sh.Spec().Description; !strings.Contains(words, "- a is ") || strings.Contains(words, "(rw)") || !strings.Contains(words, "Commands run in a.") {
		t.Errorf("the model is told %s", words)
	}
	if got := proposed(t, sh, "touch a.txt", "").Acts; got[len(got)-1].Verdict != policy.VerdictBlock {
		t.Errorf("a write where one name is read-only: %+v", got)
	}
	several, _ := namesSet(t, rw("a", "proj"), rw("b", "proj"), rw("c", "proj/sub"))
	var wrong *tool.ConfigError
	if _, err := namesTool(several, Config{Source: "policy.yaml:7"}); !errors.As(err, &wrong) || wrong.Source != "policy.yaml:7" ||
		!strings.Contains(err.Error(), "there are several folders (a, c)") {
		t.Errorf("got %v", err)
	}
	none, _ := namesSet(t)
	if _, err := namesTool(none, Config{Source: "policy.yaml:7"}); err == nil || err.Error() != "policy.yaml:7: the shell has no folder to run commands in; add one under sandbox.paths" {
		t.Errorf("got %v", err)
	}
}

// A rule for the files of one name is for those of the other.
func TestPathsOfARuleUnderAnotherName(t *testing.T) {
	set, top := namesSet(t, roots.Root{Name: ".", Host: "proj", Mode: roots.ModeReadWrite}, roots.Root{Name: "p", Host: "proj", Mode: roots.ModeReadWrite})
	sh, err := namesTool(set, Config{Rules: []Rule{{Pattern: "frob *", Approval: tool.WordAllow, Paths: []string{"p"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if p := proposed(t, sh, "frob a.txt", "."); p.Acts[0].Verdict != policy.VerdictFree {
		t.Errorf("%+v", p.Acts)
	}
	if p := proposed(t, sh, "frob "+top+"/other.txt", "."); p.Acts[0].Verdict == policy.VerdictFree {
		t.Errorf("%+v", p.Acts)
	}
}

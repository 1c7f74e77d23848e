package store_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/store"
)

func open(t *testing.T, path string) *store.RuleFile {
	t.Helper()
	f, err := store.OpenRules(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func texts(t *testing.T, f *store.RuleFile) string {
	t.Helper()
	set, err := f.Rules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range set.Rules() {
		out = append(out, r.String())
	}
	return strings.Join(out, "; ")
}

func rule(t *testing.T, text string) approval.Rule {
	t.Helper()
	r, err := approval.ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRuleFileIsARuleStore(t *testing.T) {
	approvaltest.TestRuleStore(t, func(t *testing.T) approval.RuleStore {
		return open(t, filepath.Join(t.TempDir(), "state", "rules.json"))
	})
}

func TestRulesLastAndReachOtherProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.json")
	one, two := open(t, path), open(t, path)
	if err := one.AddRules(t.Context(), rule(t, "allow send_email")); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, two); got != "allow send_email" {
		t.Errorf("another reader sees %q", got)
	}
	if err := two.AddRules(t.Context(), rule(t, "deny shell(rm)")); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, open(t, path)); got != "allow send_email; deny shell(rm)" {
		t.Errorf("after opening again: %q", got)
	}
}

func TestOpeningMakesNothingAndSavingMakesPrivateFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	f := open(t, filepath.Join(dir, "rules.json"))
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Fatalf("opening made the folder: %v", err)
	}
	if err := f.AddRules(t.Context(), rule(t, "allow a")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "rules.json"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", filepath.Base(path), info.Mode().Perm(), err, want)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".rules-*"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestADamagedFileIsRefusedAndKept(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON": "{", "newer": `{"version": 2, "rules": []}`,
		"bad rule": `{"version": 1, "rules": [{"id": "a", "pattern": "", "type": "deny", "scope": "tool", "enabled": true}]}`,
	} {
		path := filepath.Join(t.TempDir(), "rules.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := store.OpenRules(path, 0)
		if err == nil || !strings.Contains(err.Error(), "mend the file") {
			t.Errorf("%s: opened with %v", name, err)
		}
		if set, err := f.Rules(t.Context()); err == nil {
			t.Errorf("%s: gives %v", name, set.Rules())
		}
		if err := f.AddRules(t.Context(), rule(t, "allow a")); err == nil {
			t.Errorf("%s: a rule was added", name)
		}
		if now, _ := os.ReadFile(path); string(now) != text {
			t.Errorf("%s: it was overwritten with %q", name, now)
		}
	}
}

func TestManyWritersLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.json")
	var wg sync.WaitGroup
	for w := range 4 {
		f := open(t, path)
		wg.Go(func() {
			for i := range 10 {
				if err := f.AddRules(t.Context(), rule(t, fmt.Sprintf("allow tool_%d_%d", w, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := strings.Count(texts(t, open(t, path)), "allow tool_"); n != 40 {
		t.Errorf("%d rules are kept, want 40", n)
	}
}

func TestALockThatIsHeldDoesNotHoldForEver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.json")
	held, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the person left"))
	if err := f.AddRules(ctx, rule(t, "allow a")); err == nil || !strings.Contains(err.Error(), "the person left") {
		t.Errorf("error %v", err)
	}
	if got := texts(t, f); got != "" {
		t.Errorf("kept %q", got)
	}
}

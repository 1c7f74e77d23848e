package detect

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/assent-dev/assent/sandbox"
)

// keeping are options with a file, and a program of their own that may be changed.
func keeping(t *testing.T) Options {
	t.Helper()
	o := options(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	data, err := os.ReadFile(o.Program[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	o.Program[0], o.First = program, true
	o.Kept = filepath.Join(dir, "checked.json")
	return o
}

// tests reports whether finding a sandbox tries it. Each self-test that passes writes the file
// anew.
func tests(t *testing.T, o Options, p sandbox.Profile) bool {
	t.Helper()
	before, beforeErr := os.Stat(o.Kept)
	if found := find(t, o, p); found.Report.Name != "bwrap" || found.Report.Version == "" {
		t.Fatalf("%+v", found.Report)
	}
	after, err := os.Stat(o.Kept)
	if err != nil {
		t.Fatal(err)
	}
	if after.Mode() != 0o600 {
		t.Errorf("the file has the mode %v", after.Mode())
	}
	return beforeErr != nil || !os.SameFile(before, after)
}

func TestAPassedSelfTestIsKept(t *testing.T) {
	o := keeping(t)
	_, p := rooted(t, sandbox.ModeReadWrite)
	if !tests(t, o, p) || tests(t, o, p) {
		t.Fatal("a self-test is left out the first time, or done again the second")
	}
	_, other := rooted(t, sandbox.ModeReadOnly)
	if tests(t, o, other) {
		t.Error("a profile of the same kind is tested again")
	}
	// What was not tried is not known to fail.
	online := p
	online.Network.On = true
	if !tests(t, o, online) || tests(t, o, online) || tests(t, o, p) {
		t.Error("a profile for which something else is tried")
	}
	home, wide := rooted(t, sandbox.ModeReadOnly)
	t.Setenv("HOME", home)
	if !tests(t, o, p) || !tests(t, o, wide) {
		t.Error("another home, shown and not shown")
	}
}

// Whatever the result depends on, it is tested again when that has changed; a file that may not
// be ours, or makes no sense, counts for nothing.
func TestAKeptSelfTestIsNotTrusted(t *testing.T) {
	_, p := rooted(t, sandbox.ModeReadWrite)
	edit := func(change func(k *kept)) func(*testing.T, Options) {
		return func(t *testing.T, o Options) {
			data, err := os.ReadFile(o.Kept)
			var k kept
			if err != nil || json.Unmarshal(data, &k) != nil {
				t.Fatal(string(data), err)
			}
			change(&k)
			if data, err = json.Marshal(k); err == nil {
				err = os.WriteFile(o.Kept, data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	mode := func(m fs.FileMode) func(*testing.T, Options) {
		return func(t *testing.T, o Options) {
			if err := os.Chmod(o.Kept, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	cases := map[string]func(*testing.T, Options){
		"another machine": edit(func(k *kept) { k.Machine = "x" + k.Machine[1:] }),
		"another program": edit(func(k *kept) { k.Program.Path = "/usr/local/bin/bwrap" }),
		"no version":      edit(func(k *kept) { k.Program.Version = "" }),
		"others may read": mode(0o640), "others may write": mode(0o602),
		"our program changed": func(t *testing.T, o Options) {
			if err := os.Chmod(o.Program[0], 0o711); err != nil {
				t.Fatal(err)
			}
		},
		"no JSON": func(t *testing.T, o Options) {
			if err := os.WriteFile(o.Kept, []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"a link": func(t *testing.T, o Options) {
			if err := os.Rename(o.Kept, o.Kept+".moved"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(o.Kept+".moved", o.Kept); err != nil {
				t.Fatal(err)
			}
		},
	}
	if os.Geteuid() == 0 {
		cases["another user's"] = func(t *testing.T, o Options) {
			if err := os.Chown(o.Kept, 1234, 1234); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			o := keeping(t)
			if !tests(t, o, p) || tests(t, o, p) {
				t.Fatal("it is not kept")
			}
			change(t, o)
			if !tests(t, o, p) {
				t.Error("the self-test is left out")
			}
		})
	}
}

// A sandbox that does not hold is found out each time.
func TestAFailedSelfTestIsNotKept(t *testing.T) {
	o := keeping(t)
	_, p := rooted(t, sandbox.ModeReadOnly)
	runner := find(t, options(t), p).Runner
	for range 2 {
		c := &candidate{runner: leaky{runner}, report: sandbox.Report{Name: "leaky"}, diagnose: unlessProfile, kept: readKept(o.Kept, o, "/usr/bin/bwrap")}
		if err := c.try(t.Context(), o, p); err != nil || c.report.Usable() {
			t.Fatalf("%v, %+v", err, c.report)
		}
	}
	if _, err := os.Stat(o.Kept); err == nil {
		t.Error("a self-test that failed is kept")
	}
}

// Who only looks makes no folder.
func TestNoFolderIsMadeToKeepASelfTest(t *testing.T) {
	o := keeping(t)
	o.Kept = filepath.Join(t.TempDir(), "none", "checked.json")
	_, p := rooted(t, sandbox.ModeReadOnly)
	find(t, o, p)
	if _, err := os.Stat(filepath.Dir(o.Kept)); err == nil {
		t.Error("the folder was made")
	}
}

package toolbox_test

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// make runs a recipe that cannot be read from the command.
func (w *world) make(recipe string) tool.Result {
	w.t.Helper()
	w.write("proj/Makefile", "all:\n\t-@"+recipe+"\n")
	return w.shell("make")
}

// Names in rules are globs, and so are those that deny files.
func TestDeniesWithGlobsForNames(t *testing.T) {
	for _, rule := range []string{"deny READ_*(private/**)", "deny *_file(private/**)", "deny *(private/**)", "deny r?ad_file(private/**)"} {
		w := newWorld(t, free)
		w.write("proj/private/a", "DIARY")
		w.box = w.open(free+"rules: ['"+rule+"']\n", nil)
		if r := w.make("cat private/a"); strings.Contains(r.Text, "DIARY") {
			t.Errorf("%s: %s", rule, r.Text)
		}
	}
	for _, rule := range []string{"deny write_*(new/**)", "deny *(new/**)"} {
		w := newWorld(t, free+"rules: ['"+rule+"']\n")
		if r := w.make("mkdir new"); r.Outcome.Runs() {
			t.Errorf("%s: what it denies is not there to be held, and it ran: %s", rule, r.Text)
		}
		if parsed, err := policy.ParseRule(rule); err != nil || !toolbox.HeldByGate(parsed) {
			t.Errorf("%s is not told to be held by the gate alone (%v)", rule, err)
		}
	}
}

// A deny that came after the files were looked for is held by the gate alone.
func TestADenyThatCameLater(t *testing.T) {
	w := newWorld(t, free)
	w.write("proj/private/a", "DIARY")
	if r := w.make("cat private/a"); !strings.Contains(r.Text, "DIARY") {
		t.Fatalf("nothing is denied, and it says %s", r.Text)
	}
	w.later = "deny read_file(private/**)"
	if r := w.make("cat private/a"); r.Outcome.Runs() {
		t.Errorf("it ran: %s", r.Text)
	}
	if r := w.shell("ls"); !r.Outcome.Runs() {
		t.Errorf("what is known whole can meet no such deny: %s", r.Text)
	}
}

func TestARootOfSomeFilesIsNotFree(t *testing.T) {
	w := newWorld(t, strings.Replace(free, "approval: allow}", "approval: allow, suffixes: [.md]}", 1))
	w.write("proj/a.json", "JSON")
	if r := w.make("cat a.json"); r.Outcome.Runs() {
		t.Errorf("it ran: %s", r.Text)
	}
}

func TestNamesThatNoToolCanUseAreHidden(t *testing.T) {
	w := newWorld(t, free)
	w.write("proj/\xff.pem", "SECRET")
	w.write("proj/sub/b\xff.txt", "DENIED")
	w.write("proj/c\xff.md", "PLAIN")
	w.box = w.open(free+"rules: ['deny read_file(**/*.txt)']\n", nil)
	r := w.make("cat *.pem sub/* *.md")
	if strings.Contains(r.Text, "SECRET") || strings.Contains(r.Text, "DENIED") || !strings.Contains(r.Text, "PLAIN") {
		t.Errorf("%s %v", r.Text, r.Err)
	}
}

func TestWhatConfigAddsIsSearchedToo(t *testing.T) {
	w := newWorld(t, free)
	w.write("out/.env", "SECRET")
	w.write("out/a", "DENIED")
	w.write("out/b", "PLAIN")
	w.box = w.open(strings.Replace(free, "shell:", "  extra: {read: [TOP/out]}\nshell:", 1)+"rules: ['deny read_file(TOP/out/a)']\n", nil)
	r := w.make("cat ../out/.env ../out/a ../out/b")
	if strings.Contains(r.Text, "SECRET") || strings.Contains(r.Text, "DENIED") || !strings.Contains(r.Text, "PLAIN") {
		t.Errorf("%s %v", r.Text, r.Err)
	}
}

// A folder that cannot be looked into is hidden: a command could change its mode.
func TestClosedFoldersAreHidden(t *testing.T) {
	top, err := os.MkdirTemp("/var/tmp", "assent-box-") // everybody can get there
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(top)) })
	must(t, os.Chmod(top, 0o755))
	for name, mode := range map[string]os.FileMode{"none": 0, "unlisted": 0o311, "listed": 0o644, "open": 0o755} {
		must(t, os.MkdirAll(top+"/"+name+"/sub", 0o755))
		must(t, os.Chmod(top+"/"+name, mode))
		t.Cleanup(func() { must(t, os.Chmod(top+"/"+name, 0o755)) })
	}
	set, err := roots.New(roots.Options{}, roots.Root{Name: ".", Host: top, Mode: roots.ModeReadWrite})
	must(t, err)
	defer set.Close()
	hidden := map[string]bool{}
	done := make(chan error)
	go func() { // the thread ends with this, because it is not let go
		runtime.LockOSThread()
		if os.Geteuid() == 0 {
			_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, 65534, 0, 0) // root would see through
		}
		found, err := toolbox.Search(set, nil, true)
		for _, e := range found.Secrets {
			hidden[e.Path] = true
		}
		done <- err
	}()
	must(t, <-done)
	for _, name := range []string{"none", "unlisted", "listed"} {
		if !hidden[top+"/"+name] {
			t.Errorf("%s can be reached: %v", name, hidden)
		}
	}
	if hidden[top+"/open"] || hidden[top] {
		t.Errorf("too much is hidden: %v", hidden)
	}
}

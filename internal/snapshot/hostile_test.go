package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/tool/roots"
)

// The test program is also a process that is killed between the two looks.
func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{
		"killed": func(args []string) error { beKilled(args[0], args[1]); return nil },
	})
	os.Exit(m.Run())
}

func beKilled(base, git string) {
	set, err := roots.New(roots.Options{Home: base + "/home"}, roots.Root{Name: "proj", Host: base + "/proj", Mode: roots.ModeReadWrite, Approval: free})
	if err == nil {
		s := &Store{Dir: base + "/state/undo", State: base + "/state", Git: git, Policy: "policy.yaml"}
		_, err = s.Over(set).Before(context.Background(), anything)
	}
	fmt.Println("ready", err)
	_, _ = io.Copy(io.Discard, os.Stdin) // until somebody kills it
	os.Exit(1)
}

// Whoever is killed between the two looks has kept enough: the next process finds what changed.
func TestKilledBetween(t *testing.T) {
	for name, git := range map[string]bool{"git": true, "no git": false} {
		t.Run(name, func(t *testing.T) {
			l := newRepo(t)
			if !git {
				l.store.Git = ""
			}
			l.sh("echo u > untracked; mkdir ignored; echo i > ignored/i")
			was := l.tree()
			cmd := reexec.Command("killed", l.base, l.store.Git)
			in, err := cmd.StdinPipe()
			must(t, err)
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			line := make([]byte, len("ready <nil>"))
			if _, err := io.ReadFull(out, line); err != nil || string(line) != "ready <nil>" {
				t.Fatalf("%q %v", line, err)
			}
			l.sh("echo changed > src/a.go; rm src/b.go; rm untracked; echo new > new; echo j > ignored/i")
			must(t, l.store.Recover(t.Context()))
			if list, err := l.store.List(t.Context()); err != nil || len(list) > 0 {
				t.Fatalf("it still runs, and was taken for dead: %v %v", list, err)
			}
			must(t, cmd.Process.Kill())
			_ = cmd.Wait() // killed
			in.Close()
			l.run("true") // the next process's first command looks after it
			list, err := l.store.List(t.Context())
			must(t, err)
			if len(list) != 1 || !list[0].Interrupted || list[0].Files() != 4 {
				t.Fatalf("%+v", list)
			}
			l.undo(list[0].ID)
			l.sh("echo i > ignored/i") // written through
			if now := l.tree(); now != was {
				t.Errorf("it is\n%s\nand was\n%s", now, was)
			}
		})
	}
}

// Names may hold any bytes.
func TestStrangeNames(t *testing.T) {
	l := newRepo(t)
	names := []string{"new\nline", "bad\xff\xfeutf8", "-rf", " ", "tab\there", "quote'\"", "back\\slash", "\x1b[31mred", "dir\n\xff/in", strings.Repeat("x", 255)}
	for _, n := range names {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(l.dir, n)), 0o755))
		must(t, os.WriteFile(filepath.Join(l.dir, n), []byte(n), 0o600))
	}
	l.back("find . -path ./.git -prune -o -type f -print0 | xargs -0 rm -f --")
	l.back("find . -path ./.git -prune -o -type f -print0 | xargs -0 -n1 sh -c 'echo x >> \"$0\"'")
	l.sh(commit)
	l.settle()
	l.back("find . -path ./.git -prune -o -type f -print0 | xargs -0 rm -f --; rm -r dir*")
}

// A link is never followed: neither to look, nor to put something back.
func TestLinksOut(t *testing.T) {
	l := newRepo(t)
	outside := l.base + "/outside"
	must(t, os.MkdirAll(outside, 0o755))
	must(t, os.WriteFile(outside+"/a.go", []byte("outside\n"), 0o600))
	l.sh("ln -s " + outside + " out; ln -s " + outside + "/a.go fileout; ln -s loop loop")
	l.run("true")
	if n := objects(t, l.store); n != 0 {
		t.Errorf("%d files outside were copied", n)
	}
	// The folder of a changed file becomes a link to elsewhere, before and after the undo began.
	l.back("rm -r src; ln -s " + outside + " src")
	kept := l.run("echo changed > src/a.go; rm src/b.go")
	l.sh("mv src moved; ln -s " + outside + " src")
	p, err := l.store.Plan(t.Context(), kept.ID, l.set)
	if err == nil {
		_ = p.Apply(t.Context())
	}
	if data, err := os.ReadFile(outside + "/a.go"); string(data) != "outside\n" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := os.Lstat(outside + "/b.go"); err == nil {
		t.Error("it was put back outside")
	}
	l.sh("rm src; mv moved src")
	l.undo(kept.ID)
	kept = l.run("echo changed > src/a.go")
	p, err = l.store.Plan(t.Context(), kept.ID, l.set)
	must(t, err)
	l.sh("mv src moved; ln -s " + outside + " src") // between the plan and its application
	if err := p.Apply(t.Context()); err == nil {
		t.Error("applied through a link")
	}
	if data, _ := os.ReadFile(outside + "/a.go"); string(data) != "outside\n" {
		t.Errorf("%q", data)
	}
}

// A link to the top of a root is what roots are made of, and the root's folder itself may be
// replaced by a link: then nothing is put back.
func TestRootReplaced(t *testing.T) {
	l := newRepo(t)
	kept := l.run("echo changed > src/a.go")
	l.sh("true")
	must(t, os.Rename(l.dir, l.dir+"-moved"))
	must(t, os.MkdirAll(l.base+"/other/src", 0o755))
	must(t, os.WriteFile(l.base+"/other/src/a.go", []byte("changed\n"), 0o644))
	must(t, os.Symlink(l.base+"/other", l.dir))
	p, err := l.store.Plan(t.Context(), kept.ID, l.set)
	if err == nil && p.Apply(t.Context()) == nil && len(p.Steps) > 0 {
		t.Errorf("%q", p.Steps)
	}
	if data, _ := os.ReadFile(l.base + "/other/src/a.go"); string(data) != "changed\n" {
		t.Errorf("%q", data)
	}
}

// Pipes, sockets and large sparse files do not hold anybody up.
func TestSpecialFiles(t *testing.T) {
	l := newRepo(t)
	must(t, syscall.Mkfifo(l.dir+"/pipe", 0o600))
	f, err := os.Create(l.dir + "/sparse")
	must(t, err)
	must(t, f.Truncate(1<<40))
	must(t, f.Close())
	kept := l.run("rm pipe; truncate -s 5 sparse; mkfifo src/pipe; truncate -s 1T large; echo x > src/a.go")
	if !strings.Contains(kept.Note, "sparse (too large)") || !strings.Contains(kept.Note, "pipe") {
		t.Errorf("%+v", kept)
	}
	l.undo(kept.ID)
	for _, gone := range []string{"src/pipe", "large"} {
		if _, err := os.Lstat(filepath.Join(l.dir, gone)); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
	l.sh(`test "$(cat src/a.go)" = a`)
}

// A file behind several names: what is put back is put back under each, and names outside
// the root keep what the command wrote.
func TestHardLinks(t *testing.T) {
	l := newRepo(t)
	l.sh("echo one > first; ln first second; ln first ../third")
	l.back("echo two > first")
	if data, _ := os.ReadFile(l.base + "/third"); string(data) != "two\n" {
		t.Errorf("%q", data)
	}
	l.back("rm first; ln src/a.go first")
}

// Files that appear and vanish while the tree is looked at are no reason to fail.
func TestWhileOthersWrite(t *testing.T) {
	l := newRepo(t)
	stop := make(chan struct{})
	var group sync.WaitGroup
	for i := range 2 {
		group.Go(func() {
			dir := fmt.Sprintf("%s/busy%d", l.dir, i)
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				_ = os.MkdirAll(dir+"/sub", 0o755)
				_ = os.WriteFile(fmt.Sprintf("%s/sub/f%d", dir, n%20), []byte(fmt.Sprint(n)), 0o600)
				_ = os.Symlink("/etc", dir+"/sub/link")
				if n%7 == 0 {
					_ = os.RemoveAll(dir)
				}
				if n%11 == 0 {
					_ = os.RemoveAll(dir)
					_ = os.Symlink("/etc", dir)
					_ = os.Remove(dir)
				}
			}
		})
	}
	for range 5 {
		kept := l.run("echo changed > src/a.go; rm src/b.go")
		rec, err := l.store.Get(kept.ID)
		must(t, err)
		for _, c := range rec.Changes {
			if !strings.HasPrefix(string(c.Path), "src/") && !strings.HasPrefix(string(c.Path), "busy") {
				t.Errorf("%+v", c)
			}
		}
		p, err := l.store.Plan(t.Context(), kept.ID, l.set)
		must(t, err)
		_ = p.Apply(t.Context()) // of the busy files some change meanwhile
		l.sh(`test "$(cat src/a.go)" = a && test "$(cat src/b.go)" = b`)
	}
	close(stop)
	group.Wait()
}

// Two commands at once: each is recorded, and after both are undone everything is as it was.
func TestTwoAtOnce(t *testing.T) {
	l := newRepo(t)
	was := l.tree()
	ids := make([]string, 2)
	var group sync.WaitGroup
	for i := range ids {
		group.Go(func() {
			after, err := l.roots.Before(t.Context(), anything)
			if err != nil {
				t.Error(err)
				return
			}
			cmd := exec.Command("sh", "-c", fmt.Sprintf("echo %d > made%d; echo %d > src/%c.go", i, i, i, 'a'+i))
			cmd.Dir = l.dir
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
			kept, err := after(t.Context())
			if err != nil {
				t.Error(err)
			}
			ids[i] = kept.ID
		})
	}
	group.Wait()
	for _, id := range ids {
		p, err := l.store.Plan(t.Context(), id, l.set)
		if errors.Is(err, ErrAsBefore) {
			continue // the other one saw it too
		}
		must(t, err)
		must(t, p.Apply(t.Context()))
	}
	if now := l.tree(); now != was {
		t.Errorf("it is\n%s\nand was\n%s", now, was)
	}
}

// Repositories in the repository, submodules and linked work trees have an index of their own.
func TestNestedRepositories(t *testing.T) {
	l := newRepo(t)
	l.sh(`git init -q -b main nested && cd nested && echo n > n && echo 'x/' > .gitignore && ` + commit)
	l.sh(`git init -q -b main ../lib && cd ../lib && echo l > l && ` + commit)
	l.sh(`git -c protocol.file.allow=always submodule --quiet add ../lib sub && ` + commit)
	l.sh(`git worktree add -q ../proj/tree -b other 2> /dev/null`)
	l.settle()
	l.sh("for d in nested sub tree; do git -C $d update-index -q --refresh; done")
	l.run("true")
	l.back("echo changed > nested/n; echo changed > sub/l; rm tree/src/a.go; rm -r tree/doc")
	l.back("rm nested/n sub/l")
	if n := objects(t, l.store); n != 0 {
		t.Errorf("%d copies", n)
	}
	// The root may be a folder of the repository.
	set, err := roots.New(roots.Options{Home: l.base + "/home"}, roots.Root{Name: "src", Host: l.dir + "/src", Mode: roots.ModeReadWrite, Approval: free})
	must(t, err)
	defer set.Close()
	l.set, l.roots = set, l.store.Over(set)
	l.sh("echo o > src/x.o")
	l.back("echo changed > src/a.go; rm src/b.go; echo made > src/made")
	if n := objects(t, l.store); n != 0 {
		t.Errorf("%d copies", n)
	}
}

// A repository further up that ignores the whole root says nothing about it.
func TestIgnoredRoot(t *testing.T) {
	l := newLab(t)
	l.sh("cd .. && git init -q . && echo '*' > .gitignore")
	l.sh("echo one > a; mkdir node_modules; echo n > node_modules/n")
	l.back("echo two > a; echo made > b")
	through, err := l.roots.Through(t.Context(), anything)
	must(t, err)
	if len(through) != 1 || !strings.HasSuffix(through[0], "/node_modules/") {
		t.Errorf("%q", through)
	}
}

// Nothing that a repository names is started, when it is looked at and when git is asked.
func TestNoProgramOfTheRepository(t *testing.T) {
	l := newRepo(t)
	spy, trace := l.base+"/spy", l.base+"/trace"
	must(t, os.WriteFile(spy, []byte("#!/bin/sh\necho \"$0 $*\" >> "+trace+"\ncat\n"), 0o700))
	l.sh(strings.NewReplacer("SPY", spy).Replace(`
		for k in core.fsmonitor core.pager core.editor core.sshCommand core.askPass core.gitProxy core.alternateRefsCommand diff.external diff.x.textconv filter.x.smudge filter.x.clean filter.x.process credential.helper gpg.program uploadpack.packObjectsHook gc.recentObjectsHook alias.cat-file; do git config $k SPY; done
		git config alias.cat-file '!SPY'; git config core.hooksPath .git/hooks; mkdir -p .git/hooks
		git config extensions.partialClone origin; git config remote.origin.promisor true; git config remote.origin.url 'ext::SPY'; git config protocol.ext.allow always; git config core.repositoryformatversion 1
		for h in post-index-change pre-commit post-checkout reference-transaction fsmonitor-watchman; do cp SPY .git/hooks/$h; done
		echo '* filter=x diff=x' > .git/info/attributes
		printf '[include]\npath = evil\n' >> .git/config; printf '[core]\nfsmonitor = SPY\n' > .git/evil`))
	must(t, os.RemoveAll(trace))
	l.back("echo changed > src/a.go; rm src/b.go")
	kept := l.run("rm doc/d.md")
	l.sh("find .git/objects -type f -name '??????????????????????????????????????' -delete") // now they would have to be fetched
	p, err := l.store.Plan(t.Context(), kept.ID, l.set)
	must(t, err)
	if err := p.Apply(t.Context()); err == nil || !strings.Contains(err.Error(), "git does not have its content any more") {
		t.Errorf("%v", err)
	}
	if data, err := os.ReadFile(trace); err == nil {
		t.Errorf("started: %s", data)
	}
}

// What git has can only be put back if it is what it was: an object that was exchanged is not.
func TestForgedObject(t *testing.T) {
	l := newRepo(t)
	kept := l.run("rm src/a.go src/b.go")
	l.sh(`a=$(git rev-parse HEAD:src/a.go); b=$(git rev-parse HEAD:src/b.go)
		o() { echo .git/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-); }
		chmod u+w $(o $a); cp $(o $b) $(o $a)`)
	p, err := l.store.Plan(t.Context(), kept.ID, l.set)
	must(t, err)
	if err := p.Apply(t.Context()); err == nil || !strings.Contains(err.Error(), "proj/src/a.go") {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(l.dir + "/src/a.go"); err == nil {
		t.Error("it was put back with another content")
	}
}

// A folder that the command closed may still hold everything: nothing below it counts as
// deleted.
func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root reads everything: only the ordinary user's run shows it")
	}
	l := newRepo(t)
	l.sh("echo secret > closed; chmod 000 closed; mkdir dir; echo in > dir/in")
	kept := l.run("chmod 000 dir")
	rec, err := l.store.Get(kept.ID)
	must(t, err)
	for _, c := range rec.Changes {
		if c.Path == "dir/in" {
			t.Errorf("%+v", c)
		}
	}
	l.undo(kept.ID)
	l.sh("test $(cat dir/in) = in; chmod 644 closed")
	l.sh("chmod 000 closed")
	kept = l.run("rm -f closed")
	if os.Geteuid() != 0 && !strings.Contains(kept.Note, "closed (cannot be read)") {
		t.Errorf("%+v", kept)
	}
}

// Damaged records and stores are told, and never act.
func TestDamagedStore(t *testing.T) {
	l := newRepo(t)
	l.sh("echo u > untracked")
	kept := l.run("echo v > untracked; echo made > made")
	name := l.store.records() + "/" + kept.ID + ".json"
	text, err := os.ReadFile(name)
	must(t, err)
	for _, bad := range []string{"", "{", strings.Replace(string(text), `"path":"untracked"`, `"path":"../../outside"`, 1), strings.Replace(string(text), `"top":0`, `"top":7`, 1)} {
		must(t, os.WriteFile(name, []byte(bad), 0o600))
		if _, err := l.store.Plan(t.Context(), kept.ID, l.set); err == nil {
			t.Errorf("taken: %s", bad)
		}
	}
	must(t, os.WriteFile(name, text, 0o600))
	for _, id := range objectIDs(t, l.store) {
		must(t, os.WriteFile(l.store.object(id), []byte("forged\n"), 0o600))
	}
	p, err := l.store.Plan(t.Context(), kept.ID, l.set)
	must(t, err)
	if err := p.Apply(t.Context()); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
	l.sh(`test "$(cat untracked)" = v`)
	must(t, os.WriteFile(l.store.records()+"/abc"+beforeSuffix, []byte("nonsense"), 0o600))
	must(t, l.store.Recover(t.Context()))
	for name, mode := range map[string]os.FileMode{l.store.Dir: 0o700, l.store.records(): 0o700, l.store.Dir + "/seen": 0o600} {
		if info, err := os.Stat(name); err == nil && info.Mode().Perm() != mode {
			t.Errorf("%s: %v", name, info.Mode())
		}
	}
}

// A file that a rule of the policy protects by now is left alone.
func TestProtectedIsLeftAlone(t *testing.T) {
	l := newRepo(t)
	kept := l.run("echo changed > src/a.go; echo changed > doc/d.md")
	set, err := roots.New(roots.Options{Home: l.base + "/home"},
		roots.Root{Name: "proj", Host: l.dir, Mode: roots.ModeReadWrite, Approval: free}, roots.Root{Name: "doc", Host: l.dir + "/doc", Mode: roots.ModeReadOnly})
	must(t, err)
	defer set.Close()
	l.set = set
	if left := l.undo(kept.ID); len(left) != 1 || !strings.Contains(left[0], "doc/d.md: it cannot be restored: ") {
		t.Errorf("%q", left)
	}
	l.sh(`test "$(cat src/a.go)" = a && test "$(cat doc/d.md)" = changed`)
}

package shim_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/assent-dev/assent/tool/shell/runner/shim"
)

// What the hardened git prints is what git prints.
func TestSameAnswers(t *testing.T) {
	l := newLab(t)
	l.write("file", "two\n")
	l.write("a b 'c'", "new\n")
	l.write("sub/x", "x")
	for _, text := range []string{
		"git status", "git status --short", "git status --porcelain=v2 -- 'a b '\\''c'\\'", "git diff", "git diff --exit-code", "git diff HEAD --stat -- file",
		"git log", "git log --oneline -1", "git log -p -- file", "git show", "git show HEAD:file", "git show --format=%H%n%s", "git log --grep='f[i]rst'",
		"git -C sub status", "git -C nowhere status", "git log nowhere", "git diff -- --textconv", "cd / && git status", "git", "git -C", "git --version",
		"git ls-files", "git log --format='%an <%ae>' --author=A",
	} {
		plain, ours := l.run(l.env, text), l.hardened(text)
		if plain.Stdout != ours.Stdout || plain.Stderr != ours.Stderr || plain.ExitCode != ours.ExitCode {
			t.Errorf("%s:\ngit  %d %q %q\nours %d %q %q", text, plain.ExitCode, plain.Stdout.Text, plain.Stderr.Text,
				ours.ExitCode, ours.Stdout.Text, ours.Stderr.Text)
		}
	}
}

// Nothing is written by what only reads, not even the index.
func TestTheIndexStaysAsItIs(t *testing.T) {
	l := newLab(t)
	for _, text := range []string{"git status", "git diff"} {
		l.prepare("touch -d '1 hour ago' file")
		before, err := os.Stat(l.dir + "/.git/index")
		must(t, err)
		if r := l.hardened(text); r.ExitCode != 0 {
			t.Errorf("%s: %+v", text, r)
		}
		after, err := os.Stat(l.dir + "/.git/index")
		must(t, err)
		if !os.SameFile(before, after) || before.ModTime() != after.ModTime() {
			t.Errorf("%s wrote the index", text)
		}
	}
}

// What is not free runs as it stands, hooks and all.
func TestOtherCommandsPassThrough(t *testing.T) {
	l := newLab(t)
	l.prepare("cp " + l.spy + " .git/hooks/pre-commit")
	if r := l.hardened("git commit -q --allow-empty -m x"); r.ExitCode != 0 || l.traced() == "" {
		t.Errorf("the hook did not run: %+v", r)
	}
	if r := l.hardened("git -c core.fsmonitor=" + l.spy + " status"); r.ExitCode != 0 || l.traced() == "" {
		t.Errorf("the setting of the command line does not count: %+v", r)
	}
}

// Every option before the subcommand is understood or refused: git's own usage names them.
func TestGlobalOptions(t *testing.T) {
	l := newLab(t)
	l.prepare(submodule + "git -C m config core.fsmonitor " + l.spy + "; echo two > m/file")
	usage := l.run(l.env, "git -h; echo '[--no-advice] [--attr-source=<tree>] [--no-lazy-fetch] [--noglob-pathspecs] [--glob-pathspecs] [--icase-pathspecs] [--no-optional-locks] [--list-cmds=<x>]'").Stdout.Text
	text, _, _ := strings.Cut(usage, "These are common")
	agreed := []string{"-p", "--paginate", "--bare", "--git-dir", "--work-tree", "--exec-path", "--config-env", "--super-prefix"}
	n := 0
	for field := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(" \n[]|", c) }) {
		if field[0] != '-' {
			continue
		}
		n++
		name, _, valued := strings.Cut(field, "=")
		option := name
		switch {
		case name == "-c":
			option = "-c color.ui=false"
		case name == "-C":
			option = "-C ."
		case valued:
			option = name + "=HEAD"
		}
		l.traced()
		l.hardened("git " + option + " status")
		if started := l.traced(); started != "" && !slices.Contains(agreed, name) {
			t.Errorf("git %s status starts %q", option, started)
		}
	}
	if n < 20 {
		t.Errorf("git names %d options: %s", n, text)
	}
	if r := l.hardened("git --no-such-option status"); r.ExitCode != 128 || !strings.Contains(r.Stderr.Text, "--no-such-option is not known") {
		t.Errorf("an option that is not known: %+v", r)
	}
	if r := l.hardened("git log --alternate-refs"); r.ExitCode != 128 {
		t.Errorf("--alternate-refs: %+v", r)
	}
}

func TestFlagsThatUndo(t *testing.T) {
	l := newLab(t)
	for _, flag := range []string{"--ext-diff", "--ext", "--textconv", "--textc", "--ignore-submodules=none", "--ignore-su", "--submodule=diff", "--sub"} {
		if r := l.hardened("git diff " + flag); r.ExitCode != 128 || !strings.Contains(r.Stderr.Text, flag) {
			t.Errorf("%s: %+v", flag, r)
		}
	}
	l.prepare("git config 'filter.a=b.clean' x")
	if r := l.hardened("git status"); r.ExitCode != 128 || !strings.Contains(r.Stderr.Text, "filter.a=b.clean") {
		t.Errorf("a filter that cannot be turned off: %+v", r)
	}
	l.write(".git/config", "[")
	if r := l.hardened("git status"); r.ExitCode != 128 || !strings.Contains(r.Stderr.Text, "bad config line") {
		t.Errorf("settings that cannot be read: %+v", r)
	}
}

// Functions and options of the environment do not reach the script.
func TestTheScriptStandsAlone(t *testing.T) {
	l := newLab(t)
	l.prepare("git config core.fsmonitor " + l.spy)
	r := l.hardened("export BASH_ENV=" + l.spy + " ENV=" + l.spy + "; " +
		"exec() { " + l.spy + "; }; printf() { " + l.spy + "; }; export -f exec printf; git status")
	if started := l.traced(); started != "" || !strings.Contains(r.Stdout.Text, "On branch main") {
		t.Errorf("it started %q: %+v", started, r)
	}
}

func TestInstall(t *testing.T) {
	folder := t.TempDir() + "/state/shim"
	first, err := shim.Install(folder, "/bin/bash", "/usr/bin/git")
	must(t, err)
	file := filepath.Join(first, "git")
	before, err := os.Stat(file)
	must(t, err)
	for path, want := range map[string]os.FileMode{folder: 0o700 | os.ModeDir, first: 0o700 | os.ModeDir, file: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	again, err := shim.Install(folder, "/bin/bash", "/usr/bin/git")
	must(t, err)
	if after, err := os.Stat(file); err != nil || again != first || !os.SameFile(before, after) {
		t.Errorf("it was written again: %s, %v", again, err)
	}
	other, err := shim.Install(folder, "/bin/bash", "/opt/it's/git")
	must(t, err)
	if text, _ := os.ReadFile(other + "/git"); other == first || !strings.Contains(string(text), `git='/opt/it'\''s/git'`) {
		t.Errorf("the shim of another git: %s, %s", other, text)
	}
	must(t, os.WriteFile(file, []byte("#!/bin/sh\necho changed\n"), 0o700))
	_, err = shim.Install(folder, "/bin/bash", "/usr/bin/git")
	must(t, err)
	if text, _ := os.ReadFile(file); strings.Contains(string(text), "changed") {
		t.Error("a changed shim was kept")
	}
	entries, err := os.ReadDir(first)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestInstallRefuses(t *testing.T) {
	folder := t.TempDir()
	dir, err := shim.Install(folder, "/bin/bash", "/usr/bin/git")
	must(t, err)
	for name, breaks := range map[string]func() error{
		"a folder of everybody": func() error { return os.Chmod(dir, 0o777) },
		"a file of everybody":   func() error { return os.Chmod(dir+"/git", 0o722) },
		"not executable":        func() error { return os.Chmod(dir+"/git", 0o600) },
	} {
		must(t, breaks())
		if got, err := shim.Install(folder, "/bin/bash", "/usr/bin/git"); err == nil {
			t.Errorf("%s: %s", name, got)
		}
		must(t, os.Chmod(dir, 0o700))
		must(t, os.Chmod(dir+"/git", 0o700))
	}
	must(t, os.Rename(dir, folder+"/elsewhere"))
	must(t, os.Symlink("elsewhere", dir))
	if got, err := shim.Install(folder, "/bin/bash", "/usr/bin/git"); err == nil {
		t.Errorf("through a link: %s", got)
	}
	for _, paths := range [][2]string{
		{"bash", "/usr/bin/git"}, {"/bin/bash", "git"}, {"/bin/my bash", "/usr/bin/git"}, {"/" + strings.Repeat("x", 200), "/usr/bin/git"},
		{"/bin/bash", "/usr/bin/git\nrm"}, {"", ""},
	} {
		if got, err := shim.Install(folder, paths[0], paths[1]); err == nil {
			t.Errorf("%q: %s", paths, got)
		}
	}
}

func TestInstallTogether(t *testing.T) {
	folder := t.TempDir()
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if _, err := shim.Install(folder, "/bin/bash", "/usr/bin/git"); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

func BenchmarkStatus(b *testing.B) {
	l := newLab(b)
	b.Run("by=git", func(b *testing.B) {
		for b.Loop() {
			l.run(l.env, "git status")
		}
	})
	b.Run("by=shim", func(b *testing.B) {
		for b.Loop() {
			l.hardened("git status")
		}
	})
}

func BenchmarkInstalled(b *testing.B) {
	folder := b.TempDir()
	for b.Loop() {
		_, err := shim.Install(folder, "/bin/bash", "/usr/bin/git")
		must(b, err)
	}
}

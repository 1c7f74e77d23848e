package toolbox_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/analysis"
)

// A pretence reads every command as another one: the wall of that other one holds it, and
// nothing else does.
type pretence struct {
	*world
	as string
}

func newPretence(t testing.TB) *pretence {
	t.Helper()
	p := &pretence{world: newWorld(t, "sandbox: {paths: {.: {root: TOP/proj, mode: rw}}}")}
	p.without.Running = true
	p.read = func(text, dir string, world analysis.World) (*analysis.Script, error) {
		script, err := analysis.Read(text, dir, world)
		if err != nil {
			return nil, err
		}
		other, err := analysis.Read(p.as, dir, world)
		if err != nil {
			return nil, err
		}
		script.Parts, script.Odd, script.Files = other.Parts, "", nil
		return script, nil
	}
	p.box = p.open(allFree, nil)
	return p
}

const allFree = `
version: 1
sandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: {read: allow, write: allow, delete: allow}}, other: {root: TOP/out, mode: rw, approval: {read: allow, write: allow, delete: allow}}}}
shell: {cwd: ., default: {approval: allow}}
`

// fill makes the project as it was.
func (p *pretence) fill() {
	p.t.Helper()
	for _, dir := range []string{"proj", "out"} {
		entries, err := os.ReadDir(filepath.Join(p.top, dir))
		must(p.t, err)
		for _, e := range entries {
			must(p.t, os.RemoveAll(filepath.Join(p.top, dir, e.Name())))
		}
	}
	for name, text := range map[string]string{
		"proj/a": "a\n", "proj/b": "b\n", "proj/dir/c": "c\n", "proj/dir/d": "d\n", "proj/dir/deep/e": "e\n", "proj/sub/f": "f\n", "out/g": "g\n",
		"proj/run.sh": "#!/bin/sh\ntouch M\n",
	} {
		p.write(name, text)
	}
	must(p.t, os.Symlink("a", p.top+"/proj/link"))
	must(p.t, os.Chmod(p.top+"/proj/run.sh", 0o755))
}

// state is all that can be seen of the files below the two roots.
func (p *pretence) state() map[string]string {
	p.t.Helper()
	out := map[string]string{}
	for _, root := range []string{"proj", "out"} {
		must(p.t, filepath.WalkDir(filepath.Join(p.top, root), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			text := fmt.Sprintf("%v %d", info.Mode(), info.ModTime().UnixNano())
			if path == filepath.Join(p.top, root) && p.writes() {
				text = "" // in a root that can be written, assent itself has placeholders for a while
			}
			if info.Mode().IsRegular() {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				text += " " + string(data)
			}
			names := make([]byte, 1024)
			if n, err := unix.Llistxattr(path, names); err == nil {
				text += " " + string(names[:n])
			}
			name, err := filepath.Rel(p.top, path)
			out[name] = text
			return err
		}))
	}
	return out
}

// writes reports whether the command is read as one that writes.
func (p *pretence) writes() bool { return p.as != "cat a" && p.as != "ls -la | grep a" }

// changed runs a text as if it had been read as another one, and returns which files it
// changed. A folder in which one was made or removed is not counted.
func (p *pretence) changed(as, text string) ([]string, shell.Result) {
	p.t.Helper()
	p.fill()
	p.as = as
	before := p.state()
	r := p.call(policy.ModeApproveAll, nil, "shell", map[string]any{"command": text, "timeout": 10})
	got, ran := r.Value.(shell.Result)
	if !ran {
		p.t.Errorf("%q as %q did not run: %s %v", text, as, r.Text, r.Err)
	}
	after := p.state()
	var out []string
	for name := range maps.Keys(after) {
		if before[name] != after[name] {
			out = append(out, name)
		}
	}
	for name := range before {
		if _, there := after[name]; !there {
			out = append(out, name)
		}
	}
	out = slices.DeleteFunc(out, func(name string) bool {
		return slices.ContainsFunc(out, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	})
	slices.Sort(out)
	return out, got
}

const loader = "/lib64/ld-linux-x86-64.so.2"

// Nothing in the roots changes if the command was read as one that only reads: neither
// content nor mode, times or attributes.
func TestWallOfACommandThatReads(t *testing.T) {
	p := newPretence(t)
	texts := append(slices.Clone(hidden),
		"touch M", "echo x > a", "echo x >> a", "exec 3<>a; echo y >&3", "sed -i s/a/b/ a", "sed 'w M' a", "sed '1e touch M' a", "sed -n '1!b;s/a/touch M/e' a",
		"awk 'BEGIN{print 1 > \"M\"}'", "awk 'BEGIN{system(\"touch M\")}'", "awk 'BEGIN{print \"x\" | \"cat > M\"}'", "find . -delete", "find . -fprint M", "find . -exec rm {} +",
		"chmod 777 a", "chmod -R 000 dir", "touch -d 2001-01-01 a", "touch -h link", "setfattr -n user.x -v y a", "ln a M", "ln -s a M", "mkdir M", "mkfifo M", "rm -rf dir", "mv a M", "cp a M",
		"dd if=/dev/zero of=a bs=1 count=1", "truncate -s 0 a", "tee a < b", "python3 -c 'open(\"M\",\"w\")'", "perl -e 'open F, \">M\"'", "sh run.sh", "./run.sh", "bash -c 'touch M'",
		"git init -q", "git config --file a x.y z", "sort -o a b", "split a", "csplit a 1", "tar cf M a", "gzip a", "patch a", "install a M", "rsync a M", "cp /bin/touch /tmp/t; /tmp/t M",
		loader+" /usr/bin/touch M", loader+" /usr/bin/rm a", loader+" /usr/bin/chmod 777 a", "cat a; "+loader+" /bin/bash -c 'echo x > M'", "cat a > /proc/self/cwd/M", "cat a > /proc/self/root$PWD/M",
		"xargs touch <<< M", "env touch M", "(cd sub && touch M)", "exec > M", "{ cat a; } > M", "coproc cat > M", "cat a | tee M", "cat <(touch M)", "cat a 3> M",
	)
	for _, text := range texts {
		if strings.Contains(text, "coproc") {
			continue // bash runs it, as code that cannot be read: the profile holds it
		}
		for _, as := range []string{"cat a", "ls -la | grep a"} {
			if changed, r := p.changed(as, text); len(changed) > 0 {
				t.Errorf("%q as %q changed %q: %+v", text, as, changed, r)
			}
		}
	}
}

// A program that the command was not read to run does not start.
func TestWallOfPrograms(t *testing.T) {
	p := newPretence(t)
	for text, starts := range map[string]bool{
		"cat a": true, "/bin/cat a": true, "cp /bin/cat /tmp/cat": false, "head a": false, "bash -c 'head a'": false, "ls": false, "/usr/bin/head a": false,
		"eval head a": false, "command head a": false, "env head a": false, "(exec head a)": false, "cat a | head": false,
		// The loader has to be executable for cat: what it maps then has no more rights.
		loader + " /usr/bin/head a": true,
	} {
		_, r := p.changed("cat a", text)
		last := strings.TrimSpace(r.Stderr)
		if ok := r.ExitCode == 0 && r.Stdout != ""; ok != starts || !starts && !strings.Contains(last, "ermission denied") {
			t.Errorf("%q: starts %v, %+v", text, ok, r)
		}
	}
}

// wallProbes say what a command may change that was read as another one.
var wallProbes = []struct {
	as, text string
	changed  string // those files, separated by spaces
}{
	// The shell's own redirections, by file.
	{"echo x > M", "echo x > M", "proj/M"},
	{"echo x > M", "echo x > N", ""},
	{"echo x > M", "echo x > a", ""},
	{"echo x > M", "echo x > M; echo y > a", "proj/M"},
	{"echo x > M", "echo x > M; echo y >> M; cat M", "proj/M"},
	{"echo x > M", "echo x > dir/M", ""},
	{"echo x > M", "mkdir M", ""},
	{"echo x > M", "ln -s a M; echo y > M", "proj/M"},
	{"echo x > a", "echo x > a", "proj/a"},
	{"echo x > a", "echo x >> a", "proj/a"},
	{"echo x > a", "echo x > b", ""},
	{"echo x > a", "echo x > link", "proj/a"},
	{"echo x > a", "rm a", ""},
	{"echo x > a", "mv a b", ""},
	{"echo x > a", "exec 3> a; echo y >&3; echo z > b", "proj/a"},
	{"echo x > link", "echo x > link", "proj/a"},
	{"echo x > link", "rm link", ""},
	{"echo x > dir/M", "echo x > dir/M", "proj/dir/M"},
	{"echo x > dir/M", "echo x > dir/c", ""},
	{"cat a > M", "cat a > M; head a", "proj/M"},
	{"cat a > M", "cat a > M; touch N", "proj/M"},
	{"cat a > M", "cat a > M; python3 -c 'open(\"N\",\"w\")'", "proj/M"},
	{"echo x > ../out/M", "echo x > ../out/M", "out/M"},
	{"echo x > ../out/M", "echo x > M", ""},
	{"echo x > ../out/M", "chmod 777 a", ""},
	{"echo x > ../out/M", "touch -d 2001-01-01 a", ""},
	// Programs that write where a file is.
	{"tee a < b", "tee a < b", "proj/a"},
	{"tee a < b", "tee b < a", ""},
	{"tee a < b", "tee M < a", ""},
	{"tee a < b", "tee -a a < b; echo x > b", "proj/a"},
	{"tee dir/c < b", "tee dir/d < b", ""},
	{"truncate -s 0 a", "truncate -s 0 a", "proj/a"},
	{"truncate -s 0 a", "truncate -s 0 b", ""},
	{"cp b a", "cp b a", "proj/a"},
	{"cp b a", "cp a b", ""},
	{"dd if=b of=a", "dd if=b of=a", "proj/a"},
	{"sort -o a b", "sort -o b a", ""},
	// Programs that make, replace and remove files: their folder, and all below it.
	{"rm dir/c", "rm dir/c", "proj/dir/c"},
	{"rm dir/c", "rm dir/d", "proj/dir/d"}, // the kernel cannot be narrower
	{"rm dir/c", "rm a", ""},
	{"rm dir/c", "rm sub/f", ""},
	{"rm dir/c", "echo x > a", ""},
	{"rm dir/deep/e", "rm dir/c", ""},
	{"rm -r dir/deep", "rm -r dir/deep", "proj/dir/deep/e"},
	{"rm -r dir/deep", "rm -r sub", ""},
	{"sed -i s/c/x/ dir/c", "sed -i s/c/x/ dir/c", "proj/dir/c"},
	{"sed -i s/c/x/ dir/c", "sed -i s/a/x/ a", ""},
	{"sed -i s/c/x/ dir/c", "sed '1e touch dir/M' a", ""},
	{"touch sub/M", "touch sub/M", "proj/sub/M"},
	{"touch sub/M", "touch M", ""},
	{"mkdir -p sub/x/y", "mkdir -p sub/x/y && echo z > sub/x/y/M", "proj/sub/x/y/M"},
	{"mkdir sub/x", "mkdir x", ""},
	{"mv dir/c sub/h", "mv dir/c sub/h", "proj/dir/c proj/sub/h"},
	{"mv dir/c sub/h", "mv a b", ""},
	{"mv dir/c sub/h", "mv sub/f dir/f", "proj/dir/f proj/sub/f"},
	{"cp a sub/M", "cp a sub/M", "proj/sub/M"},
	{"cp -r dir sub/M", "cp -r dir M", ""},
	{"ln -s ../a sub/M", "ln -s ../a sub/M", "proj/sub/M"},
	{"touch sub/M", "cat a; sh run.sh", ""},
	{"touch sub/M", "mkfifo sub/M", ""}, // another program
	{"rm sub/f", loader + " /usr/bin/tee a M", ""},
	{"rm sub/f", loader + " /usr/bin/touch a", "proj/a"}, // nor does it see times and modes where something is written
	{"rm sub/f", loader + " /usr/bin/touch sub/M", "proj/sub/M"},
	// What is not known holds to the whole profile.
	{"make", "touch M; echo x > ../out/M", "out/M proj/M"},
	{"touch $(date +%s)", "touch M", "proj/M"},
	{"python3 x.py", "touch M", "proj/M"},
}

func TestWallProbes(t *testing.T) {
	p := newPretence(t)
	for _, tt := range wallProbes {
		changed, r := p.changed(tt.as, tt.text)
		if got := strings.Join(changed, " "); got != tt.changed {
			t.Errorf("%q as %q changed %q, want %q: %+v", tt.text, tt.as, got, tt.changed, r)
		}
	}
}

// TestWallChangesNothing runs real commands of each class with and without the wall: what
// they print, how they end and what they leave is the same.
func TestWallChangesNothing(t *testing.T) {
	enough := rounds.N(40, 200)
	walled, plain := newWorld(t, "sandbox: {paths: {.: {root: TOP/proj, mode: rw}}}"), newWorld(t, "sandbox: {paths: {.: {root: TOP/proj, mode: rw}}}")
	plain.without.Wall = true
	count := map[string]int{}
	texts := append(slices.Clone(everyday), realCommands(t)...)
	for _, w := range []*world{walled, plain} {
		w.box = w.open(everydayPolicy, nil)
	}
	for _, text := range texts {
		class := walled.class(text)
		if count[class] >= enough || unsteady.MatchString(text) {
			continue
		}
		want := plain.runs(text)
		if want == "" {
			continue
		}
		if got := walled.runs(text); got != want && want == plain.runs(text) { // others are never the same
			t.Errorf("%s: %q\nwith the wall: %s\nwithout: %s", class, text, got, want)
		}
		count[class]++
	}
	t.Logf("%v", count)
	for _, class := range []string{"reads", "writes"} {
		if count[class] < enough {
			t.Errorf("only %d commands of the class %q", count[class], class)
		}
	}
}

// everydayPolicy lets everything run that does not leave the project.
const everydayPolicy = `
version: 1
sandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: {read: allow, write: allow, delete: allow}}}}
shell: {default: {approval: allow}}
`

// unsteady are commands that wait, use the network or tell the time.
var unsteady = regexp.MustCompile(`curl|wget|ssh|sleep|watch|top\b|date|time|tail -f|RANDOM|uuid|ps\b|\$\$|uptime|free\b|df\b|mktemp|kill|sudo|apt|docker|vim?\b|nano|less|more|journalctl|systemctl|git clone|git push|git pull|git fetch|npm|pip|yarn|cargo|go (test|build|run|get|install|vet|mod)|make|pytest|npx|node|tsc|eslint|prettier|vite|jest`)

// everyday are commands of each class that use what a strict wall would break.
var everyday = []string{
	"cat <<< \"$(head -c 200000 /dev/zero | tr '\\0' x)\" | wc -c", "seq 200000 | sort -R --random-source=/etc/hostname -S 1M | sort -n -S 1M | tail -1", "t=$(mktemp) && echo x > \"$t\" && cat \"$t\"",
	"git log | cat", "git --no-pager log -1 --format=%s", "PAGER=cat git log --format=%s", "diff <(sort a.txt) <(sort b.txt)", "cat <(echo a) <(echo b)", "echo x >/dev/stderr", "echo x | tee /dev/stderr",
	"cat a.txt > /dev/stdout", "echo x > /dev/null 2>&1", "echo x 2>/dev/tty; true", "git status --short", "git diff --stat", "which ls cat", "egrep a a.txt", "fgrep a a.txt", "find . -name '*.txt' -exec cat {} +",
	"find . -name '*.txt' -print0 | xargs -0 wc -l", "awk '{print $1}' a.txt", "sed -n 1p a.txt", "ls -la | awk '{print $5}'", "sort a.txt | uniq -c", "grep -n a a.txt | head", "cat a.txt | python3 -c 'import sys; print(len(sys.stdin.read()))'",
	"echo x > new.txt; cat new.txt", "echo x > a.txt && cat a.txt", "mkdir -p x/y/z && touch x/y/z/f && ls x/y/z", "sed -i s/a/b/ a.txt && cat a.txt", "rm a.txt; ls", "mv a.txt c.txt; ls", "cp a.txt d.txt; ls", "cp -r src copy; ls copy",
	"git add a.txt", "git add -A && git commit -qm x && git log --format=%s", "git stash -q; git stash pop -q; git status --short", "git switch -qc other; git branch --show-current", "git checkout -q -b third; echo x >> a.txt; git commit -qam y; git switch -q -; cat a.txt",
	"git mv a.txt e.txt; git status --short", "git rm -q a.txt; ls", "git tag v1; git tag", "git branch b1; git branch --list", "git reset -q", "git restore a.txt", "git merge -q HEAD", "echo a | tee new.txt b.txt", "printf 'x\\n' >> a.txt; tail -1 a.txt",
	"cat > conf.json <<'E'\n{\"a\": 1}\nE\ncat conf.json", "tr a-z A-Z < a.txt > upper.txt; cat upper.txt", "sort -o a.txt a.txt; cat a.txt", "ln -s a.txt l; readlink l", "chmod +x a.txt; ls -l a.txt | cut -c1-10", "touch -d 2001-01-01 a.txt; ls --time-style=+%Y -l a.txt | awk '{print $6}'",
	"for f in *.txt; do echo $f; done", "for i in 1 2 3; do echo $i > f$i; done; cat f1 f2 f3", "rm -rf src && ls", "mkdir d1 && rmdir d1 && ls", "truncate -s 0 a.txt; wc -c a.txt", "split -l 1 a.txt part. && ls", "tar cf s.tar src && tar tf s.tar && rm s.tar", "gzip -k a.txt && ls",
	"ulimit -n 100; cat a.txt; bash -c 'ulimit -n' || true", "ulimit -f 1000 -t 100; ls", "umask 077; touch private; ls -l private | cut -c1-10", "(umask 000; echo x > open; ls -l open | cut -c1-10)", "exec 3> out.txt; echo x >&3; cat out.txt", "{ echo a; echo b; } > both; cat both", "cat nothere > empty; ls -s empty", "echo x > nodir/f; echo $?",
}

// class is what the wall takes a command for.
func (w *world) class(text string) string {
	w.t.Helper()
	set, err := tool.NewSet(w.box.Tools...)
	must(w.t, err)
	args, err := json.Marshal(map[string]string{"command": text})
	must(w.t, err)
	p, err := set.Prepare(w.t.Context(), policy.Call{Tool: "shell", Arguments: args})
	if err != nil || p.Held == nil {
		return "refused"
	}
	switch first := p.Held()[0]; {
	case strings.HasPrefix(first, "it writes nothing"):
		return "reads"
	case strings.HasPrefix(first, "the whole profile"):
		return "opaque"
	}
	return "writes"
}

// runs runs a text in a fresh small project and returns what can be seen of it.
func (w *world) runs(text string) string {
	w.t.Helper()
	entries, err := os.ReadDir(w.top + "/proj")
	must(w.t, err)
	for _, e := range entries {
		must(w.t, os.RemoveAll(filepath.Join(w.top, "proj", e.Name())))
	}
	for name, text := range map[string]string{"a.txt": "b\na\n", "b.txt": "c\n", "src/main.go": "package main\n", "README.md": "# x\n", "package.json": "{}\n", ".assent/x": ""} {
		w.write("proj/"+name, text)
	}
	git := exec.Command("sh", "-c", "git init -q -b main && git config user.name n && git config user.email e && git add -A && git commit -qm first")
	git.Dir = w.top + "/proj"
	git.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2001-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2001-01-01T00:00:00Z", "HOME="+w.top)
	out, err := git.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%v %s", err, out)
	}
	r := w.call(policy.ModeApproveAll, nil, "shell", map[string]any{"command": text, "timeout": 20})
	got, ran := r.Value.(shell.Result)
	if !ran {
		return ""
	}
	seen := fmt.Sprintf("%d\n%s\n%s\n", got.ExitCode, got.Stdout, got.Stderr)
	must(w.t, filepath.WalkDir(w.top+"/proj", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			seen += fmt.Sprintf("%s %v %q %v\n", strings.TrimPrefix(path, w.top), info.Mode(), data, err)
		} else if err == nil {
			seen += fmt.Sprintf("%s %v\n", strings.TrimPrefix(path, w.top), info.Mode())
		}
		return err
	}))
	return strings.ReplaceAll(seen, w.top, "TOP")
}

// What the kernel refuses beyond the reading is an event of its own; what a command fails at
// by itself is none.
// S52 Caught by the kernel.
func TestTripwire(t *testing.T) {
	p := newPretence(t)
	for _, tt := range []struct{ as, text, told string }{
		{"cat a", "touch M", "starting touch"},
		{"cat a", "echo x > M", "changing PROJ/M"},
		{"cat a", "cat a > dir/M", "changing PROJ/dir/M"},
		{"touch sub/M", "touch M", "changing PROJ/M"},
		{"sed -i s/c/x/ dir/c", "sed -i s/a/x/ a", "changing PROJ/sed"},
		{"tee a < b", "tee b < a", "changing PROJ/b"},
		{"mv dir/c sub/h", "mv a b", "changing PROJ/a"},
		{"cat a", "cat nothere", ""},
		{"cat a", "cat /etc/shadow", ""},
		{"touch sub/M", "touch /etc/M", ""},
		{"touch sub/M", "touch sub/M", ""},
		{"rm sub/f", "rm sub/nothere", ""},
		{"make", "echo x > M", ""},
		{"cat a", "git status", "starting git"},
		{"git status", "git status", ""},
		{"git log --oneline", "git log --oneline", ""},
	} {
		p.events = nil
		_, r := p.changed(tt.as, tt.text)
		var told []string
		for _, e := range p.events {
			if e.Kind == approval.EventTripped {
				told = append(told, e.Why)
			}
		}
		want := strings.ReplaceAll(tt.told, "PROJ", p.top+"/proj")
		if tt.told == "" && len(told) > 0 || tt.told != "" && (len(told) == 0 || !strings.Contains(told[0], want) || !strings.Contains(r.Note, want)) {
			t.Errorf("%q as %q: told %q, want %q: %+v", tt.text, tt.as, told, want, r)
		}
	}
}

// Git that was approved writes the repository, and neither hooks nor config.
func TestGitThatWasApprovedWorks(t *testing.T) {
	w := newWorld(t, everydayPolicy)
	if seen := w.runs("echo x >> a.txt && git add -A && git commit -qm second && git log --format=%s"); !strings.HasPrefix(seen, "0\nsecond\nfirst\n") {
		t.Error(seen)
	}
	for _, text := range []string{
		"git commit -q --allow-empty -m x; echo '#!/bin/sh' > .git/hooks/pre-commit", "git commit -q --allow-empty -m x; git config core.pager x",
		"git commit -q --allow-empty -m x; echo '* filter=x' > .git/info/attributes", "git commit -q --allow-empty -m x; mkdir .git/modules/x", "make",
	} {
		w.runs("true")
		w.write("proj/Makefile", "all:\n\tgit commit -q --allow-empty -m x\n")
		before := tree(t, w.top+"/proj/.git")
		r := w.call(policy.ModeApproveAll, nil, "shell", map[string]any{"command": text})
		for name, was := range tree(t, w.top+"/proj/.git") {
			for _, fixed := range []string{"hooks", "config", "info", "modules"} {
				if (name == fixed || strings.HasPrefix(name, fixed+"/")) && before[name] != was {
					t.Errorf("%q changed %s: %s", text, name, r.Text)
				}
			}
			if text == "make" && before[name] != was {
				t.Errorf("make changed %s: %s", name, r.Text)
			}
		}
	}
	// Where the policy says that git may not, it may not.
	w.box = w.open(strings.Replace(everydayPolicy, "allow}}}}", "allow}}}, git_write: false}", 1), nil)
	if seen := w.runs("git add -A && git commit -q --allow-empty -m second"); strings.HasPrefix(seen, "0\n") {
		t.Error(seen)
	}
}

// tree is the files of a folder with their content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[name] = string(data)
		return err
	}))
	return out
}

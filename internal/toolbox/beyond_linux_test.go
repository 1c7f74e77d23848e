package toolbox_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell/analysis"
)

// A root below ~/.config, ~/.cache or ~/.local is not a private place of the command: only what it
// was read to write can be written there.
func TestWallOfARootInTheHomesConfig(t *testing.T) {
	for _, place := range []string{".config", ".local/share", ".cache", "code"} {
		w := newWorld(t, "sandbox: {paths: {.: {root: TOP/proj, mode: rw}}}")
		p := &pretence{world: w}
		p.without.Running = true
		p.read = func(text, dir string, world analysis.World) (*analysis.Script, error) {
			script, err := analysis.Read(text, dir, world)
			if err != nil {
				return nil, err
			}
			other, err := analysis.Read("echo x > M", dir, world)
			script.Parts, script.Odd, script.Files = other.Parts, "", nil
			return script, err
		}
		must(t, os.MkdirAll(w.top+"/home/"+place+"/proj", 0o755))
		must(t, os.WriteFile(w.top+"/home/"+place+"/proj/a", []byte("a\n"), 0o644))
		p.box = p.open("version: 1\nsandbox: {paths: {.: {root: TOP/home/"+place+"/proj, mode: rw, approval: {read: allow, write: allow, delete: allow}}}}\nshell: {cwd: ., default: {approval: allow}}\n", nil)
		r := p.shell(loader + " /bin/sh -c 'echo x > M; echo evil > a; echo evil > N'; echo x > a")
		data, _ := os.ReadFile(w.top + "/home/" + place + "/proj/a")
		if string(data) != "a\n" {
			t.Errorf("%s: a is %q: %s", place, data, r.Text)
		}
	}
}

// A command that starts no program is held to that.
func TestWallOfACommandWithoutPrograms(t *testing.T) {
	p := newPretence(t)
	for _, as := range []string{"echo hi", "echo x > M", "cd dir"} {
		for _, text := range []string{"ls", "cat a", "head a"} {
			_, r := p.changed(as, text)
			if r.ExitCode == 0 || !strings.Contains(r.Stderr, "ermission denied") {
				t.Errorf("%q as %q: %+v", text, as, r)
			}
		}
	}
}

// What explain says of a wall is what the wall allows: a file that does not exist yet, or lies
// in a folder that does not, opens no more than was said.
func TestWallOfWhatIsNotThereYet(t *testing.T) {
	p := newPretence(t)
	for _, tt := range []struct{ as, text string }{
		{"tee M < a", "tee b < a"},
		{"tee M < a", "tee dir/deep/e < a"},
		{"cp a nodir/M", "cp a sub/f"},
		{"touch dir/nodir/M", "touch dir/deep/N"},
		{"tee a /nodir/x < b", "tee b < a"},
		{"echo x > a; tee /nodir/x < a", "tee sub/f < a"},
		{"echo x > a; touch /nodir/x", "touch sub/N"},
		{"echo x > a; mkdir -p /nodir/x", "mkdir -p sub/x"},
		{"echo x > a; rm -f /nodir/x", "rm -f sub/f"},
		{"echo x > a; touch /home/nobody/x", "touch sub/N"},
	} {
		p.fill()
		p.as = tt.as
		said := p.saidOf(tt.text)
		changed, r := p.changed(tt.as, tt.text)
		for _, name := range changed {
			covered := slices.ContainsFunc(said, func(line string) bool {
				dir, _, ok := strings.Cut(strings.TrimPrefix(line, "it may make, change and remove files in "), " and below")
				return ok && sandbox.Below(dir, p.top+"/"+name)
			})
			if !covered {
				t.Errorf("%q as %q changed %q; said %q %s", tt.text, tt.as, changed, said, r.Stderr)
			}
		}
	}
}

func (p *pretence) saidOf(text string) []string {
	p.t.Helper()
	set, err := tool.NewSet(p.box.Tools...)
	must(p.t, err)
	args, _ := json.Marshal(map[string]string{"command": text})
	q, err := set.Prepare(p.t.Context(), policy.Call{Tool: "shell", Arguments: args})
	must(p.t, err)
	return q.Held()
}

// A new thread has the rules of the one before it: names that programs turned elsewhere
// meanwhile do not widen them.
func TestWallIsNotWidenedByLinks(t *testing.T) {
	p := newPretence(t)
	for _, tt := range []struct{ as, text, changed string }{
		{"mv dir/c dir/q; ln -s b dir/w; rm dir/deep/e; echo z > M", "mv dir/deep dir/old; ln -s ../sub dir/deep; echo z > M; rm sub/f", "proj/M proj/dir/deep/e proj/dir/old/e"},
	} {
		changed, r := p.changed(tt.as, tt.text)
		if got := strings.Join(changed, " "); got != tt.changed {
			t.Errorf("%q as %q changed %q, want %q: %+v", tt.text, tt.as, got, tt.changed, r)
		}
	}
}

// A name that begins outside of the roots and leads into one is a file of that root: a pattern,
// or a folder above it.
func TestHeldCommandsAskForWhatLiesBelowAName(t *testing.T) {
	for _, approval := range []string{"{read: allow, write: ask, delete: ask}", "{read: ask, write: ask, delete: ask}"} {
		w := newWorld(t, "version: 1\nsandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: "+approval+"}}}\nshell: {cwd: ., presets: [readonly], judge: running, default: {approval: ask, when_sandboxed: allow}}\n")
		for _, text := range []string{
			"rm -f ../*/a", "rm -f TOP/pro?/a", "echo evil > ../*/a", "tee ../p[r]oj/a <<< evil", "chmod 777 ../*/a", "mv ../*/a /tmp/", "cd /; rm -f .TOP/*/a",
			"find .. -name a -exec rm {} +", "mkdir -p /tmp/s/proj; echo evil > /tmp/s/proj/a; cp -r /tmp/s/. ..", "cat ../*/a",
		} {
			w.write("proj/a", "a\n")
			r := w.shell(strings.ReplaceAll(text, "TOP", w.top))
			data, err := os.ReadFile(w.top + "/proj/a")
			info, _ := os.Stat(w.top + "/proj/a")
			if err != nil || string(data) != "a\n" || info.Mode().Perm()&0o111 != 0 {
				t.Errorf("%s: %q changed it without a question: %s", approval, text, r.Text)
			} else if strings.Contains(text, "cat") && strings.Contains(approval, "read: ask") && strings.Contains(r.Text, `"a\n"`) {
				t.Errorf("%s: %q read it without a question: %s", approval, text, r.Text)
			}
			os.Chmod(w.top+"/proj/a", 0o644)
		}
	}
}

// What a command leaves in .git, or adds to the index, does not make the person's next git run
// programs or write files elsewhere.
func TestGitLeavesNothingThatRunsLater(t *testing.T) {
	conf := "version: 1\nsandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: {read: allow, write: allow, delete: allow}}}}\nshell: {cwd: ., presets: [readonly, git], judge: running, default: {approval: ask, when_sandboxed: allow}}\n"
	for name, text := range map[string]string{
		"a repository as submodule":   "git init -q n && git -C n -c user.name=a -c user.email=b commit -q --allow-empty -m x && git -C n config core.fsmonitor 'touch TOP/ran;:' && git add n",
		"the folder as repository":    "git add a.txt; bash ./bare",
		"a link that git writes over": "git add a.txt; bash ./links",
	} {
		w := newWorld(t, conf)
		w.runs("true") // a repository
		w.write("victim", "mine\n")
		w.write("proj/bare", "mv .git/HEAD .git/x; cp -r .git/refs .git/objects .; echo ref: refs/heads/main > HEAD; printf '[core]\\nrepositoryformatversion=0\\nbare=false\\nworktree=.\\nfsmonitor=touch "+w.top+"/ran;:\\n' > config\n")
		w.write("proj/links", "ln -sf ../../victim .git/COMMIT_EDITMSG\n")
		r := w.shell(strings.ReplaceAll(text, "TOP", w.top))
		person := exec.Command("sh", "-c", "git status --short; git commit -q --allow-empty -m 'a message'")
		person.Dir, person.Env = w.top+"/proj", append(os.Environ(), "HOME="+w.top)
		out, _ := person.CombinedOutput()
		if _, err := os.Stat(w.top + "/ran"); err == nil {
			t.Errorf("%s: a program ran: %s\n%s", name, r.Text, out)
		}
		if data, _ := os.ReadFile(w.top + "/victim"); string(data) != "mine\n" {
			t.Errorf("%s: the file outside is %q: %s\n%s", name, data, r.Text, out)
		}
	}
}

// Code of the project that runs without a question does not read secrets: they keep their own
// word.
func TestSecretsAreHiddenFromWhatAPresetAllows(t *testing.T) {
	w := newWorld(t, "version: 1\nsandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: {read: allow, write: ask, delete: ask}}}}\nshell: {cwd: ., presets: [make], default: {approval: ask}}\n")
	w.write("proj/.env", "K=hidden\n")
	w.write("proj/Makefile", "all:\n\tcat .env\n")
	w.box = w.open("version: 1\nsandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: {read: allow, write: ask, delete: ask}}}}\nshell: {cwd: ., presets: [make], default: {approval: ask}}\n", nil)
	if r := w.shell("make"); r.Err != nil || !strings.Contains(r.Text, "cat .env") || strings.Contains(r.Text, "K=hidden") {
		t.Error(r.Text, r.Err)
	}
	w.box = w.open("version: 1\nsandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: {read: allow, write: allow, delete: allow}}}}\n"+
		"shell: {cwd: ., default: {approval: ask}}\nrules: ['allow project_code(TOP/proj)']\n", nil)
	if r := w.shell("make"); r.Err != nil || !strings.Contains(r.Text, "cat .env") || strings.Contains(r.Text, "K=hidden") {
		t.Error(r.Text, r.Err)
	}
}

// Presets leave the word about files to the rules about files.
func TestPresetsWriteNoFilesOfTheirOwn(t *testing.T) {
	conf := "version: 1\nsandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: {read: allow, write: ask, delete: ask}}}}\nshell: {cwd: ., presets: [readonly, git, go, python], default: {approval: ask}}\n"
	w := newWorld(t, conf)
	w.runs("true")
	w.box = w.open(conf, nil)
	if r := w.shell("git switch --orphan x"); true {
		if _, err := os.Stat(w.top + "/proj/a.txt"); err != nil {
			t.Errorf("a.txt: %v: %s", err, r.Text)
		}
	}
}

// Landlock gives a command no /tmp of its own, and does not see modes: what lies outside of the
// roots is the person's.
func TestLandlockHasNoPrivatePlaces(t *testing.T) {
	w := newWorld(t, "version: 1\nsandbox: {paths: {.: {root: TOP/proj, mode: ro, approval: {read: allow}}}}\nshell: {cwd: ., presets: [readonly], default: {approval: ask, when_sandboxed: allow}}\n",
		func(h *toolbox.Hold) { h.Runner = renamed{h.Runner} })
	for _, text := range []string{"chmod 644 /tmp/mine", "touch -d 2001-01-01 /tmp/mine", "chmod 644 " + w.top + "/mine"} {
		if r := w.shell(text); strings.Contains(r.Text, "exit_code") {
			t.Errorf("%q ran without a question: %s", text, r.Text)
		}
	}
}

// A renamed runner stands for Landlock, as far as judging goes.
type renamed struct{ sandbox.Runner }

func (renamed) Name() string { return "landlock" }

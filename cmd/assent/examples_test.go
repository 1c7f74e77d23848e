package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/tool/roots"
)

// What config names runs silently; undoing the line brings the prompt back.
// S04 Pre-approve in config.
func TestPreApproveInConfig_NotesExample(t *testing.T) {
	p := example(t, "notes")
	x := p.at("run", "--model", "script:try.yaml", "notes.worker", "Write the report.")
	x.asked("Create output/report.md", "!cache/found.json")
	x.types("y")
	x.ends(0, "✓ write_file: free", "The report is in output/report.md.")
	p.has("cache/found.json", "{\"items\": 3}\n")
	p.has("output/report.md", "# Report\n\nThree items.\n")

	x = p.at("run", "--model", "script:try.yaml", "--set", "sandbox.paths.cache.approval.write=ask", "notes.worker", "Write the report.")
	x.asked("cache/found.json")
	x.types("y")
	x.asked("output/report.md")
	x.denies("")
	x.ends(0, "You did not want the report.")
}

// The command of the README that needs no key works from the repository's root.
func TestTheReadmesCommandWithoutAKey(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^assent (run --model script:\S+ \S+) "([^"]+)" +# without a key$`).FindSubmatch(readme)
	if found == nil {
		t.Fatal("the README has no such command")
	}
	p := &project{story: &story{t: t, dir: t.TempDir()}, home: t.TempDir()}
	if err := os.CopyFS(filepath.Join(p.dir, "examples"), os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	x := p.at(append(strings.Fields(string(found[1])), string(found[2]))...)
	x.sees("Trust it? [y/n]")
	x.types("y")
	x.asked("Create output/report.md")
	x.types("y")
	x.ends(0, "The report is in output/report.md.")
}

// What an example makes beside its files is not for git.
func TestExamplesLeaveNothingForGit(t *testing.T) {
	ignored, err := os.ReadFile("../../.gitignore")
	if err != nil {
		t.Fatal(err)
	}
	workers, err := filepath.Glob("../../examples/*/*.worker")
	if err != nil || len(workers) == 0 {
		t.Fatalf("%v, %v", workers, err)
	}
	for _, name := range workers {
		f, err := config.Read(name, config.WorkerFile)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range f.Policy.Roots {
			rel, err := filepath.Rel(filepath.Dir(f.Folder), r.Host)
			if r.Mode != roots.ModeReadWrite || rel == filepath.Base(f.Folder) {
				continue
			}
			rel = filepath.Join("examples", rel)
			if err != nil || !strings.Contains(string(ignored), "\n/"+rel+"/\n") {
				t.Errorf("%s: %s is not in .gitignore (%v)", name, rel, err)
			}
		}
	}
}

func TestGitHelperExample(t *testing.T) {
	p := example(t, "git-helper")
	init := exec.Command("git", "init", "--quiet", p.dir)
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(p.home, ".gitconfig"), []byte("[user]\n\tname = Ada\n\temail = ada@example.org\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := p.at("run", "--model", "script:try.yaml", "git-helper.worker", "What is new?")
	x.asked("Stage files for commit", "git add .", "✓ shell: free")
	x.types("y")
	x.asked("git commit -qm")
	x.types("y")
	x.ends(0, "✗ shell: blocked", "work would be lost", "Done.")
	log := exec.Command("git", "-C", p.dir, "log", "--format=%an: %s", "--stat")
	if out, err := log.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "Ada: What was new\n") || !strings.Contains(string(out), "git-helper.worker") {
		t.Errorf("nothing was committed: %v\n%s", err, out)
	}
}

func TestDelegationExample(t *testing.T) {
	p := example(t, "delegation")
	x := p.at("run", "--model", "script:try.yaml", "lead.worker", "What is it about?")
	x.asked("Share input/sensitive.md (29 bytes) with analyst")
	x.types("y")
	x.asked("Call worker analyst with 1 attachment")
	x.types("y")
	x.ends(0, "The analyst says: The document is about a merger.")

	x = p.at("run", "--model", "script:try.yaml", "lead.worker", "What is it about?")
	x.asked("Share input/sensitive.md")
	x.denies("")
	x.ends(0, "Then I cannot say what is in it.")
}

func TestCustomToolExample(t *testing.T) {
	p := example(t, "custom-tool")
	x := p.at("run", "--model", "script:try.yaml", "notify.worker", "Tell them.")
	x.asked("slack_notify", "Send to #general: Build completed!")
	p.hasNot("sent/message.json")
	x.types("y")
	x.ends(0, "The tool says: Sent.")
	p.has("sent/message.json", "{\"channel\":\"general\",\"message\":\"Build completed!\"}\n")
}

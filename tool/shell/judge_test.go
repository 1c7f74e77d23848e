package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
)

func allow(patterns ...string) []Rule { return said(tool.WordAllow, patterns...) }
func deny(patterns ...string) []Rule  { return said(tool.WordDeny, patterns...) }

func said(word tool.Word, patterns ...string) (out []Rule) {
	for _, p := range patterns {
		out = append(out, Rule{Pattern: p, Approval: word, Source: "policy.yaml:9"})
	}
	return out
}

func TestNothingSaidAsks(t *testing.T) {
	b := newBench(t, Config{})
	b.all("ask", "ls", "git status", "true", "./run.sh", "nosuchprogram x")
	b.all("deny", "echo 'unclosed", "if true", "", "   ", "# only a comment")
}

func TestARuleCoversWholeWords(t *testing.T) {
	b := newBench(t, Config{Rules: allow("git status", "go test", "ls", "nosuch", "other *")})
	b.all("allow", "git status", "git status --short", "'git' status", "git  status \\\n --short", "go test ./...",
		"ls -la", "ls src/*.go", "nosuch", "other a b", "git status; ls", "git status | ls")
	b.all("ask", "git statusx", "git -C src status", "/usr/bin/git status", "go test -exec ./run.sh", "go test -o out",
		"git status && git add x", "ls > out", "ls /etc", "nosuch $X", "nosuch a b", "FOO=1 git status", "ls $(echo x)")
}

func TestADenyWinsWhereverItStands(t *testing.T) {
	cfg := Config{Rules: append(allow("git"), deny("git push", "rm", "git reset --hard")...), Default: Default{Approval: tool.WordAllow}}
	b := newBench(t, cfg)
	b.all("deny", "git push", "git -C . push", "env git push", `r""m -rf x`, "sudo rm x", "bash -c 'rm x'",
		"git reset -q HEAD~1 --hard", "git reset --har", "ls; rm x", "echo $(rm x)", "rm --recursive x", "find . -exec rm {} +", "/bin/rm x")
	b.all("person", "$X x", "python3 -c 'print(1)'", "echo x | sh", "eval $X")
	b.all("allow", "git log", "echo rm", "ls -la")
}

func TestFirstMatchAmongRules(t *testing.T) {
	cfg := Config{Rules: append(said(tool.WordAsk, "git commit"), allow("git")...)}
	b := newBench(t, cfg)
	b.all("ask", "git commit -m x", "git -c a.b=c commit")
	b.all("allow", "git log")
	if hidden := (Config{Rules: append(allow("git"), said(tool.WordAsk, "git commit")...)}).Hidden(); len(hidden) != 1 ||
		!strings.Contains(hidden[0], `"git commit" is never reached: the one for "git"`) {
		t.Errorf("hidden: %q", hidden)
	}
}

func TestThePresetOnlyReads(t *testing.T) {
	b := newBench(t, Config{Readonly: true})
	b.all("allow", "ls -la", "cat README.md | sort | uniq -c", "git log --oneline -3", "git diff HEAD~1 --stat", "rg TODO src",
		"find . -name '*.go'", "sed -n 1,5p README.md", "cd src && cat a.go", "head -n 3 src/*.go", "echo hi; pwd; true")
	b.all("ask", "sort -o out README.md", "uniq README.md out", "sed -i s/a/b/ README.md", "find src -delete", "git diff --output=x",
		"cat /etc/passwd", "cd /tmp && ls", "sort *", "git -c core.fsmonitor=x status", "git --paginate log", "tee out", "cat "+b.home+"/.ssh/id_rsa")
}

func TestAProgramInAFolderThatToolsWriteIsNotFree(t *testing.T) {
	b := newBench(t, Config{Readonly: true})
	b.all("ask", "PATH=src:$PATH ls", "export PATH=src; ls")
}

func TestRepositorySettingsThatRunProgramsAsk(t *testing.T) {
	b := newBench(t, Config{Readonly: true, Rules: allow("git log")})
	b.all("allow", "git status", "git log")
	b.git("config", "core.fsmonitor", "./run.sh")
	b.all("ask", "git status")
	p, err := b.propose("git status")
	if err != nil || !strings.Contains(p.Acts[0].Why, "core.fsmonitor") {
		t.Errorf("the setting is not named: %v, %v", p.Acts, err)
	}
}

func TestFilesHoldInTheShell(t *testing.T) {
	b := newBench(t, Config{Readonly: true, Rules: allow("cp", "rm", "find", "git clean", "tee")},
		"deny read_file(**/.env)", "deny delete_file(src/**)", "deny delete_file(proj/src/**)")
	b.all("deny", "cat .env", "wc -c ./.env", "P=.env; cat $P", "rm src/a.go", "find src -delete", "rm -r src", "cat < .env", "cat /proc/self/cwd/.env")
	b.all("person", "cat .e*", "grep -r KEY .", "cat $X")
	b.all("allow", "cp README.md copy.md", "rm README.md", "cat README.md", "grep -r x src")
	b.all("ask", "cat README.md > copy.md", "cp README.md /tmp/x")
	b.all("deny", "cp README.md docs/y.md", "rm .git/config", "tee .git/hooks/pre-commit")
}

func TestSecretsAskInTheShell(t *testing.T) {
	b := newBench(t, Config{Readonly: true, Default: Default{Approval: tool.WordAllow}})
	b.all("ask", "cat .env", "grep -r KEY .", "cat .e*", "cp .env x")
	b.all("allow", "cat .env.example", "grep -r x src")
}

func TestByEffect(t *testing.T) {
	b := newBench(t, Config{Default: Default{ByEffect: true}}, "deny delete_file(**)", "deny connect(**)")
	b.all("allow", "cat src/a.go", "ls", "sort README.md | uniq")
	b.all("ask", "touch x", "cp README.md x", "dd if=/dev/null of=src/a.go", "make", "nosuch", "./run.sh")
	b.all("deny", "rm README.md", "mv README.md x", "curl https://example.org", "git fetch origin", "unlink README.md", "find . -delete", "git clean -fd")
}

func TestHosts(t *testing.T) {
	off := newBench(t, Config{Rules: allow("curl")})
	off.all("deny", "curl https://docs.example.org/x")
	on := newBench(t, Config{Rules: allow("curl"), Network: hosts.Policy{Allow: []string{"docs.example.org"}}})
	on.all("allow", "curl https://docs.example.org/x")
	on.all("ask", "curl http://docs.example.org/x", "curl https://evil.example/x", "curl $URL")
}

func TestRulesHoldAtHome(t *testing.T) {
	b := newBench(t, Config{Rules: allow("npm test"), Cwd: "proj/src"})
	b.all("allow", "npm test")
	b.all("ask", "cd .. && npm test", "cd $X && npm test")
}

func TestSandboxPaths(t *testing.T) {
	rules := []Rule{{Pattern: "pytest", Approval: tool.WordAllow, Paths: []string{"docs"}}, {Pattern: "nosuch *", Approval: tool.WordAllow, Paths: []string{"docs"}}, {Pattern: "cat", Approval: tool.WordAllow, Paths: []string{"docs"}}}
	b := newBench(t, Config{Rules: rules})
	b.all("allow", "cat docs/x.md", "nosuch docs/x.md", "nosuch --out=docs/y")
	b.all("ask", "cat README.md", "cat /etc/passwd", "cat ~/.ssh/id_rsa", "nosuch README.md", "nosuch --output=/etc/x", "nosuch -o/etc/x docs/x.md")
	err := Rule{Pattern: "rm", Approval: tool.WordDeny, Paths: []string{"docs"}}.Check()
	if err == nil || !strings.Contains(err.Error(), "sandbox_paths on a deny") {
		t.Errorf("a deny with sandbox_paths: %v", err)
	}
}

func TestOwnAnsweringCommandsAreBlocked(t *testing.T) {
	b := newBench(t, Config{Default: Default{Approval: tool.WordAllow}})
	b.all("deny", "assent approve x", "/usr/bin/assent rules add 'allow shell'", "env assent grants clear", "bash -c 'assent resume 1'")
	b.all("allow", "assent version", "echo assent approve")
}

func TestOddTextIsForAPerson(t *testing.T) {
	b := newBench(t, Config{Readonly: true, Default: Default{Approval: tool.WordAllow}})
	b.all("person", "ls \u202egnp.exe", "git\u200b log", "ls \x07")
	b.all("deny", "ls \x00")
}

func TestAnAnswerIsForTheScriptItNames(t *testing.T) {
	b := newBench(t, Config{})
	before, err := b.propose("./run.sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "run.sh"), []byte("echo other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := b.propose("./run.sh")
	if err != nil {
		t.Fatal(err)
	}
	if before.State == after.State || before.State.IsZero() {
		t.Error("a changed script is the same call")
	}
}

func TestWhatIsOfferedIsThePartThatAsked(t *testing.T) {
	b := newBench(t, Config{Readonly: true})
	p, err := b.propose("git status && timeout 60 make test")
	if err != nil {
		t.Fatal(err)
	}
	var open []string
	for _, a := range p.Acts {
		if a.Verdict == policy.VerdictAsk {
			open = append(open, a.String())
		}
	}
	if got := strings.Join(open, ","); got != "shell(make test)" {
		t.Errorf("what asks is %s", got)
	}
}

func TestGitMayWriteItsOwnTree(t *testing.T) {
	cfg := Config{Readonly: true, Rules: allow("git checkout", "git clean", "git add")}
	newBench(t, cfg).all("ask", "git checkout main") // part of the tree is read-only
	b := benchOf(t, cfg, false)
	b.all("ask", "git checkout main") // a secret is in the tree
	if err := os.Remove(filepath.Join(b.dir, ".env")); err != nil {
		t.Fatal(err)
	}
	b.all("allow", "git checkout main", "git clean -fd", "git add README.md", "cd src && git checkout main")
	src := benchOf(t, Config{Rules: cfg.Rules, Cwd: "proj/src"}, false)
	src.all("ask", "git checkout main") // the top of the tree has the secret
}

func TestDevicesAreNotFilesUnlessTheyAreAltered(t *testing.T) {
	b := newBench(t, Config{Readonly: true, Rules: allow("mv", "rm", "chmod", "cp", "ln", "dd", "tee")})
	b.all("allow", "ls > /dev/null 2>&1", "cat /dev/null", "dd if=/dev/zero of=/dev/null count=1", "tee /dev/null < README.md")
	b.all("ask", "mv README.md /dev/null", "chmod 600 /dev/null", "cp README.md /dev/null", "ln -sf README.md /dev/null")
	if got := b.judge("rm /dev/null"); got == "allow" {
		t.Error("rm /dev/null is allowed")
	}
}

// What is deleted and not known before it runs may be everything: an empty variable turns
// "$DIR"/* into /*. No rule and no mode answers that.
func TestDeletingWhatIsNotKnownIsForAPerson(t *testing.T) {
	b := newBench(t, Config{Default: Default{Approval: tool.WordAllow}}, "allow shell(rm)", "allow delete_file(**)")
	b.all("person", `rm -rf "$DIR"/*`, `rm -rf ${X}/`, `find "$X" -delete`, `rm -f $(cat list)`, `xargs rm < list`, `rm -rf "$HOME2/x"`)
	for _, known := range []string{"rm -f a.txt", "x=a.txt; rm -f $x", "for f in a.txt; do rm -f $f; done"} {
		if got := b.judge(known); got == "person" {
			t.Errorf("%s: %s", known, got)
		}
	}
}

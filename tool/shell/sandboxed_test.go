package shell

import (
	"os"
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// A fakeSandbox holds nothing, and says what it is told to say.
type fakeSandbox struct {
	alone AutoAllow
	wide  bool
}

func (fakeSandbox) Describe(Command) []string     { return nil }
func (fakeSandbox) Profile(Command) policy.Digest { return policy.Digest{} }
func (f fakeSandbox) AutoAllow() AutoAllow        { return f.alone }
func (f fakeSandbox) Widened(Command) bool        { return f.wide }
func (fakeSandbox) Private(name string) bool      { return strings.HasPrefix(name, "/var/tmp/") }

func heldBench(t *testing.T, s fakeSandbox, rules ...Rule) *bench {
	t.Helper()
	b := newBench(t, Config{Rules: rules, UndoOff: "policy.yaml:1", Default: Default{WhenSandboxed: tool.WordAllow, Source: "policy.yaml:9"}})
	b.tool.opts.Sandbox = s
	return b
}

// Where a root asks before writes, a held command runs if all that it does is known and none of
// it is a write there.
func TestHeldWhereARootAsks(t *testing.T) {
	b := heldBench(t, fakeSandbox{alone: AutoAllow{Asks: "root proj does not allow to write without asking"}})
	b.all("allow", "ls", "cat README.md | wc -l", "go version", "env FOO=1 ls", "rm /var/tmp/x", "git status", "touch /etc/x")
	b.all("ask", "rm README.md", "touch new", "echo x > new", "sed -i s/a/b/ README.md", "cp README.md copy", "touch $X",
		"make", "npm test", "go test ./...", "./run.sh", "python3 -c 1", "bash -c \"$X\"", "nosuchprogram")
	if text := b.acts("make"); !strings.Contains(text, "ask shell(make)") {
		t.Error(text)
	}
	b = heldBench(t, fakeSandbox{})
	b.all("allow", "rm README.md", "touch new", "make", "./run.sh", "python3 -c 1")
	b = heldBench(t, fakeSandbox{alone: AutoAllow{Not: "the network is on"}})
	b.all("ask", "go version", "make")
	b = heldBench(t, fakeSandbox{}, deny("git push")...)
	b.all("person", "python3 -c 1") // it may be what is denied
	b.all("allow", "make")
}

// What a command sees in a /tmp of its own is nobody else's, unless it was let out before.
func TestPrivateFiles(t *testing.T) {
	b := newBench(t, Config{Readonly: true})
	b.all("ask", "cat /var/tmp/x", "ls > /var/tmp/x")
	b.tool.opts.Sandbox = fakeSandbox{}
	b.all("allow", "cat /var/tmp/x", "ls > /var/tmp/x", "cat /var/tmp/x/y")
	b.all("ask", "cat /etc/passwd", "rm /var/tmp/x", "cat /var/tmp/../../etc/passwd", "cat /var/tmp/.env")
	b.tool.opts.Sandbox = fakeSandbox{wide: true}
	b.all("ask", "cat /var/tmp/x")
}

// What is protected stays as it is where a sandbox holds git; without one it is asked.
func TestGitBesideWhatIsProtected(t *testing.T) {
	b := benchOf(t, presetConfig("git"), false)
	b.write(b.dir+"/.assent/policy.yaml", "version: 1\n")
	b.git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "x")
	if err := os.Remove(b.dir + "/.env"); err != nil { // it would be named instead
		t.Fatal(err)
	}
	const among = "among these files is proj/.assent"
	why := func(command string) string {
		p, err := b.propose(command)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, a := range p.Acts {
			all = append(all, a.Why)
		}
		return strings.Join(all, "; ")
	}
	if text := why("git stash"); !strings.Contains(text, among) {
		t.Errorf("without a sandbox: %s", text)
	}
	b.tool.opts.Sandbox = fakeSandbox{}
	if text := why("git stash"); strings.Contains(text, among) {
		t.Errorf("in a sandbox: %s", text)
	}
	b.all("ask", "git stash")  // the root asks before writes
	b.all("person", "rm -r .") // not git
	b.all("ask", "find . -exec rm {} +")
	b.all("deny", "rm .assent/policy.yaml", "echo > .assent/policy.yaml", "git checkout -- .assent/policy.yaml")
}

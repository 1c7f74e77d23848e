package shell

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/shell/wire"
)

// Without a stage an allow that spells the program and its subcommand answers the connections of
// that command as well, whoever says it; nothing wider does.
func TestConnectionsOfASpelledCommand(t *testing.T) {
	on := hosts.Policy{On: true}
	preset, _ := PresetRules("node", "policy.yaml:2")
	for _, c := range []struct {
		name  string
		cfg   Config
		rules []string
		want  string
		texts []string
	}{
		{"config", Config{Rules: allow("npm install", "git push", "pip install"), Network: on}, nil, "allow", []string{"npm install", "npm install left-pad", "git push", "git push origin main", "pip install x", "timeout 60 npm install"}},
		{"rule", Config{Network: on}, []string{"allow shell(npm install)", "allow shell(git push)", "allow write_file(**)"}, "allow", []string{"npm install left-pad", "git push"}},
		{"rule, and a host that it does not spell", Config{Network: on}, []string{"allow shell(git push)", "allow shell(pip install)", "allow write_file(**)"}, "ask", []string{"git push ssh://git@a.example/x", "git push https://evil.example/x main"}},
		{"rule that spells the host", Config{Network: on}, []string{"allow shell(git push ssh://git@a.example/x)"}, "allow", []string{"git push ssh://git@a.example/x"}},
		{"config, and a flag that names a host", Config{Rules: allow("npm install"), Network: on}, nil, "ask", []string{"npm install --registry https://evil.example/"}},
		{"rule, and a flag that names a host", Config{Network: on}, []string{"allow shell(npm install)"}, "ask", []string{"npm install --registry https://evil.example/"}},
		{"config with a program", Config{Rules: allow("npm", "git", "curl"), Network: on}, nil, "ask", []string{"npm install", "git push", "curl https://a.example/", "curl $URL"}},
		{"rule with a program", Config{Network: on}, []string{"allow shell(npm)", "allow shell(git *)", "allow shell(curl)"}, "ask", []string{"npm install", "git push", "curl https://a.example/"}},
		{"every command", Config{Network: on}, []string{"allow shell"}, "ask", []string{"npm install", "git push"}},
		{"a preset", Config{Rules: preset, Network: on}, nil, "ask", []string{"npm install"}},
		{"the default", Config{Default: Default{Approval: tool.WordAllow}, Network: on}, nil, "ask", []string{"npm install", "git push"}},
		{"a URL that is spelled", Config{Rules: allow("curl https://a.example/x"), Network: on}, nil, "allow", []string{"curl https://a.example/x", "curl https://a.example/x -s"}},
		{"a rule with it", Config{Network: on}, []string{"allow shell(curl https://a.example/x)"}, "allow", []string{"curl https://a.example/x"}},
		{"and another URL", Config{Rules: allow("curl https://a.example/x"), Network: on}, nil, "ask", []string{"curl https://a.example/x https://b.example/", "curl https://b.example/"}},
		{"a host that is spelled", Config{Rules: allow("nc a.example"), Network: on}, nil, "allow", []string{"nc a.example 80"}},
		{"exactly", Config{Rules: allow("= yarn"), Network: on}, nil, "allow", []string{"yarn"}},
		{"a program that installs by itself", Config{Rules: allow("yarn"), Network: on}, nil, "ask", []string{"yarn"}},
		{"the network is off", Config{Rules: allow("npm install", "git push")}, nil, "deny", []string{"npm install", "git push"}},
		{"a deny of a host that may be met", Config{Rules: allow("npm install"), Network: on}, []string{"deny connect(evil.example)"}, "person", []string{"npm install"}},
		{"a denied host", Config{Rules: allow("git push"), Network: on}, []string{"deny connect(evil.example)"}, "deny", []string{"git push https://evil.example/x"}},
		{"hosts that config denies", Config{Rules: allow("npm install"), Network: hosts.Policy{On: true, Deny: []string{"evil.example"}}}, nil, "person", []string{"npm install"}},
		{"where rules do not hold", Config{Rules: allow("npm install"), Cwd: "proj/src", Network: on}, nil, "ask", []string{"cd .. && npm install"}},
		{"another command's", Config{Rules: allow("npm install", "curl"), Network: on}, nil, "ask", []string{"npm install && curl https://a.example/"}},
		{"a variable that programs obey", Config{Rules: allow("npm install"), Network: on}, nil, "ask", []string{"NODE_OPTIONS=-r=./x npm install"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := benchOf(t, c.cfg, false, c.rules...)
			b.all(c.want, c.texts...)
		})
	}
}

// A push to a listed host over https is free, whichever of the usual helpers keeps the person's password. Where
// something may lead elsewhere it asks, and says so.
func TestAPushToAListedHost(t *testing.T) {
	b := benchOf(t, Config{Rules: allow("git", "wget", "curl"), Network: hosts.Policy{Allow: []string{"github.com"}}}, false)
	for _, helper := range []string{"store", "manager", "!gh auth git-credential", "!/usr/bin/gh auth git-credential"} {
		b.write(filepath.Join(b.home, ".gitconfig"), "[credential \"https://github.com\"]\n helper = \n helper = "+helper+"\n")
		b.all("allow", "git push https://github.com/a/b main")
	}
	for text, why := range map[string]string{
		"wget -qO- https://github.com/a":   "github.com is listed, but this command may follow redirects",
		"curl -L https://github.com/a":     "github.com is listed, but this command may follow redirects",
		"git push http://github.com/a/b":   "github.com is listed for https on port 443 only; to allow this port, list github.com:80",
		"git push git@github.com:a/b main": "github.com is listed for https on port 443 only; to allow this port, list github.com:22",
	} {
		p, err := b.propose(text)
		if err != nil || len(p.Acts) < 2 || !strings.Contains(p.Acts[1].Why, why) {
			t.Errorf("%s: %v %+v", text, err, p.Acts)
		}
	}
	for _, helper := range []string{"!./x", `"!gh auth git-credential; curl x"`, "!./gh auth git-credential", "mine"} {
		b.write(filepath.Join(b.home, ".gitconfig"), "[credential]\n helper = "+helper+"\n")
		b.all("ask", "git push https://github.com/a/b main")
	}
}

// A host from settings that is listed does not make a command free whose other hosts are not
// known, where nothing judges them as they connect.
func TestAGuessedHostFreesNothing(t *testing.T) {
	b := benchOf(t, Config{Rules: allow("npm", "git"), Network: hosts.Policy{Allow: []string{"registry.npmjs.org", "git.example"}}}, false)
	b.git("remote", "add", "origin", "https://git.example/x")
	b.all("ask", "npm install")
	b.all("allow", "git push", "git fetch origin") // all of whose hosts are known
	b.write(filepath.Join(b.dir, ".git/hooks/pre-push"), "#!/bin/sh\n")
	b.all("ask", "git push")
	for command, want := range map[string]string{
		"npm install left-pad": "allow shell(npm install) would include", "yarn": "allow shell(= yarn) would include", "curl x$X": "name the host in the command",
	} {
		p, err := b.propose(command)
		if err != nil {
			t.Fatal(err)
		}
		says := func(a policy.Act) bool { return a.Name == policy.ActConnect && strings.Contains(a.Why, want) }
		if !slices.ContainsFunc(p.Acts, says) {
			t.Errorf("%s: none of %v says %q", command, p.Acts, want)
		}
	}
	text := b.acts("npm install")
	if !strings.Contains(text, "free connect(registry.npmjs.org:443)") || !strings.Contains(text, "ask connect(unknown url)") {
		t.Error(text)
	}
}

// On a stage each connection is judged when it is made.
func TestConnectionsOnAStage(t *testing.T) {
	staged := func(p hosts.Policy) hosts.Policy { p.Staged = true; return p }
	listed := staged(hosts.Policy{Allow: []string{"registry.npmjs.org", "git.example"}})
	for _, c := range []struct {
		name  string
		cfg   Config
		rules []string
		want  string
		texts []string
	}{
		{"listed", Config{Rules: allow("npm", "git", "curl"), Network: listed}, nil, "allow", []string{"npm install", "git push", "curl https://git.example/", "curl -L https://git.example/"}},
		{"listed for https", Config{Rules: allow("curl"), Network: listed}, nil, "ask", []string{"curl http://git.example/", "curl https://git.example:8443/"}},
		{"not listed, and found in settings", Config{Rules: allow("npm", "git"), Network: staged(hosts.Policy{On: true})}, nil, "allow", []string{"npm install", "git push", "git push origin main"}},
		{"by a rule", Config{Network: staged(hosts.Policy{On: true})}, []string{"allow shell(npm)", "allow shell(git push)"}, "allow", []string{"npm install", "git push"}},
		{"not listed, and spelled", Config{Rules: allow("curl", "git push"), Network: staged(hosts.Policy{On: true})}, nil, "ask", []string{"curl https://a.example/", "git push https://a.example/x"}},
		{"spelled by the rule too", Config{Rules: allow("curl https://a.example/x"), Network: staged(hosts.Policy{On: true})}, nil, "ask", []string{"curl https://a.example/x"}},
		{"not known", Config{Rules: allow("curl"), Network: staged(hosts.Policy{On: true})}, nil, "allow", []string{"curl https://$X/y"}},
		{"not known, and perhaps a file", Config{Rules: allow("curl", "git push"), Network: staged(hosts.Policy{On: true})}, nil, "ask", []string{"curl -- $X", "curl x$X", "git push -- $X"}},
		{"nothing allows the command", Config{Network: staged(hosts.Policy{On: true})}, nil, "ask", []string{"npm install", "git push"}},
		{"denied", Config{Rules: allow("git", "npm"), Network: staged(hosts.Policy{On: true})}, []string{"deny connect(git.example)", "deny connect(registry.npmjs.org)"}, "deny", []string{"git push", "npm install"}},
		{"a deny that may be met is for later", Config{Rules: allow("npm"), Network: staged(hosts.Policy{On: true, Deny: []string{"evil.example"}})}, []string{"deny connect(evil.example)"}, "allow", []string{"npm install"}},
		{"off", Config{Rules: allow("npm install", "git push"), Network: staged(hosts.Policy{})}, nil, "deny", []string{"npm install", "git push"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := benchOf(t, c.cfg, false, append(c.rules, "allow write_file(**)")...)
			b.tool.opts.Sandbox = fakeSandbox{}
			b.git("remote", "add", "origin", "https://git.example/x")
			b.all(c.want, c.texts...)
		})
	}
}

// What happens elsewhere is not seen when it connects.
func TestNotOnTheStage(t *testing.T) {
	b := benchOf(t, Config{Rules: allow("npm"), Network: hosts.Policy{On: true, Staged: true}}, false, "allow write_file(**)")
	b.tool.opts.Sandbox = fakeSandbox{}
	b.all("allow", "npm install")
	if text := b.acts("ssh a.example npm install"); !strings.Contains(text, "ask connect(unknown url)") {
		t.Errorf("on another machine:\n%s", text)
	}
	b.tool.opts.Sandbox = fakeSandbox{wide: true}
	b.all("ask", "npm install") // a person let it out of the sandbox
	b.tool.opts.Sandbox = nil
	b.all("ask", "npm install")
}

func TestHeldOnAStage(t *testing.T) {
	b := heldBench(t, fakeSandbox{})
	b.tool.cfg.Network = hosts.Policy{On: true, Staged: true}
	b.git("remote", "add", "origin", "https://git.example/x")
	b.all("allow", "npm install", "git fetch", "make")
	b.write(filepath.Join(b.home, ".gitconfig"), "[credential]\n helper = ./x\n")
	b.all("allow", "git fetch origin", "git fetch")
	b.all("ask", "curl https://a.example/")
	b.tool.opts.Sandbox = fakeSandbox{wide: true}
	b.all("ask", "npm install", "git fetch")
	b.tool.opts.Sandbox, b.tool.cfg.Network.Staged = fakeSandbox{}, false
	b.all("ask", "npm install", "git fetch")
}

// Where something else is asked, the host is asked with it, and one answer covers both.
func TestAHostIsAskedWithItsCommand(t *testing.T) {
	b := benchOf(t, Config{Network: hosts.Policy{On: true, Staged: true}}, false)
	b.tool.opts.Sandbox = fakeSandbox{}
	b.git("remote", "add", "origin", "https://git.example/x")
	p, err := b.propose("git push")
	if err != nil {
		t.Fatal(err)
	}
	call := policy.Call{Tool: "shell"}
	j := policy.Policy{}.Judge(p.Question(&call, time.Time{}))
	if len(j.Open) != 2 || p.Acts[1].String() != "connect(git.example:443)" || !p.Acts[1].Later {
		t.Fatalf("open are %v of %v", j.Open, p.Acts)
	}
}

// While a command runs, a host that was approved with it is not asked again, and one that was
// left for later is.
func TestAHostIsAskedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		rules []Rule
		want  string
	}{
		"approved":    {nil, "shell(git push), connect(other.example:443)"},
		"not asked":   {allow("git push"), "connect(git.example:443), connect(other.example:443)"},
		"all of them": {allow("git"), "connect(git.example:443), connect(other.example:443)"},
	} {
		b := benchOf(t, Config{Rules: c.rules, Network: hosts.Policy{On: true, Staged: true}}, false)
		b.git("remote", "add", "origin", "https://git.example/x")
		b.tool.opts.Sandbox = fakeSandbox{}
		b.tool.opts.Run = func(ctx context.Context, c Command) (Result, error) {
			for _, host := range []string{"git.example", "other.example"} {
				err := c.Connect(ctx, hosts.Connection{Host: host, Port: "443"}, func() func() { return func() {} })
				if err != nil {
					t.Errorf("%s: %v", host, err)
				}
			}
			return Result{}, nil
		}
		approver := approvaltest.Script(approvaltest.Yes, approvaltest.Yes, approvaltest.Yes)
		g, err := tool.Guard(approval.Config{Approver: approver}, b.tool)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		if r := tool.Call(t.Context(), g, policy.Call{ID: "1", Tool: "shell", Arguments: []byte(`{"command":"git push"}`)}); r.Err != nil {
			t.Fatal(r.Err)
		}
		var asked []string
		for _, r := range approver.Asked() {
			asked = append(asked, r.Acts[0].String())
		}
		if got := strings.Join(asked, ", "); got != c.want {
			t.Errorf("%s: asked about %s, want %s", name, got, c.want)
		}
	}
}

// Whoever approved a connection to a host that was not known has approved the one that the
// settings name by then, where nothing else judges it.
func TestAHostThatSettingsNameLater(t *testing.T) {
	for _, staged := range []bool{false, true} {
		b := benchOf(t, Config{Network: hosts.Policy{On: true, Staged: staged}}, false)
		b.tool.opts.Sandbox = fakeSandbox{}
		b.tool.opts.Run = func(ctx context.Context, c Command) (Result, error) {
			b.git("remote", "add", "origin", "https://late.example/x")
			program := b.tool.opts.World(b.dir).Program("git")
			answer := c.Judge(ctx, wire.Act{Kind: wire.Start, Argv: []string{"git", "push"}, Path: program, Dir: b.dir, Input: wire.Empty}, func() func() { return func() {} })
			if answer.Verdict != wire.Go {
				t.Errorf("git push may not start: %s", answer.Why)
			}
			return Result{}, nil
		}
		approver := approvaltest.Script(approvaltest.Yes)
		g, err := tool.Guard(approval.Config{Approver: approver}, b.tool)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		if r := tool.Call(t.Context(), g, policy.Call{ID: "1", Tool: "shell", Arguments: []byte(`{"command":"git push"}`)}); r.Err != nil {
			t.Fatal(r.Err)
		}
		if asked := approver.Asked(); len(asked) != 1 {
			t.Errorf("on a stage %v: asked %d times, want once", staged, len(asked))
		}
	}
}

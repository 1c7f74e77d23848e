package connector_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/connector"
)

// launcher makes a program of this name that starts the ordinary server, whatever it is given.
func launcher(t *testing.T, name string) string {
	t.Helper()
	argv, env := mcptest.Command(mcptest.Ordinary)
	script := "#!/bin/sh\n"
	for name, value := range env {
		script += fmt.Sprintf("export %s='%s'\n", name, value)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(script+fmt.Sprintf("exec '%s'\n", argv[0])), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

// callEcho opens a server of a command line, calls its echo, which a rule allows, and returns
// why a person was asked; empty if nobody was.
func callEcho(t *testing.T, opts connector.Options, name string, command ...string) string {
	t.Helper()
	c := open(t, connector.FromCommand(name, command, ""), opts)
	person := &asked{}
	g := guard(t, approval.Config{Approver: person, Policy: approvaltest.Rules(t, "allow connector "+c.Name())}, c.Tools()...)
	mustText(t, call(t, g, c.Name()+":echo", args{"text": "x"}), "x")
	if person.count() == 0 {
		return ""
	}
	r := person.last(t)
	v, err := r.View(t.Context())
	if err != nil || !r.PersonOnly {
		t.Fatalf("person only %v, %v", r.PersonOnly, err)
	}
	return r.Why + "\n" + v.Content
}

func TestAnotherVersionOrFolderOfAServerIsAgreedToOnce(t *testing.T) {
	npx := launcher(t, "npx")
	opts := options(newEvents())
	opts.Pins = connector.NewMemoryPins()
	if why := callEcho(t, opts, "", npx, "-y", "@a/server-x@1.2", "~/notes"); why != "" {
		t.Fatalf("met for the first time it asks: %s", why)
	}
	last := "-y @a/server-x@1.2 ~/notes"
	for _, args := range [][]string{{"-y", "@a/server-x@1.3", "~/notes"}, {"-y", "@a/server-x@1.2", "~/work"}} {
		command := append([]string{npx}, args...)
		why := callEcho(t, opts, "", command...)
		if !strings.Contains(why, "launched in another way") || !strings.Contains(why, last) || !strings.Contains(why, strings.Join(args, " ")) {
			t.Errorf("%v: asked because %s", args, why)
		}
		last = strings.Join(args, " ")
		if why := callEcho(t, opts, "", command...); why != "" {
			t.Errorf("%v: asked again because %s", args, why)
		}
	}
	if why := callEcho(t, opts, "", npx, "-y", "@a/server-x@1.2", "~/notes"); why != "" {
		t.Errorf("the first asks again because %s", why)
	}
}

func TestAnotherServerUnderANameIsRefused(t *testing.T) {
	npx, docker := launcher(t, "npx"), launcher(t, "docker")
	opts := options(newEvents())
	opts.Pins = connector.NewFolderPins(filepath.Join(t.TempDir(), "pins"))
	if why := callEcho(t, opts, "", npx, "-y", "@a/server-x", "--token", "hunter2hunter2"); why != "" {
		t.Fatalf("asked because %s", why)
	}
	_, err := connector.Open(t.Context(), connector.FromCommand("", []string{docker, "run", "-i", "b/server-x"}, ""), opts)
	var taken *connector.NameTakenError
	if !errors.As(err, &taken) {
		t.Fatalf("got %v", err)
	}
	text := err.Error()
	if !strings.Contains(text, "-y @a/server-x") || !strings.Contains(text, "run -i b/server-x") || !strings.Contains(text, "--name") || strings.Contains(text, "hunter2") {
		t.Errorf("told %s", text)
	}
	if why := callEcho(t, opts, "other", docker, "run", "-i", "b/server-x"); why != "" {
		t.Errorf("under a name of its own it asks: %s", why)
	}
	if why := callEcho(t, opts, "server-x", docker, "run", "-i", "b/server-x"); !strings.Contains(why, "-y @a/server-x") {
		t.Errorf("in the place of the other it asks: %q", why)
	}
	if _, err := connector.Open(t.Context(), connector.FromCommand("", []string{npx, "-y", "@a/server-x"}, ""), opts); !errors.As(err, &taken) {
		t.Errorf("the other is still there: %v", err)
	}
}

func TestACommandLineUnderTheNameOfAConfigsConnectorIsRefused(t *testing.T) {
	opts := options(newEvents())
	opts.Pins = connector.NewMemoryPins()
	open(t, config("Server-X", mcptest.Ordinary), opts)
	_, err := connector.Open(t.Context(), connector.FromCommand("", []string{launcher(t, "npx"), "server-x"}, ""), opts)
	if taken := (*connector.NameTakenError)(nil); !errors.As(err, &taken) {
		t.Errorf("got %v", err)
	}
}

func TestAConnectorThatIsLaunchedInAnotherWayIsDoubtedUntilAPersonAgrees(t *testing.T) {
	opts := options(newEvents())
	opts.Pins = connector.NewMemoryPins()
	cfg := config("ordinary", mcptest.Ordinary)
	if doubt := open(t, cfg, opts).Doubt(); doubt != "" {
		t.Fatalf("met for the first time it is doubted: %s", doubt)
	}
	cfg.Command = append(cfg.Command, "--more")
	c := open(t, cfg, opts)
	if !strings.Contains(c.Doubt(), "another way") {
		t.Errorf("doubted because %q", c.Doubt())
	}
	if err := c.Agree(t.Context()); err != nil || c.Doubt() != "" {
		t.Errorf("agreed to it is doubted because %q (%v)", c.Doubt(), err)
	}
	if doubt := open(t, cfg, opts).Doubt(); doubt != "" {
		t.Errorf("later it is doubted again: %s", doubt)
	}
}

// What a client's settings give to a server reaches it. Our own marks do not, and a server of
// a config gets what is named.
func TestTheEnvironmentOfACommandLine(t *testing.T) {
	env := []string{"GITHUB_TOKEN=from the client", "LD_LIBRARY_PATH=/x", "GIT_SSH_COMMAND=ssh -v", "ASSENT_CALL=forged", "ASSENT_SANDBOX_PART=serve", "PATH=" + os.Getenv("PATH")}
	opts := options(newEvents())
	opts.Environ = env
	knows := func(cfg connector.Config) string {
		c := open(t, cfg, opts)
		g := guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...)
		return call(t, g, c.Name()+":environ", args{}).Text
	}
	all := knows(connector.FromCommand("", []string{launcher(t, "tides")}, ""))
	for _, entry := range env[:3] {
		if !strings.Contains(all, entry) {
			t.Errorf("%s does not reach it: %s", entry, all)
		}
	}
	if strings.Contains(all, "forged") || strings.Contains(all, "ASSENT_SANDBOX_PART") || !strings.Contains(all, "ASSENT_CALL=connector.tides.") {
		t.Errorf("it has marks of ours: %s", all)
	}
	cfg := config("ordinary", mcptest.Ordinary)
	if few := knows(cfg); strings.Contains(few, "from the client") {
		t.Errorf("one of a config knows %s", few)
	}
	cfg.Pass = []string{"GITHUB_TOKEN"}
	if few := knows(cfg); !strings.Contains(few, env[0]) || strings.Contains(few, "LD_LIBRARY_PATH") {
		t.Errorf("with a name one of a config knows %s", few)
	}
	cfg.Pass = []string{"LD_PRELOAD"}
	if err := cfg.Check(); err == nil {
		t.Error("LD_PRELOAD is passed on")
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/mcptest"
)

// ordinaryEnv makes this test's program a server wherever it reaches.
func ordinaryEnv() (argv, env []string) {
	argv, vars := mcptest.Command(mcptest.Ordinary)
	for name, value := range vars {
		env = append(env, name+"="+value)
	}
	return argv, env
}

func TestMCPServerBehindDashesGetsTheClientsEnvironment(t *testing.T) {
	argv, env := ordinaryEnv()
	cmd := assent(t, append(env, "GITHUB_TOKEN=from-the-settings", "ASSENT_CALL="), append([]string{"mcp", "--approve-all", "--"}, argv...)...)
	c := startMCP(t, cmd)
	got := c.call("environ", "{}")
	if !strings.Contains(got, "GITHUB_TOKEN=from-the-settings") || strings.Count(got, "ASSENT_CALL=") != 1 || strings.Contains(got, `"ASSENT_CALL="`) {
		t.Errorf("it knows %s", got)
	}
}

func TestMCPConnectorOfAConfigGetsWhatIsNamed(t *testing.T) {
	policy, _ := notesPolicy(t, "connectors:\n"+mcpServer("one", mcptest.Ordinary, "")+"rules: [allow connector one]\n")
	for _, c := range []struct {
		flags []string
		knows bool
	}{{nil, false}, {[]string{"--env", "GITHUB_TOKEN"}, true}} {
		m := startMCP(t, assent(t, []string{"GITHUB_TOKEN=from-the-settings"}, append([]string{"mcp", "-c", policy}, c.flags...)...))
		if got := m.call("one__environ", "{}"); strings.Contains(got, "from-the-settings") != c.knows {
			t.Errorf("with %v it knows %s", c.flags, got)
		}
	}
	out, err := assent(t, nil, "mcp", "-c", policy, "--env", "GITHUB_TOKEN").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--env GITHUB_TOKEN: there is no such variable") {
		t.Errorf("told %s", out)
	}
}

// Two servers of one name do not share rules and pins without a word.
func TestMCPServersOfTwoCommandLinesStayApart(t *testing.T) {
	argv, env := ordinaryEnv()
	state := t.TempDir()
	script := func() string {
		folder := filepath.Join(t.TempDir(), "tides")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(folder, "server.sh")
		if err := os.WriteFile(file, fmt.Appendf(nil, "exec '%s'\n", argv[0]), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	mine, other := script(), script()
	run := func(args ...string) string {
		out, err := assent(t, env, append([]string{"mcp", "--state", state}, args...)...).CombinedOutput()
		return fmt.Sprintf("%s (%v)", out, err)
	}
	if got := run("--", "sh", mine); !strings.Contains(got, "connector tides is sh "+mine) || !strings.HasSuffix(got, "(<nil>)") {
		t.Fatalf("told %s", got)
	}
	if got := run("--", "sh", other); !strings.Contains(got, "belongs to another server, launched as: sh "+mine) || !strings.Contains(got, other) || !strings.Contains(got, "exit status 1") {
		t.Errorf("told %s", got)
	}
	if got := run("--name", "tides-2", "--", "sh", other); !strings.Contains(got, "connector tides-2 is sh "+other) || !strings.HasSuffix(got, "(<nil>)") {
		t.Errorf("told %s", got)
	}
	if got := run("--name", "tides-2", "github"); !strings.Contains(got, "--name is for a server after --") {
		t.Errorf("told %s", got)
	}
}

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/team/bundle"
)

const newerPolicy = `version: 1
sandbox:
  paths:
    .: {root: ., mode: rw, approval: {write: allow}}
rules: [allow worker_call(*)]
`

// newerFiles are the project: each worker has a script of its own.
var newerFiles = map[string]string{
	"project/.assent/policy.yaml": newerPolicy,
	"project/a.txt":               "the text\n",
	"project/talk.worker":         "---\nmodel: script:talk.yaml\nsandbox: {paths: {.: {root: ., mode: rw, approval: {write: allow}}}}\nallow_workers: ['*']\n---\nTalk.\n",
	"project/workers/help.worker": "---\nmodel: script:../help.yaml\nsandbox: {paths: {.: {root: .., mode: rw, approval: {write: allow}}}}\n---\nHelp.\n",
	"project/talk.yaml": `turns:
  - calls: [{tool: read_file, args: {path: a.txt}}]
  - {say: I have read it., listen: true}
  - calls: [{tool: read_file, args: {path: a.txt}}]
  - {say: I have tried., listen: true}
`,
	"project/run.yaml": `turns:
  - calls: [{tool: read_file, args: {path: a.txt}}]
  - calls: [{tool: worker_call, args: {worker: help, input: Go}}]
  - calls: [{tool: read_file, args: {path: a.txt}}]
  - say: That was all.
`,
	"project/help.yaml": `turns:
  - calls: [{tool: read_file, args: {path: a.txt}}]
  - calls: [{tool: write_file, args: {path: asked.txt, content: x}}]
  - calls: [{tool: read_file, args: {path: a.txt}}]
  - say: Helped.
`,
}

// newNewerScene is a machine that has joined a team whose people decide about one file, and whose policy says nothing
// else.
func newNewerScene(t *testing.T) *teamScene {
	s := newTeamScene(t)
	for name, text := range newerFiles {
		file := filepath.Join(s.top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.team.Bundle.Deciders = []bundle.Decider{{Acts: []string{"write_file(asked.txt)"}, Need: []bundle.From{{From: "sre", Count: 1}}, Proof: "device"}}
	s.server.NewToken("token-2")
	s.must("join", s.server.URL, "--token", "token-2")
	if err := os.WriteFile(s.admin(), []byte(s.team.Admin()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.publish("version: 1\n")
	return s
}

// publish has the team publish a policy, and returns when this machine's bridge has it.
func (s *teamScene) publish(policy string) {
	s.Helper()
	s.team.Bundle.Policy = policy
	s.server.Publish()
	s.waitStatus("connected", fmt.Sprintf("policy %d", s.team.Bundle.Serial))
}

// A gateway that runs holds to what the team has published since it began: rules and the words on tools by name at once.
// What counts only when a program starts ends its calls, and says so.
func TestAGatewayThatRunsTakesTheTeamsNewerPolicy(t *testing.T) {
	s := newNewerScene(t)
	mcp := s.command("mcp", "-c", ".assent/policy.yaml", "--tools", "files", "--ask-timeout", "50ms")
	lasting := exec.Command(mcp.Path, mcp.Args[1:]...) // until the client hangs up, after the test's context has ended
	lasting.Dir, lasting.Env = mcp.Dir, mcp.Env
	c := startMCP(t, lasting)
	read, write := `{"path":"a.txt"}`, `{"path":"b.txt","content":"x"}`
	for _, step := range []struct{ policy, read, write string }{
		{"", "the text", "b.txt"},
		{"version: 1\nrules: [deny read_file(a.txt)]\n", "deny read_file(a.txt)", "b.txt"},
		{"version: 1\ntools: {write_file: {approval: deny, reason: not today}}\n", "the text", "not today"},
		{"version: 1\nrules: [deny write_file(b.txt)]\n", "the text", "deny write_file(b.txt)"},
		{"version: 1\nshell: {rules: [{pattern: ls, approval: deny}]}\n", "the text", "b.txt"},
		{"version: 1\nsandbox: {require_os_sandbox: true}\n", "start this program again", "start this program again"},
		{"version: 1\nexpect: []\n", "the text", "b.txt"},
	} {
		if step.policy != "" {
			s.publish(step.policy)
		}
		if got := c.call("read_file", read); !strings.Contains(got, step.read) {
			t.Errorf("under %q reading says %q, want %q", step.policy, got, step.read)
		}
		if got := c.call("write_file", write); !strings.Contains(got, step.write) {
			t.Errorf("under %q writing says %q, want %q", step.policy, got, step.write)
		}
	}
}

func TestAChatThatRunsTakesTheTeamsNewerPolicy(t *testing.T) {
	s := newNewerScene(t)
	chat := s.command("chat", "-c", ".assent/policy.yaml", "talk.worker")
	in, err := chat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, w := io.Pipe()
	chat.Stdout, chat.Stderr = w, w
	if err := chat.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	hears := func(want string) {
		t.Helper()
		var all bytes.Buffer
		for !strings.Contains(all.String(), want) {
			b, err := said.ReadByte()
			if err != nil {
				t.Fatalf("%v: it said %q, and never %q", err, &all, want)
			}
			all.WriteByte(b)
		}
	}
	fmt.Fprintln(in, "Go.")
	hears("the text")
	hears("I have read it.")
	s.publish("version: 1\nrules: [deny read_file(a.txt)]\n")
	fmt.Fprintln(in, "Go on.")
	hears("deny read_file(a.txt)")
	hears("I have tried.")
	in.Close()
	go io.Copy(io.Discard, said) // what it says at its end
	if err := chat.Wait(); err != nil {
		t.Error(err)
	}
}

// A run, and a worker that it called before the policy changed, take it too. What the team approves meanwhile runs.
func TestARunAndItsWorkersTakeTheTeamsNewerPolicy(t *testing.T) {
	s := newNewerScene(t)
	run := s.command("run", "-c", ".assent/policy.yaml", "--model", "script:run.yaml", "talk.worker", "Go.")
	s.said = &bytes.Buffer{}
	run.Stdout, run.Stderr = s.said, s.said
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	r := s.asked()
	s.publish("version: 1\nrules: [deny read_file(a.txt)]\n")
	s.server.Vote("bob", r, r.Approve(""))
	if err := run.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, s.said)
	}
	out := s.said.String()
	if read, denied := strings.Count(out, "content: the text"), strings.Count(out, "rule deny read_file(a.txt)"); read != 2 || denied != 2 ||
		!strings.Contains(out, "write_file: approved") {
		t.Errorf("%d reads ran and %d were denied, want 2 and 2:\n%s", read, denied, out)
	}
}

// What people of the team decide about is not run where nobody is asked, also behind a wrapper.
func TestSandboxRunLeavesToTheTeamWhatItDecides(t *testing.T) {
	s := newNewerScene(t)
	s.team.Bundle.Deciders = []bundle.Decider{{Acts: []string{"shell(echo hello *)"}, Need: []bundle.From{{From: "sre", Count: 1}},
		Proof: "device"}}
	s.publish("version: 1\n")
	for line, runs := range map[string]bool{"echo other": true, "echo hello you": false, "env echo hello": false,
		"sh -c 'echo hello'": false} {
		c := append([]string{"sandbox", "run", "-c", ".assent/policy.yaml", "--"}, strings.Fields(line)...)
		if text, found := strings.CutPrefix(line, "sh -c "); found {
			c = append(c[:5], "sh", "-c", strings.Trim(text, "'"))
		}
		out, err := s.run(c...)
		if (err == nil) != runs || !runs && !strings.Contains(out, "people of the team decide about shell(echo hello") {
			t.Errorf("%s: %v, %s", line, err, out)
		}
	}
}

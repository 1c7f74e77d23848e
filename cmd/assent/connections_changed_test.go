package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/mcptest"
)

// A killable server is a connector's program that a test can change and kill.
type killable struct {
	t             *testing.T
	dir           string
	program, argv string
}

func newKillable(t *testing.T, dir string) *killable {
	argv, _ := mcptest.Command(mcptest.Ordinary)
	k := &killable{t, dir, filepath.Join(dir, "server.sh"), argv[0]}
	k.put(k.program, "#!/bin/sh\necho $$ > "+dir+"/pid\nexec "+k.argv+"\n")
	return k
}

func (k *killable) put(file, text string) {
	k.t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		k.t.Fatal(err)
	}
}

// connector is how a policy names it.
func (k *killable) connector() string {
	return strings.Replace(mcpServer("one", mcptest.Ordinary, ""), fmt.Sprintf("%q", k.argv), fmt.Sprintf("%q", k.program), 1)
}

// swap changes the program and kills what runs of it.
func (k *killable) swap() {
	k.t.Helper()
	k.put(k.program, "#!/bin/sh\ntouch "+k.dir+"/ran\nexec "+k.argv+"\n")
	data, err := os.ReadFile(filepath.Join(k.dir, "pid"))
	if err != nil {
		k.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		k.t.Fatal(err)
	}
}

// ran fails the test if the changed program was started.
func (k *killable) ran() {
	k.t.Helper()
	if _, err := os.Stat(filepath.Join(k.dir, "ran")); err == nil {
		k.t.Fatal("the changed program was started")
	}
}

// A server that ended while its program was changed is not started again: the gateway offers
// what was there when it began.
func TestMCP_AServerWhoseProgramChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := newKillable(t, dir)
	k.put(filepath.Join(dir, "policy.yaml"), "connectors:\n"+k.connector()+"rules: [allow connector one]\n")
	c := startMCP(t, assent(t, nil, "mcp", "-c", filepath.Join(dir, "policy.yaml"), "--state", filepath.Join(dir, "state")))
	if got := c.call("one__echo", `{"text":"hello"}`); got != "hello" {
		t.Fatalf("it says %q", got)
	}
	k.swap()
	// The gateway tries again after a while, and says what it found.
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for got := ""; !strings.Contains(got, "server.sh changed since assent started"); got = c.call("one__echo", `{"text":"hello"}`) {
		k.ran()
		<-tick.C
	}
}

// So it is in a run. Its model takes its time, so that the server would be there again.
func TestAServerWhoseProgramChangedInARun(t *testing.T) {
	turns := "turns:\n" + foreignCall("one", "echo", "{text: hello}") +
		"  - calls: [{tool: write_file, args: {path: notes/ready, content: x}}]\n"
	for i := range 30 {
		turns += fmt.Sprintf("  - wait: 100ms\n    calls: [{connector: one, tool: echo, args: {text: again %d}}]\n", i)
	}
	p := newProject(t, map[string]string{"turns.yaml": turns, "notes/a.md": "a\n"})
	k := newKillable(t, p.dir)
	p.put("a.worker", foreignWorker(k.connector(), "rules: [allow connector one, allow write_file(notes/ready)]\n"))
	p.trust()
	cmd := p.assent("run", "--strict", "a.worker", "Go on.")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	mcptest.AwaitFile(t, filepath.Join(p.dir, "notes", "ready"), true)
	k.swap()
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "server.sh changed since assent started") {
		t.Errorf("%v\n%s", err, said.String())
	}
	k.ran()
}

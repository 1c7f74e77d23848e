//go:build mcpe2e

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/store"
)

// These tests run the gateway between programs that nobody here wrote. `make mcp-e2e`
// installs them and says where.

// bin is where npm put a program.
func bin(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(os.Getenv("ASSENT_MCP_E2E"), "node_modules", ".bin", name)
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("%s is not installed (%v); run these tests with 'make mcp-e2e'", name, err)
	}
	return file
}

// An e2e is a gateway in front of the reference servers.
type e2e struct {
	policy, state, data, pid string
	path                     string
}

func newE2E(t *testing.T, rules ...string) e2e {
	t.Helper()
	dir := t.TempDir()
	e := e2e{policy: filepath.Join(dir, "policy.yaml"), state: filepath.Join(dir, "state"), data: filepath.Join(dir, "data"), pid: filepath.Join(dir, "pid")}
	var err error
	if e.path, err = program(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(e.data, 0o700); err != nil {
		t.Fatal(err)
	}
	// The shell says who it is, so that a test can kill the server that it becomes.
	everything := fmt.Sprintf("echo $$ > %s; exec %s", e.pid, bin(t, "mcp-server-everything"))
	text := fmt.Sprintf("connectors:\n  everything: {command: [sh, -c, %q]}\n  fs: {command: [%q, %q]}\n  memory: {command: [%q], env: {MEMORY_FILE_PATH: %q}}\nrules:\n",
		everything, bin(t, "mcp-server-filesystem"), e.data, bin(t, "mcp-server-memory"), filepath.Join(dir, "memory.json"))
	for _, r := range rules {
		text += fmt.Sprintf("  - %q\n", r)
	}
	if err := os.WriteFile(e.policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e e2e) args(more ...string) []string {
	return append([]string{"mcp", "-c", e.policy, "--state", e.state}, more...)
}

// inspect makes one request with the inspector and returns what it prints.
func (e e2e) inspect(t *testing.T, request ...string) string {
	t.Helper()
	args := append([]string{"--cli", e.path}, e.args("--hold", "300ms")...)
	cmd := exec.Command(bin(t, "mcp-inspector"), append(args, request...)...)
	cmd.Env = assent(t, nil).Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func (e e2e) openStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), e.state, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestE2EInspectorListsCallsAndIsDenied(t *testing.T) {
	e := newE2E(t, "allow everything:echo", "deny fs:write_file")
	if list := e.inspect(t, "--method", "tools/list"); !strings.Contains(list, `"everything__echo"`) || !strings.Contains(list, `"fs__write_file"`) || !strings.Contains(list, `"memory__read_graph"`) {
		t.Errorf("listed is %s", list)
	}
	if got := e.inspect(t, "--method", "tools/call", "--tool-name", "everything__echo", "--tool-arg", "message=hi"); !strings.Contains(got, "Echo: hi") {
		t.Errorf("got %s", got)
	}
	file := filepath.Join(e.data, "a.txt")
	if got := e.inspect(t, "--method", "tools/call", "--tool-name", "fs__write_file", "--tool-arg", "path="+file, "content=x"); !strings.Contains(got, "[DENIED]") {
		t.Errorf("got %s", got)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it was written all the same")
	}
	if got := e.inspect(t, "--method", "tools/call", "--tool-name", "memory__read_graph"); !strings.Contains(got, "[PENDING]") {
		t.Errorf("got %s", got)
	}
	if got := e.inspect(t, "--method", "prompts/list"); !strings.Contains(got, "[from connector everything]") {
		t.Errorf("prompts are %s", got)
	}
}

func TestE2EHoldAndApprove(t *testing.T) {
	e := newE2E(t)
	c := startMCP(t, assent(t, nil, e.args()...))
	s := e.openStore(t)
	file := filepath.Join(e.data, "a.txt")
	answered := make(chan error, 1)
	go func() {
		d := waiting(t, s).Approve("")
		d.By.User, d.At = "test", time.Now()
		answered <- s.Answer(t.Context(), d)
	}()
	got := c.call("fs__write_file", fmt.Sprintf(`{"path":%q,"content":"agreed"}`, file))
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "agreed" {
		t.Errorf("told %q; written is %q, %v", got, data, err)
	}
}

func TestE2EServerKilledInMidCall(t *testing.T) {
	e := newE2E(t, "allow everything:*", "allow memory:*")
	c := startMCP(t, assent(t, nil, e.args()...))
	s := e.openStore(t)
	killed := make(chan error, 1)
	go func() {
		for r, err := range s.Follow(t.Context(), approval.RecordFilter{Tool: "everything:*"}) {
			if err != nil || r.Kind == approval.EventStarted {
				break
			}
		}
		data, err := os.ReadFile(e.pid)
		if err == nil {
			var pid int
			if pid, err = strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
				err = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		killed <- err
	}()
	got := c.call("everything__trigger-long-running-operation", `{"duration":600,"steps":600}`)
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got, "connector everything went away") {
		t.Errorf("got %q", got)
	}
	if got := c.call("memory__read_graph", "{}"); !strings.Contains(got, "entities") {
		t.Errorf("the others do not go on: %q", got)
	}
}

func TestE2EClientGoneInMidWait(t *testing.T) {
	e := newE2E(t)
	cmd := assent(t, nil, e.args()...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + hello + `}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory__read_graph","arguments":{}}}`,
	} {
		fmt.Fprintln(in, line)
	}
	s := e.openStore(t)
	waiting(t, s)
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if open, err := s.Open(t.Context(), ""); err != nil || len(open) != 0 {
		t.Errorf("what nobody waits for is still asked: %v, %v", open, err)
	}
}

func TestE2EAHundredCallsAtOnce(t *testing.T) {
	e := newE2E(t, "allow everything:echo")
	c := startMCP(t, assent(t, nil, e.args()...))
	for i := range 100 {
		fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"everything__echo","arguments":{"message":"m%d"}}}`+"\n", 1000+i, i)
	}
	for seen := map[int]bool{}; len(seen) < 100; {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal(line, &answer); err != nil || answer.ID < 1000 {
			continue // a notification
		}
		if want := fmt.Sprintf("Echo: m%d", answer.ID-1000); !strings.Contains(string(answer.Result), want+`"`) {
			t.Errorf("call %d got %s", answer.ID, answer.Result)
		}
		seen[answer.ID] = true
	}
}

// The list of a connector changes when another server comes up in its place; the client
// hears of it, and what it does not know asks a person, whatever rules say.
func TestE2EListChange(t *testing.T) {
	e := newE2E(t, "allow swap:*")
	text, err := os.ReadFile(e.policy)
	if err != nil {
		t.Fatal(err)
	}
	command := fmt.Sprintf("echo $$ > %s; if mkdir %s; then exec %s; else exec %s; fi",
		e.pid, filepath.Join(e.data, "second"), bin(t, "mcp-server-memory"), bin(t, "mcp-server-everything"))
	text = []byte(strings.Replace(string(text), "echo $$ > "+e.pid+"; ", "", 1)) // only one tells who it is
	swapped := strings.Replace(string(text), "connectors:\n", fmt.Sprintf("connectors:\n  swap: {command: [sh, -c, %q]}\n", command), 1)
	if err := os.WriteFile(e.policy, []byte(swapped), 0o600); err != nil {
		t.Fatal(err)
	}
	c := startMCP(t, assent(t, nil, e.args("swap", "--strict")...))
	if list := string(c.ask("tools/list", "{}")); !strings.Contains(list, "swap__read_graph") {
		t.Fatalf("listed is %s", list)
	}
	data, err := os.ReadFile(e.pid)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "notifications/tools/list_changed") {
			break
		}
	}
	if list := string(c.ask("tools/list", "{}")); !strings.Contains(list, "swap__echo") || strings.Contains(list, "swap__read_graph") {
		t.Errorf("listed is %s", list)
	}
	if got := c.call("swap__echo", `{"message":"hi"}`); !strings.HasPrefix(got, "[DENIED]") {
		t.Errorf("a tool that nobody agreed to ran: %q", got)
	}
}

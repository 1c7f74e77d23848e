package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/store"
)

// A mcpClient speaks to `assent mcp` as an agent would, with as little as possible around
// it.
type mcpClient struct {
	t   testing.TB
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

// hello is what a client says of itself.
const hello = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`

// startMCP starts the command and greets it.
func startMCP(t testing.TB, cmd *exec.Cmd) *mcpClient {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &mcpClient{t: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v: %s", err, said.String())
		}
		if t.Failed() {
			t.Log(said.String())
		}
	})
	c.ask("initialize", hello)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// ask sends a request and returns its result.
func (c *mcpClient) ask(method, params string) json.RawMessage {
	c.t.Helper()
	c.send(method, params)
	return c.receive()
}

func (c *mcpClient) send(method, params string) {
	c.id++
	fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}`+"\n", c.id, method, params)
}

// receive returns the result of the last request; notifications are passed over.
func (c *mcpClient) receive() json.RawMessage {
	c.t.Helper()
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		var answer struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			c.t.Fatalf("%s: %v", line, err)
		}
		switch {
		case answer.ID != c.id:
		case answer.Error != nil:
			return answer.Error
		default:
			return answer.Result
		}
	}
}

// call calls a tool and returns the text of its result.
func (c *mcpClient) call(name, args string) string {
	c.t.Helper()
	var result struct {
		Content []struct{ Text string }
	}
	raw := c.ask("tools/call", fmt.Sprintf(`{"name":"%s","arguments":%s}`, name, args))
	if err := json.Unmarshal(raw, &result); err != nil || len(result.Content) == 0 {
		return string(raw)
	}
	return result.Content[0].Text
}

// waiting returns the request that waits, once there is one.
func waiting(t testing.TB, s *store.Store) *approval.Request {
	t.Helper()
	changed := make(chan struct{}, 1)
	defer s.NotifyRequests(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for {
		open, err := s.Open(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if len(open) > 0 {
			return open[0].Request
		}
		select {
		case <-changed:
		case <-time.After(patience):
			t.Fatal("nothing waits")
		}
	}
}

// notesPolicy writes a policy for a folder of notes, and returns it.
func notesPolicy(t *testing.T, more string) (conf, notes string) {
	t.Helper()
	dir := t.TempDir()
	notes, conf = filepath.Join(dir, "notes"), filepath.Join(dir, "policy.yaml")
	if err := os.Mkdir(notes, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		filepath.Join(notes, "a.md"): "hello\n",
		conf:                         "sandbox:\n  paths:\n    notes: {root: ./notes, mode: rw}\n" + more,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return conf, notes
}

func TestMCPOffersTheFileToolsOfAPolicy(t *testing.T) {
	conf, notes := notesPolicy(t, "")
	c := startMCP(t, assent(t, nil, "mcp", "-c", conf, "--tools", "files", "--strict"))
	if list := string(c.ask("tools/list", "{}")); !strings.Contains(list, `"read_file"`) || strings.Contains(list, `"shell"`) {
		t.Errorf("offered is %s", list)
	}
	if got := c.call("read_file", `{"path":"notes/a.md"}`); !strings.Contains(got, "hello") {
		t.Errorf("read %q", got)
	}
	if got := c.call("write_file", `{"path":"notes/b.md","content":"x"}`); !strings.HasPrefix(got, "[DENIED]") {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(filepath.Join(notes, "b.md")); err == nil {
		t.Error("it was written all the same")
	}
}

func TestMCPInFrontOfACommandAsksWhereAllProcessesSeeIt(t *testing.T) {
	conf, notes := notesPolicy(t, "rules:\n  - allow write_file(notes/**)\n")
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	// The server behind is assent itself, with file tools that ask nobody here.
	cmd := assent(t, nil, "mcp", "--state", state, "--hold", "100ms", "--", path, "mcp", "-c", conf, "--state", t.TempDir(), "--tools", "files")
	c := startMCP(t, cmd)
	const args = `{"path":"notes/b.md","content":"from far away"}`
	got := c.call("write_file", args)
	if !strings.HasPrefix(got, "[PENDING]") {
		t.Fatalf("got %q", got)
	}
	s, err := store.Open(t.Context(), state, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	open, err := s.Open(t.Context(), "")
	if err != nil || len(open) != 1 || !strings.Contains(got, open[0].Request.ID) {
		t.Fatalf("waiting are %v, %v", open, err)
	}
	if name := open[0].Request.Call.Name(); name != "assent:write_file" {
		t.Errorf("asked about %s", name)
	}
	d := open[0].Request.Approve("")
	d.By.User, d.At = "test", time.Now()
	if err := s.Answer(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	for got = c.call("write_file", args); strings.HasPrefix(got, "[PENDING]"); {
		got = c.call("write_file", args)
	}
	if data, err := os.ReadFile(filepath.Join(notes, "b.md")); err != nil || string(data) != "from far away" {
		t.Errorf("told %q; written is %q, %v", got, data, err)
	}
}

func TestMCPConnectorsOfAConfig(t *testing.T) {
	behind, _ := notesPolicy(t, "")
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	connectors := fmt.Sprintf("connectors:\n  notes: {command: [%q, mcp, -c, %q, --state, %q, --tools, files]}\n  gone: {command: [/no/such/program]}\n",
		path, behind, t.TempDir())
	conf, _ := notesPolicy(t, connectors+"rules:\n  - allow notes:read_file\n  - deny notes:delete_file\n")
	c := startMCP(t, assent(t, nil, "mcp", "-c", conf, "--strict"))
	if got := c.call("notes__read_file", `{"path":"notes/a.md"}`); !strings.Contains(got, "hello") {
		t.Errorf("read %q", got)
	}
	for _, refused := range []string{"notes__delete_file", "notes__list_files"} {
		if got := c.call(refused, `{"path":"notes/a.md"}`); !strings.HasPrefix(got, "[DENIED]") && !strings.HasPrefix(got, "[ERROR]") {
			t.Errorf("%s: got %q", refused, got)
		}
	}
}

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// newStage is a place in which an agent's commands run on the stage, under the policy that lets
// agents work in the project. Beside the project lies a folder with a file that is nobody's
// business.
func newStage(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.write(".config/assent/config.yaml", "hook:\n  shell: stage\n")
	p.write(".ssh/id_x", secret)
	p.write("../outside/secret.txt", secret)
	p.assent("init", "--policy", "quiet")
	p.assent("trust", "--yes", ".assent/policy.yaml")
	return p
}

const secret = "nobodys-business"

// outside is the path of a file beside the project.
func (p *place) outside(name string) string {
	return filepath.Join(filepath.Dir(p.project), "outside", name)
}

// stage has an agent make calls, and returns what its model was told of each. Meanwhile, which
// may be nil, is done while it runs.
func (p *place) stage(a agent, meanwhile func(ctx context.Context), calls ...string) []string {
	p.t.Helper()
	m := newModel(p.t, calls...)
	a.setUp(p, m.url)
	p.assent("install", a.name, "--yes")
	running, ended := context.WithCancel(p.t.Context())
	defer ended()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if meanwhile != nil {
			meanwhile(running)
		}
	}()
	a.start(p)
	ended()
	<-done
	return m.all()
}

// exists reports whether a file is there.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// openInbox opens the inbox in a terminal of its own until the test ends: only then is it asked.
func (p *place) openInbox() {
	p.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	c := p.command(ctx, filepath.Join(p.bin, "assent"), "inbox")
	c.Env = append(c.Env, "TERM=xterm")
	terminal, err := pty.Start(c)
	if err != nil {
		p.t.Fatal(err)
	}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		_, _ = io.Copy(io.Discard, terminal)
	}()
	p.t.Cleanup(func() {
		leave()
		_ = c.Wait() // it was killed
		terminal.Close()
		<-shown
	})
}

// until tries again and again until f reports true or ctx ends, and reports which.
func until(ctx context.Context, f func() bool) bool {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !f() {
		select {
		case <-ctx.Done():
			return false
		case <-again.C:
		}
	}
	return true
}

// answer waits for a question whose text has a part, and answers it with approve or deny.
func (p *place) answer(ctx context.Context, verb, part string) {
	program := filepath.Join(p.bin, "assent")
	answered := until(ctx, func() bool {
		var all []json.RawMessage
		out, err := p.command(ctx, program, "pending", "--json").Output()
		if err != nil || json.Unmarshal(out, &all) != nil {
			return false
		}
		for _, one := range all {
			var q struct {
				ID string `json:"id"`
			}
			if json.Unmarshal(one, &q) != nil || !strings.Contains(string(one), part) {
				continue
			}
			if said, err := p.command(ctx, program, verb, q.ID).CombinedOutput(); err != nil {
				p.t.Errorf("%s: %v\n%s", verb, err, said)
			}
			return true
		}
		return false
	})
	if !answered {
		p.t.Errorf("the agent ended, and nobody was asked about %q", part)
	}
}

// wantGone wants all processes whose command line has a word to end.
func (p *place) wantGone(word string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	left := ""
	gone := until(ctx, func() bool {
		left = ""
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			p.t.Fatal(err)
		}
		for _, name := range lines {
			text, _ := os.ReadFile(name) // empty if it has ended
			if slices.Contains(strings.Split(string(text), "\x00"), word) {
				left = strings.ReplaceAll(string(text), "\x00", " ")
			}
		}
		return left == ""
	})
	if !gone {
		p.t.Errorf("the agent has ended, and this still runs: %s", left)
	}
}

// TestTheStageHolds has each agent run commands that need no question. They do what they say in
// the project, and reach nothing else.
func TestTheStageHolds(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			p := newStage(t)
			p.openInbox()
			python := func(code string) string { return `python3 -c "` + code + `"` }
			told := p.stage(a, func(ctx context.Context) { p.answer(ctx, "deny", "registry.example.test") },
				"echo made > made.txt && cat made.txt; echo to-stderr >&2; echo more; (exit 7)",
				python("print(open('"+p.outside("secret.txt")+"').read())"),
				python("print(open('"+p.home+"/.ssh/id_x').read())"),
				python("open('"+p.outside("canary")+"','w')"),
				python("import socket; socket.create_connection(('registry.example.test',443),20).recv(1)"),
				"ls /proc/1/root/"+p.outside("")+"; ls "+p.home+"/.local/state/assent",
			)
			all := strings.Join(told, "\n")
			for _, want := range []string{"made", "to-stderr", "7"} {
				if !strings.Contains(told[0], want) {
					t.Errorf("the first command's result lacks %q: %s", want, told[0])
				}
			}
			if a.name == "claude-code" && !strings.Contains(told[0], `made\nto-stderr\nmore`) { // others keep the streams apart
				t.Errorf("the order is not that of the command: %s", told[0])
			}
			if text, err := os.ReadFile(filepath.Join(p.project, "made.txt")); string(text) != "made\n" {
				t.Errorf("made.txt has %q: %v", text, err)
			}
			if strings.Contains(all, secret) || exists(p.outside("canary")) || strings.Contains(told[5], "secret.txt") || strings.Contains(told[5], "keepers") {
				t.Errorf("something outside was reached:\n%s", all)
			}
			log := p.assent("audit", "list")
			if !strings.Contains(log, "registry.example.test") {
				t.Errorf("nobody was asked about the network:\n%s\n%s", log, told[4])
			}
		})
	}
}

// TestAnAnswerInTheInbox has each agent write outside the project. The sandbox refuses it; run
// again it is asked about, and runs with a yes and does not with a no.
func TestAnAnswerInTheInbox(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			p := newStage(t)
			p.openInbox()
			yes, no := "echo said > "+p.outside("yes.txt"), "echo said > "+p.outside("no.txt")
			told := p.stage(a, func(ctx context.Context) { p.answer(ctx, "approve", "yes.txt"); p.answer(ctx, "deny", "no.txt") },
				yes, yes, no, no, "echo after")
			if text, err := os.ReadFile(p.outside("yes.txt")); string(text) != "said\n" || exists(p.outside("no.txt")) || !strings.Contains(told[4], "after") {
				t.Errorf("yes.txt has %q: %v; the model was told %q", text, err, told)
			}
			if !strings.Contains(told[0], "refused") {
				t.Errorf("the model was not told that its write was refused: %s", told[0])
			}
			p.wantAudit([2]string{"approved", "yes.txt"}, [2]string{"denied", "no.txt"})
		})
	}
}

// TestTheFolderStays has each agent change the folder: it stays where the agent keeps it, and is
// never one outside the project.
func TestTheFolderStays(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			p := newStage(t)
			if err := os.MkdirAll(filepath.Join(p.project, "sub", "deep"), 0o700); err != nil {
				t.Fatal(err)
			}
			told := p.stage(a, nil, "cd sub && echo went", "pwd", "cd deep; true", "pwd", "cd / && pwd", "pwd", "cd \"$OLDPWD\" 2>/dev/null; cd "+p.project+" && ls -d sub", "pwd")
			sub, deep := filepath.Join(p.project, "sub"), filepath.Join(p.project, "sub", "deep")
			want := map[int]string{1: p.project, 3: p.project, 5: p.project, 7: p.project}
			if a.name == "claude-code" {
				want = map[int]string{1: sub, 3: deep, 5: deep, 7: p.project}
			}
			for i, folder := range want {
				if !strings.Contains(told[i], folder+`"`) && !strings.Contains(told[i], folder+`\n`) {
					t.Errorf("after %d calls the folder is %s, want %s", i, told[i], folder)
				}
			}
		})
	}
}

// TestABackgroundServer has each agent start a server that later commands of the session talk to,
// and nobody outside.
func TestABackgroundServer(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			p := newStage(t)
			p.write("../project/page.txt", "served-page")
			port := freePort(t)
			server := fmt.Sprintf("timeout 5 python3 -m http.server %d", port) // Claude Code waits for its end
			start := map[string]string{
				"claude-code": `{"command":` + quote(server) + `,"run_in_background":true}`,
				"codex":       `{"cmd":` + quote(server) + `,"yield_time_ms":300}`,
				"gemini":      `{"command":` + quote(server) + `,"is_background":true}`,
			}[a.name]
			get := func(port int) string {
				return fmt.Sprintf("for i in $(seq 100); do curl -sf --noproxy '*' http://127.0.0.1:%d/page.txt && break; sleep 0.1; done", port)
			}
			second := freePort(t)
			told := p.stage(a, func(ctx context.Context) {
				if until(ctx, func() bool {
					conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
					if err == nil {
						conn.Close()
					}
					return err == nil
				}) {
					t.Error("a server on the stage is reached from outside")
				}
			}, start, get(port), fmt.Sprintf("python3 -m http.server %d >/dev/null 2>&1 &", second), get(second))
			if !strings.Contains(told[1], "served-page") || !strings.Contains(told[3], "served-page") {
				t.Errorf("the servers were not reached: %q", told)
			}
			p.wantGone(fmt.Sprint(second))
		})
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestTheFolderOfACall has an agent run a command in a folder that is an argument of the call.
func TestTheFolderOfACall(t *testing.T) {
	for _, a := range agents {
		calls := map[string][]string{
			"codex":  {`{"cmd":"pwd; touch here.txt","workdir":"sub"}`, `{"cmd":"pwd; touch there.txt","workdir":"/"}`},
			"gemini": {`{"command":"pwd; touch here.txt","dir_path":"sub"}`, `{"command":"pwd; touch there.txt","dir_path":"/"}`},
		}[a.name]
		if calls == nil {
			continue // there is no such argument
		}
		t.Run(a.name, func(t *testing.T) {
			p := newStage(t)
			if err := os.Mkdir(filepath.Join(p.project, "sub"), 0o700); err != nil {
				t.Fatal(err)
			}
			told := p.stage(a, nil, calls...)
			if !exists(filepath.Join(p.project, "sub", "here.txt")) || exists("/there.txt") {
				t.Errorf("the commands did not run in their folders: %q", told)
			}
		})
	}
}

// TestTheSessionHasATmp has each agent leave a file in /tmp: later commands of the session find it,
// and nobody else does.
func TestTheSessionHasATmp(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			p := newStage(t)
			file := filepath.Join("/tmp", filepath.Base(filepath.Dir(p.project)))
			told := p.stage(a, nil, "echo left > "+file, "cat "+file)
			if !strings.Contains(told[1], "left") || exists(file) {
				t.Errorf("outside %s is there: %t; the model was told %q", file, exists(file), told)
			}
			if again := p.stage(a, nil, "cat "+file); strings.Contains(again[0], "left") {
				t.Errorf("another session finds %s: %q", file, again)
			}
		})
	}
}

// TestCodexInItsOwnSandbox has Codex hold commands itself: nothing of ours can be reached from
// there, so they are judged by their text and run as they are.
func TestCodexInItsOwnSandbox(t *testing.T) {
	codex := agents[1]
	codex.line = slices.Clone(codex.line)
	codex.line[slices.Index(codex.line, "danger-full-access")] = "workspace-write"
	p := newStage(t)
	p.write(".config/assent/config.yaml", "hook:\n  shell: stage\n"+rules)
	told := p.stage(codex, nil, "touch allowed.txt", "touch denied.txt")
	p.wantFiles("allowed.txt")
	if strings.Contains(told[0], "not run") {
		t.Errorf("the model was told %q", told)
	}
	p.wantAudit([2]string{"auto-denied", "shell(touch denied.txt)"}, [2]string{"free", "shell(touch allowed.txt)"})
}

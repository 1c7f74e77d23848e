package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// A stage is a machine on which commands of Claude Code run on the stage.
type stage struct {
	*machine
	project string
	mode    string // of the agent
	calls   int
}

// everything are all our programs, built once.
var everything = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "assent-programs-")
	if err != nil {
		return "", err
	}
	c := exec.Command("go", "build", "-o", dir, "../assent", "../assent-hook", "../assent-shell")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if dir, err := everything(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir, err := everything()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{machine: newMachine(t, filepath.Join(dir, "assent-hook"))}
	s.project = filepath.Join(s.top, "project")
	s.env["CLAUDE_PROJECT_DIR"] = s.project
	s.write("config/assent/config.yaml", "hook: {shell: stage}\n")
	for _, args := range [][]string{{"init", "--policy", "quiet"}, {"trust", "--yes", ".assent/policy.yaml"}} {
		if out, err := s.command(filepath.Join(dir, "assent"), args...).CombinedOutput(); err != nil {
			t.Fatalf("assent %s: %v: %s", args[0], err, out)
		}
	}
	t.Cleanup(func() { s.event("SessionEnd", "s", "") })
	return s
}

func (s *stage) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = s.project
	for name, value := range s.env {
		c.Env = append(c.Env, name+"="+value)
	}
	return c
}

// event has the hook answer an event.
func (s *stage) event(name, session, command string) (stdout, stderr string) {
	s.t.Helper()
	s.calls++
	input, err := json.Marshal(map[string]any{
		"session_id": session, "hook_event_name": name, "tool_name": "Bash", "tool_use_id": fmt.Sprint("t", s.calls), "cwd": s.project,
		"tool_input": map[string]string{"command": command}, "permission_mode": cmp.Or(s.mode, "default"),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	c := s.command(s.program, "claude-code", "--deadline", "30s")
	c.Stdin = bytes.NewReader(input)
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return out.String(), errs.String()
}

type reply struct {
	Out struct {
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
		Input    struct{ Command string }
	} `json:"hookSpecificOutput"`
}

func (s *stage) judge(session, command string) reply {
	s.t.Helper()
	out, errs := s.event("PreToolUse", session, command)
	var r reply
	if err := json.Unmarshal([]byte(strings.Replace(out, `"updatedInput"`, `"input"`, 1)), &r); err != nil {
		s.t.Fatalf("%s: %v: %s %s", command, err, out, errs)
	}
	return r
}

// text is what the agent is to run in place of a command, which must be allowed.
func (s *stage) text(command string) string {
	s.t.Helper()
	r := s.judge("s", command)
	if r.Out.Decision != "allow" || r.Out.Input.Command == "" {
		s.t.Fatalf("%s: %+v", command, r)
	}
	return r.Out.Input.Command
}

// agentRuns runs a text as Claude Code does: its output is one file.
func (s *stage) agentRuns(text string) (output string, status int) {
	s.t.Helper()
	f, err := os.CreateTemp(s.top, "output")
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	c := s.command("bash", "-c", text)
	c.Stdout, c.Stderr = f, f
	if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		s.t.Fatal(err)
	}
	data, err := os.ReadFile(f.Name())
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data), c.ProcessState.ExitCode()
}

// runs judges a command and runs what stands for it.
func (s *stage) runs(command string) (output string, status int) {
	s.t.Helper()
	return s.agentRuns(s.text(command))
}

func (s *stage) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(s.project, name))
	return err == nil
}

// has reports whether a file has something in it.
func (s *stage) has(name string) bool {
	info, err := os.Stat(filepath.Join(s.project, name))
	return err == nil && info.Size() > 0
}

func (s *stage) eventually(what string, is func() bool) {
	s.t.Helper()
	for limit := time.Now().Add(20 * time.Second); !is(); {
		if time.Now().After(limit) {
			s.t.Fatalf("not in 20 seconds: %s", what)
		}
		syscall.Select(0, nil, nil, nil, &syscall.Timeval{Usec: 10_000})
	}
}

// keepers are the processes of our keepers of this place.
func (s *stage) keepers() (pids []int) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range all {
		args, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		var pid int
		if n, _ := fmt.Sscan(e.Name(), &pid); n == 1 && bytes.Contains(args, []byte("\x00keeper\x00")) && bytes.Contains(args, []byte(s.project)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ended are the events that ended calls, by what they were about.
func (s *stage) recorded() (out []approval.Event) {
	s.t.Helper()
	db, err := store.Open(s.t.Context(), filepath.Join(s.top, "state", "assent"), store.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	for r, err := range db.Records(s.t.Context(), approval.RecordFilter{}) {
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, r.Event)
	}
	return out
}

func TestStageRunsWhatWasJudged(t *testing.T) {
	s := newStage(t)
	s.write("project/sub/in.txt", "inside\n")
	s.write("secret.txt", "outside\n")
	for _, c := range []struct {
		command, output string
		status          int
	}{
		{"echo out; echo err >&2; exit 3", "out\nerr\n", 3},
		{"cat sub/in.txt; cat ../secret.txt", "inside\n", 1},
		{"echo x 2>/dev/null > ../made; echo y > made; cat made", "y\n", 0},
		{"printf 'no newline'", "no newline", 0},
		{"cat <<'E'\n$(touch $HOME/x) `it's`\nE", "$(touch $HOME/x) `it's`\n", 0},
		{"alias ll='touch aliased'; type ll >/dev/null 2>&1 || true; echo done", "done\n", 0},
	} {
		output, status := s.runs(c.command)
		if !strings.HasPrefix(output, c.output) || status != c.status {
			t.Errorf("%s: %d %q, want %d %q", c.command, status, output, c.status, c.output)
		}
	}
	if _, err := os.Stat(filepath.Join(s.top, "made")); err == nil {
		t.Error("a command wrote outside of the project")
	}
	s.write("config/assent/config.yaml", "hook: {shell: stage}\nrules: [deny shell(touch denied1)]\n")
	if r := s.judge("s", "touch denied1"); r.Out.Decision != "deny" || r.Out.Input.Command != "" {
		t.Errorf("a denied command: %+v", r)
	}
}

// Commands of a session share a /tmp, which is not the machine's and ends with the session.
func TestStageHasATmp(t *testing.T) {
	s := newStage(t)
	name := "/tmp/" + filepath.Base(s.top) + filepath.Base(filepath.Dir(s.top)) + ".txt"
	if output, status := s.runs("echo kept > " + name + "; ln -s /etc/passwd /tmp/link"); status != 0 {
		t.Fatal(output)
	}
	if output, _ := s.runs("cat " + name); output != "kept\n" {
		t.Errorf("the next command finds %q", output)
	}
	if _, err := os.Lstat(name); err == nil {
		t.Error("the machine has it")
	}
	r := s.judge("another", "cat "+name)
	if output, status := s.agentRuns(r.Out.Input.Command); status == 0 {
		t.Errorf("another session finds %q", output)
	}
	s.event("SessionEnd", "another", "")
	s.event("SessionEnd", "s", "")
	s.eventually("it is gone", func() bool {
		left, err := os.ReadDir(filepath.Join(s.top, "state", "assent", "keepers"))
		return err == nil && len(left) == 0
	})
}

func TestStageFollowsTheFolder(t *testing.T) {
	s := newStage(t)
	s.write("project/sub/in.txt", "inside\n")
	for command, want := range map[string]string{
		"cd sub":               filepath.Join(s.project, "sub"),
		"cd sub; false":        filepath.Join(s.project, "sub"),
		"cd sub && cd ..":      s.project,
		"mkdir -p n; cd n":     filepath.Join(s.project, "n"),
		"cd /tmp":              s.project, // which is the command's own
		"pushd sub >/dev/null": filepath.Join(s.project, "sub"),
		// The shell would take the line break off, and be in another folder.
		"mkdir -p t $'t\\n'; cd $'t\\n'": s.project,
	} {
		if output, _ := s.agentRuns(s.text(command) + "\npwd"); strings.TrimSpace(output) != want {
			t.Errorf("%s: %q, want %q", command, output, want)
		}
	}
}

// A token counts once, for its own session, whoever tries.
func TestTokens(t *testing.T) {
	s := newStage(t)
	text := s.text("echo ran >> once.txt")
	if output, status := s.agentRuns(text); status != 0 {
		t.Fatalf("%d %s", status, output)
	}
	other := s.judge("another", "echo other >> other.txt").Out.Input.Command
	for name, forged := range map[string]string{
		"used again":            text,
		"a secret of another":   swapSecret(text, other),
		"changed in one place":  changeToken(text),
		"of no keeper":          strings.Replace(text, "exec ", "exec 0", 1),
		"none":                  s.program + " exec",
		"two":                   s.program + " exec a b",
		"an option":             s.program + " exec --state / x",
		"a path":                s.program + " exec ../../x-y",
		"of another state":      strings.Replace(text, "exec ", "exec --state "+t.TempDir()+" ", 1),
		"without a folder used": strings.Replace(text, "exec ", "folder ", 1) + "; true",
	} {
		output, status := s.agentRuns(forged)
		if name != "without a folder used" && status != 125 {
			t.Errorf("%s: %d %s", name, status, output)
		}
	}
	if data, _ := os.ReadFile(filepath.Join(s.project, "once.txt")); string(data) != "ran\n" {
		t.Errorf("it ran otherwise than once: %q", data)
	}
	if s.exists("other.txt") {
		t.Error("the command of another session ran")
	}
	if output, status := s.agentRuns(other); status != 0 || !s.exists("other.txt") {
		t.Errorf("its own token does not count any more: %d %s", status, output)
	}
	s.event("SessionEnd", "another", "")
}

func tokenOf(text string) string { return strings.Fields(strings.SplitN(text, "exec ", 2)[1])[0] }

func swapSecret(text, other string) string {
	_, secret, _ := strings.Cut(tokenOf(other), "-")
	key, _, _ := strings.Cut(tokenOf(text), "-")
	return strings.Replace(text, tokenOf(text), key+"-"+secret, 1)
}

func changeToken(text string) string {
	token := tokenOf(text)
	last := token[len(token)-1]
	other := byte('a')
	if last == other {
		other = 'b'
	}
	return strings.Replace(text, token, token[:len(token)-1]+string(other), 1)
}

// One token a hundred times at once runs once; a hundred tokens at once run once each.
func TestTokensAtOnce(t *testing.T) {
	s := newStage(t)
	const many = 100
	same := s.text("echo ran >> once.txt")
	texts := make([]string, many)
	for i := range texts {
		texts[i] = s.text(fmt.Sprintf("echo %d >> each.txt", i))
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	ran := 0
	for i := range many {
		for _, text := range []string{same, texts[i]} {
			group.Go(func() {
				if s.command("bash", "-c", text).Run() == nil {
					mu.Lock()
					defer mu.Unlock()
					ran++
				}
			})
		}
	}
	group.Wait()
	once, _ := os.ReadFile(filepath.Join(s.project, "once.txt"))
	each, _ := os.ReadFile(filepath.Join(s.project, "each.txt"))
	if ran != many+1 || string(once) != "ran\n" || bytes.Count(each, []byte("\n")) != many {
		t.Errorf("%d ran; one token %q, %d tokens %d lines", ran, once, many, bytes.Count(each, []byte("\n")))
	}
}

// Another user cannot use a token.
func TestTokenOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		return // only root can be another user
	}
	s := newStage(t)
	text := s.text("echo ran >> once.txt")
	c := s.command("setpriv", "--reuid=4321", "--regid=4321", "--clear-groups", "bash", "-c", text)
	c.Dir = "/"
	if output, err := c.CombinedOutput(); err == nil || s.exists("once.txt") {
		t.Errorf("%v %s", err, output)
	}
}

// What a command leaves in the background goes on, and later commands reach it; both end with the
// session.
func TestStageKeepsServers(t *testing.T) {
	s := newStage(t)
	s.write("project/page.txt", "the page\n")
	output, status := s.runs(`python3 -uc '
import http.server
http.server.test(http.server.SimpleHTTPRequestHandler, port=8111, bind="127.0.0.1")' >log 2>&1 & until grep -q Serving log; do :; done`)
	if status != 0 || !strings.Contains(output, "still running in the sandbox") {
		t.Fatalf("%d %s", status, output)
	}
	if output, _ := s.runs("curl -s http://127.0.0.1:8111/page.txt"); output != "the page\n" {
		t.Errorf("a later command does not reach it: %q", output)
	}
	if c := s.command("curl", "-s", "http://127.0.0.1:8111/page.txt"); c.Run() == nil {
		t.Error("the machine itself reaches it")
	}
	s.event("SessionEnd", "s", "")
	s.eventually("the keeper ends with the session", func() bool { return len(s.keepers()) == 0 })
}

// The keeper ends with the agent, and with it what runs.
func TestStageEndsWithTheAgent(t *testing.T) {
	s := newStage(t)
	script := filepath.Join(s.top, "agent.sh")
	s.write("agent.sh", `"$1" claude-code < "$2"; read line`)
	input, err := json.Marshal(map[string]any{
		"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "a", "cwd": s.project,
		"tool_input": map[string]string{"command": "echo begun > begun; exec sleep 300"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.write("event.json", string(input))
	agent := s.command("bash", script, s.program, filepath.Join(s.top, "event.json"))
	agent.Args[0] = "claude" // a shell would be taken for something around the hook
	hold, err := agent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	var r reply
	if err := json.NewDecoder(readAs(out)).Decode(&r); err != nil {
		t.Fatal(err)
	}
	run := s.command("bash", "-c", r.Out.Input.Command)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	s.eventually("it runs", func() bool { return s.has("begun") })
	hold.Close()
	if err := agent.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	if err := run.Wait(); err == nil {
		t.Error("the command ended well")
	}
	s.eventually("the keeper ends with the agent", func() bool { return len(s.keepers()) == 0 })
}

// readAs reads a reply with the name that [reply] has for the changed input.
func readAs(r io.Reader) io.Reader {
	pr, pw := io.Pipe()
	go func() {
		buffer := make([]byte, 64<<10)
		n, err := r.Read(buffer)
		_, _ = pw.Write(bytes.Replace(buffer[:n], []byte(`"updatedInput"`), []byte(`"input"`), 1))
		pw.CloseWithError(err)
	}()
	return pr
}

// A signal reaches the command, which may end as it likes.
func TestStagePassesSignals(t *testing.T) {
	s := newStage(t)
	text := s.text(`trap 'echo told > told; exit 9' TERM; echo begun > begun; while :; do sleep 0.1; done`)
	c := s.command("bash", "-c", "exec "+text)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.eventually("it runs", func() bool { return s.has("begun") })
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // its status is looked at
	if c.ProcessState.ExitCode() != 9 || !s.exists("told") {
		t.Errorf("%v", c.ProcessState)
	}
}

// Whatever is killed, nothing runs on, nothing runs twice, and the record has it.
func TestStageKilled(t *testing.T) {
	t.Run("exec", func(t *testing.T) {
		s := newStage(t)
		text := s.text("echo begun >> begun; sleep 300; echo after > after")
		c := s.command("bash", "-c", "exec "+text)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		s.eventually("it runs", func() bool { return s.has("begun") })
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // it was killed
		s.eventually("the end is recorded", func() bool {
			for _, e := range s.recorded() {
				if e.Kind == approval.EventEnded {
					return true
				}
			}
			return false
		})
		if output, status := s.agentRuns(text); status != 125 {
			t.Errorf("it ran again: %s", output)
		}
	})
	t.Run("keeper", func(t *testing.T) {
		s := newStage(t)
		unused := s.text("echo unused > unused")
		text := s.text("echo begun >> begun; sleep 300; echo after > after")
		c := s.command("bash", "-c", text)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		s.eventually("it runs", func() bool { return s.has("begun") })
		for _, pid := range s.keepers() {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		if _ = c.Wait(); c.ProcessState.ExitCode() != 125 {
			t.Errorf("exec says %v", c.ProcessState)
		}
		for _, again := range []string{text, unused} {
			if output, status := s.agentRuns(again); status != 125 {
				t.Errorf("it ran: %s", output)
			}
		}
		if s.exists("unused") || s.exists("after") {
			t.Error("something ran on")
		}
		if data, _ := os.ReadFile(filepath.Join(s.project, "begun")); string(data) != "begun\n" {
			t.Errorf("it ran twice: %q", data)
		}
		started := false
		for _, e := range s.recorded() {
			started = started || e.Kind == approval.EventStarted
		}
		if !started {
			t.Error("nothing recorded that it was started")
		}
		if output, status := s.runs("echo anew"); status != 0 || output != "anew\n" {
			t.Errorf("a new command after that: %d %s", status, output)
		}
	})
	t.Run("hook", func(t *testing.T) { // after its verdict, before the agent runs the text
		s := newStage(t)
		s.text("true") // the keeper is there
		input := `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"k","cwd":"` + s.project + `","tool_input":{"command":"echo ran >> ran"}}`
		c := s.command(s.program, "claude-code")
		c.Stdin = strings.NewReader(input)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		var r reply
		if err := json.NewDecoder(readAs(out)).Decode(&r); err != nil {
			t.Fatal(err)
		}
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()         // likewise
		for i, want := range []int{0, 125} {
			if output, status := s.agentRuns(r.Out.Input.Command); status != want {
				t.Errorf("run %d: %d %s", i+1, status, output)
			}
		}
		if data, _ := os.ReadFile(filepath.Join(s.project, "ran")); string(data) != "ran\n" {
			t.Errorf("it ran otherwise than once: %q", data)
		}
		ended := func(e approval.Event) bool {
			return e.Kind == approval.EventEnded && e.CallID == "k" && e.Stage == approval.StageCompleted
		}
		if !slices.ContainsFunc(s.recorded(), ended) {
			t.Error("its end is not recorded")
		}
	})
	t.Run("store", func(t *testing.T) {
		s := newStage(t)
		text := s.text("echo ran > ran")
		if err := os.Rename(filepath.Join(s.top, "state", "assent", store.FileName), filepath.Join(s.top, "moved")); err != nil {
			t.Fatal(err)
		}
		if output, status := s.agentRuns(text); status != 125 || s.exists("ran") || !strings.Contains(output, "moved") {
			t.Errorf("%d %s", status, output)
		}
	})
}

// Commands cannot change the files that turn the hook off.
func TestStageProtectsSettings(t *testing.T) {
	s := newStage(t)
	s.write("project/.claude/settings.json", "{}\n")
	s.write("project/write.py", "import sys\nfor f in sys.argv[1:]:\n  try: open(f,'w').write('x')\n  except OSError as e: print(e.strerror)\n")
	output, _ := s.runs("python3 write.py .claude/settings.json .claude/settings.local.json free.txt; ls .claude")
	if data, _ := os.ReadFile(filepath.Join(s.project, ".claude/settings.json")); string(data) != "{}\n" || s.exists(".claude/settings.local.json") || !s.exists("free.txt") {
		t.Errorf("%s", output)
	}
}

// Nor those of other agents, nor those further down; and git sees nothing that is not there.
func TestStageProtectsOtherSettings(t *testing.T) {
	s := newStage(t)
	s.write(".gemini/settings.json", "{}\n")
	s.write("project/.claude/settings.json", "{}\n")
	s.write("project/sub/.codex/config.toml", "")
	s.write("project/write.py", "import os, sys\nfor f in sys.argv[1:]:\n  try:\n    os.makedirs(os.path.dirname(f), exist_ok=True)\n    open(f,'w').write('x')\n  except OSError as e: print(e.strerror)\n")
	if out, err := s.command("git", "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	output, _ := s.runs("python3 write.py .claude/skills/x/SKILL.md .gemini/settings.json sub/.codex/config.toml ./free.txt; git status --short -uall")
	if data, _ := os.ReadFile(filepath.Join(s.project, "sub/.codex/config.toml")); len(data) > 0 || s.exists(".claude/skills") || s.exists(".gemini") || !s.exists("free.txt") {
		t.Errorf("%s", output)
	}
	if !strings.Contains(output, "?? .claude/settings.json\n") || strings.Contains(output, "settings.local.json") {
		t.Errorf("git status: %s", output)
	}
	for _, command := range []string{
		"mkdir -p new/.claude && echo '{}' > new/.claude/settings.json", "echo '{}' > .mcp.json", "mkdir x; mv x .cursor",
		"f=new/.codex; mkdir -p $f; echo > $f/hooks.json", "cp -r sub/.codex .codex", "ln -s sub .gemini",
	} {
		if r := s.judge("s", command); r.Out.Decision == "allow" {
			t.Errorf("%s: %+v", command, r)
		}
	}
}

// A link in place of the settings could be replaced, so commands are judged by their text.
func TestStageRefusesLinkedSettings(t *testing.T) {
	s := newStage(t)
	s.write("project/other/settings.json", "{}\n")
	if err := os.Symlink("other", filepath.Join(s.project, ".claude")); err != nil {
		t.Fatal(err)
	}
	out, errs := s.event("PreToolUse", "s", "cat other/settings.json")
	if strings.Contains(out, "updatedInput") || !strings.Contains(out, `"allow"`) || !strings.Contains(errs, "symbolic link") {
		t.Errorf("%s %s", out, errs)
	}
	if r := s.judge("s", "python3 -c 'import os; os.remove(\".claude\")'"); r.Out.Decision != "ask" || r.Out.Input.Command != "" {
		t.Errorf("%+v", r)
	}
}

// No sandbox holds an agent that works in /: its commands are judged by their text.
func TestStageInTheWholeFileSystem(t *testing.T) {
	s := newStage(t)
	s.env["CLAUDE_PROJECT_DIR"] = "/"
	out, errs := s.event("PreToolUse", "s", "cat a")
	if !strings.Contains(out, `"ask"`) || strings.Contains(out, "updatedInput") || !strings.Contains(errs, "the project is /") {
		t.Errorf("%s %s", out, errs)
	}
}

// Undo finds what a command changed also where no file is the policy, and nothing that was only
// there while a command ran.
func TestStageUndoWithoutAPolicy(t *testing.T) {
	s := newStage(t)
	if err := os.RemoveAll(filepath.Join(s.project, ".assent")); err != nil {
		t.Fatal(err)
	}
	s.write("config/assent/config.yaml", "hook: {shell: stage, policy: quiet}\n")
	s.runs("echo changed > a; echo new > b")
	s.runs("mkfifo wait; (cat wait; echo late > c) & sleep 0.1")
	s.runs("echo > wait")
	s.eventually("what runs in the background has written", func() bool { return s.has("c") })
	s.event("SessionEnd", "s", "") // its hook does not wait until the keeper has looked once more
	s.eventually("the keeper has ended", func() bool { return len(s.keepers()) == 0 })
	assent := filepath.Join(filepath.Dir(s.program), "assent")
	out, err := s.command(assent, "undo").CombinedOutput()
	if err != nil || strings.Count(string(out), "\n") != 3 {
		t.Fatalf("%v: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		id, _, _ := strings.Cut(line, " ")
		if out, err := s.command(assent, "undo", id).CombinedOutput(); err != nil || !strings.Contains(string(out), "Restored.") {
			t.Errorf("%s%v: %s", line, err, out)
		}
	}
	data, err := os.ReadFile(filepath.Join(s.project, "a"))
	if err != nil || string(data) == "changed\n" || s.exists("b") || s.exists("c") || s.exists(".claude") {
		t.Errorf("a is %q, %v", data, err)
	}
}

// A question is asked in the inbox, and its answer counts.
func TestStageAsksTheInbox(t *testing.T) {
	s := newStage(t)
	db, err := store.Open(t.Context(), filepath.Join(s.top, "state", "assent"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.BeginSession(t.Context(), sessions.Session{ID: "inbox", Kind: sessions.KindInbox, Owner: store.ThisProcess()}); err != nil {
		t.Fatal(err)
	}
	answer := func(decide func(*approval.Request) approval.Decision) {
		s.eventually("the question is posted", func() bool {
			waiting, err := db.Open(context.Background(), "")
			if err != nil || len(waiting) == 0 {
				return false
			}
			d := decide(waiting[0].Request)
			d.By = policy.Who{User: "tester", Via: policy.ViaInbox}
			return db.Answer(context.Background(), d) == nil
		})
	}
	for _, yes := range []bool{true, false} {
		go answer(func(r *approval.Request) approval.Decision {
			if yes {
				return r.Approve("")
			}
			return r.Deny("no")
		})
		r := s.judge("s", "git clean -n; touch asked"+fmt.Sprint(yes))
		if (r.Out.Decision == "allow") != yes {
			t.Fatalf("%v: %+v", yes, r)
		}
		if yes {
			if output, status := s.agentRuns(r.Out.Input.Command); status != 0 {
				t.Errorf("%d %s", status, output)
			}
		}
		if s.exists("asked"+fmt.Sprint(yes)) != yes {
			t.Errorf("%v: the file", yes)
		}
	}
	go func() { // the changed command is shown once more
		answer(func(r *approval.Request) approval.Decision {
			return r.Change([]byte(`{"command":"git clean -n; touch changed"}`), "")
		})
		answer(func(r *approval.Request) approval.Decision { return r.Approve("not that one") })
	}()
	output, _ := s.agentRuns(s.judge("s", "git clean -n; touch original").Out.Input.Command)
	if !strings.Contains(output, "this ran: git clean -n; touch changed") || !strings.Contains(output, "the person said: not that one") || !s.exists("changed") || s.exists("original") {
		t.Errorf("a changed command: %s", output)
	}
}

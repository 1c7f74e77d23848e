package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// hookBinary is assent-hook as it is shipped, in a folder of its own.
var hookBinary = sync.OnceValues(func() (string, error) {
	if _, err := program(); err != nil { // it makes the folder that is removed at the end
		return "", err
	}
	path := filepath.Join(programDir, "hook", "assent-hook")
	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", path, "../assent-hook")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	return path, build.Run()
})

// An edited is a project in which an agent edits files with its own tools.
type edited struct {
	t        *testing.T
	top, dir string
	hook     string
}

func newEdited(t *testing.T, conf string) *edited {
	t.Helper()
	hook, err := hookBinary()
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	e := &edited{t: t, top: top, dir: filepath.Join(top, "project"), hook: hook}
	e.put("a.txt", "one\ntwo\n")
	e.put("b.txt", "keep\n")
	e.put("n.ipynb", notebook)
	if conf != "" {
		e.put(".assent/policy.yaml", conf)
		e.assent(0, "trust", "--yes", ".assent/policy.yaml")
	}
	return e
}

const notebook = `{"cells":[{"id":"c1","cell_type":"code","source":["print(1)"]}]}`

const freeEdits = "version: 1\nsandbox:\n  paths:\n    \".\": {root: ., mode: rw, approval: {read: allow, write: allow, delete: allow}}\n"

func (e *edited) put(name, text string) {
	e.t.Helper()
	path := filepath.Join(e.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

// want checks the text of a file; "-" means that the file must not exist.
func (e *edited) want(name, text string) {
	e.t.Helper()
	data, err := os.ReadFile(filepath.Join(e.dir, name))
	if os.IsNotExist(err) {
		data = []byte("-")
	} else if err != nil {
		e.t.Fatal(err)
	}
	if string(data) != text {
		e.t.Errorf("%s is %q, want %q", name, data, text)
	}
}

func (e *edited) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + e.top, "TMPDIR=" + e.top, "XDG_STATE_HOME=" + filepath.Join(e.top, "state"),
		"XDG_CONFIG_HOME=" + filepath.Join(e.top, "config"), "CLAUDE_PROJECT_DIR=" + e.dir, "GEMINI_PROJECT_DIR=" + e.dir, "LANG=C.UTF-8",
	}
}

// assent runs the program, and returns what it printed.
func (e *edited) assent(status int, args ...string) string {
	e.t.Helper()
	c := assent(e.t, nil, args...)
	c.Dir, c.Env = e.dir, e.env()
	out, _ := c.CombinedOutput()
	if got := c.ProcessState.ExitCode(); got != status {
		e.t.Fatalf("assent %v ends with %d, want %d: %s", args, got, status, out)
	}
	return string(out)
}

// command is the hook about to answer an event.
func (e *edited) command(agent, hook, id, tool string, input any) *exec.Cmd {
	e.t.Helper()
	event := map[string]any{"session_id": "s", "cwd": e.dir, "hook_event_name": hook, "tool_name": tool, "tool_input": input}
	if id != "" {
		event["tool_use_id"] = id
	}
	if agent == "cursor" {
		event["conversation_id"], event["workspace_roots"] = "s", []string{e.dir}
	}
	data, err := json.Marshal(event)
	if err != nil {
		e.t.Fatal(err)
	}
	c := exec.Command(e.hook, agent)
	c.Dir, c.Env, c.Stdin = e.dir, e.env(), bytes.NewReader(data)
	return c
}

// event has the hook answer an event, and wants a part in what it says.
func (e *edited) event(agent, hook, id, tool string, input any, part string) {
	e.t.Helper()
	out, err := e.command(agent, hook, id, tool, input).CombinedOutput()
	if err != nil && part != "" || !strings.Contains(string(out), part) {
		e.t.Fatalf("%s %s %s: %v, %s; want %q", agent, hook, tool, err, out, part)
	}
}

var undoHead = regexp.MustCompile(`(?m)^([a-z2-7]{10})  \S+ \S+  (.*)$`)

// listed are the ids that undo lists, the newest first, each with what it says about the first
// file.
func (e *edited) listed() (ids, texts []string) {
	e.t.Helper()
	for _, m := range undoHead.FindAllStringSubmatch(e.assent(0, "undo", "--session", "s"), -1) {
		if len(ids) == 0 || ids[len(ids)-1] != m[1] {
			ids, texts = append(ids, m[1]), append(texts, m[2])
		}
	}
	return ids, texts
}

// undone undoes the only thing there is to undo.
func (e *edited) undone(what string) {
	e.t.Helper()
	ids, texts := e.listed()
	if len(ids) != 1 || !strings.Contains(texts[0], what) {
		e.t.Fatalf("%v %v can be undone, want one %q", ids, texts, what)
	}
	e.assent(0, "undo", ids[0])
	e.empty()
}

func (e *edited) empty() {
	e.t.Helper()
	if out := e.assent(0, "undo"); !strings.Contains(out, "nothing to undo") {
		e.t.Errorf("it lists %s", out)
	}
}

func TestUndoOfAnAgentsOwnEdits(t *testing.T) {
	const allow, none = `"allow"`, "{}"
	for name, c := range map[string]struct {
		agent, before, after, tool, answer string
		input                              func(dir string) any
		edit                               func(e *edited)
		what                               string
	}{
		"Claude Code makes a file": {"claude-code", "PreToolUse", "PostToolUse", "Write", allow,
			func(dir string) any { return map[string]string{"file_path": dir + "/sub/new.txt", "content": "new\n"} },
			func(e *edited) { e.put("sub/new.txt", "new\n") }, "write_file by claude-code"},
		"Claude Code edits": {"claude-code", "PreToolUse", "PostToolUse", "Edit", allow,
			func(dir string) any {
				return map[string]string{"file_path": dir + "/a.txt", "old_string": "two", "new_string": "2"}
			},
			func(e *edited) { e.put("a.txt", "one\n2\n") }, "a.txt"},
		"Claude Code edits and tidies": {"claude-code", "PreToolUse", "PostToolUse", "Edit", allow,
			func(dir string) any {
				return map[string]string{"file_path": dir + "/a.txt", "old_string": "two", "new_string": "2  "}
			},
			func(e *edited) { e.put("a.txt", "one\n2\n") }, "a.txt"},
		"Claude Code edits twice": {"claude-code", "PreToolUse", "PostToolUse", "MultiEdit", allow,
			func(dir string) any {
				return map[string]any{"file_path": dir + "/a.txt", "edits": []any{
					map[string]string{"old_string": "one", "new_string": "1"}, map[string]string{"old_string": "two", "new_string": "2"}}}
			},
			func(e *edited) { e.put("a.txt", "1\n2\n") }, "a.txt"},
		"Claude Code edits a notebook, laid out in its own way": {"claude-code", "PreToolUse", "PostToolUse", "NotebookEdit", allow,
			func(dir string) any {
				return map[string]string{"notebook_path": dir + "/n.ipynb", "cell_id": "c1", "new_source": "print(2)"}
			},
			func(e *edited) { e.put("n.ipynb", "{\"cells\":[ {\"id\":\"c1\",\"source\":\"print(2)\"} ]}") }, "n.ipynb"},
		"Codex patches several files": {"codex", "PreToolUse", "PostToolUse", "apply_patch", none,
			func(string) any {
				return map[string]string{"command": "*** Begin Patch\n*** Add File: new.txt\n+new\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Delete File: b.txt\n*** End Patch\n"}
			},
			func(e *edited) {
				e.put("new.txt", "new\n")
				e.put("a.txt", "one\n2\n")
				if err := os.Remove(filepath.Join(e.dir, "b.txt")); err != nil {
					e.t.Fatal(err)
				}
			}, "edit_file by codex"},
		"Codex moves a file": {"codex", "PreToolUse", "PostToolUse", "apply_patch", none,
			func(string) any {
				return map[string]string{"command": "*** Begin Patch\n*** Update File: a.txt\n*** Move to: c.txt\n@@\n one\n-two\n+2\n*** End Patch\n"}
			},
			func(e *edited) {
				e.put("c.txt", "one\n2\n")
				if err := os.Remove(filepath.Join(e.dir, "a.txt")); err != nil {
					e.t.Fatal(err)
				}
			}, "edit_file by codex"},
		"Gemini CLI writes": {"gemini", "BeforeTool", "AfterTool", "write_file", allow,
			func(dir string) any { return map[string]string{"file_path": dir + "/a.txt", "content": "x"} },
			func(e *edited) { e.put("a.txt", "x") }, "write_file by gemini"},
		"Gemini CLI replaces": {"gemini", "BeforeTool", "AfterTool", "replace", allow,
			func(dir string) any {
				return map[string]string{"file_path": dir + "/a.txt", "old_string": "one", "new_string": "1"}
			},
			func(e *edited) { e.put("a.txt", "1\ntwo\n") }, "edit_file by gemini"},
		"Cursor deletes": {"cursor", "preToolUse", "postToolUse", "Delete", allow,
			func(string) any { return map[string]string{"path": "b.txt"} },
			func(e *edited) {
				if err := os.Remove(filepath.Join(e.dir, "b.txt")); err != nil {
					e.t.Fatal(err)
				}
			}, "delete_file by cursor"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdited(t, freeEdits)
			id := "t1"
			if c.agent == "gemini" {
				id = "" // it has none
			}
			e.event(c.agent, c.before, id, c.tool, c.input(e.dir), c.answer)
			e.empty() // nothing has happened yet
			c.edit(e)
			e.event(c.agent, c.after, id, c.tool, c.input(e.dir), "")
			e.undone(c.what)
			e.want("a.txt", "one\ntwo\n")
			e.want("b.txt", "keep\n")
			e.want("n.ipynb", notebook)
			e.want("new.txt", "-")
			e.want("c.txt", "-")
			e.want("sub/new.txt", "-")
		})
	}
}

func writeMine(dir string) any {
	return map[string]string{"file_path": dir + "/a.txt", "content": "mine\n"}
}

// kept are the files in the undo folder.
func (e *edited) kept() []string {
	e.t.Helper()
	names, err := filepath.Glob(filepath.Join(e.top, "state", "assent", "undo", "*.json"))
	if err != nil {
		e.t.Fatal(err)
	}
	return names
}

func TestADeniedEditKeepsNothing(t *testing.T) {
	e := newEdited(t, freeEdits+"rules:\n  - deny write_file(a.txt)\n")
	e.event("claude-code", "PreToolUse", "t1", "Write", writeMine(e.dir), `"deny"`)
	if got := e.kept(); len(got) > 0 {
		t.Errorf("it keeps %v", got)
	}
	e.empty()
}

// An edit that failed, or that the person refused at the agent's own prompt, is not listed.
func TestAnEditThatDidNotHappen(t *testing.T) {
	e := newEdited(t, "")
	e.event("claude-code", "PreToolUse", "t1", "Write", writeMine(e.dir), `"ask"`)
	if len(e.kept()) != 1 {
		t.Errorf("what is asked at the agent's prompt is not kept ahead: %v", e.kept())
	}
	e.empty()
	e.event("claude-code", "PostToolUseFailure", "t1", "Write", writeMine(e.dir), "")
	if got := e.kept(); len(got) > 0 {
		t.Errorf("a failed edit keeps %v", got)
	}
}

func TestUndoLeavesWhatOthersChanged(t *testing.T) {
	e := newEdited(t, freeEdits)
	e.event("claude-code", "PreToolUse", "t1", "Write", writeMine(e.dir), `"allow"`)
	e.put("a.txt", "mine\n")
	e.event("claude-code", "PostToolUse", "t1", "Write", writeMine(e.dir), "")
	e.put("a.txt", "theirs\n")
	ids, _ := e.listed()
	if out := e.assent(1, "undo", ids[0]); !strings.Contains(out, "it has changed since") {
		t.Errorf("it says %s", out)
	}
	e.want("a.txt", "theirs\n")

	// While a person was asked at the agent's prompt, somebody else changed the file.
	e = newEdited(t, "")
	edit := map[string]string{"file_path": e.dir + "/a.txt", "old_string": "two", "new_string": "2"}
	e.event("claude-code", "PreToolUse", "t1", "Edit", edit, `"ask"`)
	e.put("a.txt", "theirs\n2\n")
	e.event("claude-code", "PostToolUse", "t1", "Edit", edit, "")
	ids, _ = e.listed()
	if out := e.assent(1, "undo", ids[0]); !strings.Contains(out, "it has changed since") {
		t.Errorf("it says %s", out)
	}
	e.want("a.txt", "theirs\n2\n")
}

// Two edits whose hooks were answered before either ran: undoing the second would undo the first.
func TestUndoOfEditsAtOnce(t *testing.T) {
	e := newEdited(t, freeEdits)
	one := map[string]string{"file_path": e.dir + "/a.txt", "old_string": "one", "new_string": "1"}
	two := map[string]string{"file_path": e.dir + "/a.txt", "old_string": "two", "new_string": "2"}
	e.event("claude-code", "PreToolUse", "t1", "Edit", one, `"allow"`)
	e.event("claude-code", "PreToolUse", "t2", "Edit", two, `"allow"`)
	e.put("a.txt", "1\ntwo\n")
	e.event("claude-code", "PostToolUse", "t1", "Edit", one, "")
	e.put("a.txt", "1\n2\n")
	e.event("claude-code", "PostToolUse", "t2", "Edit", two, "")
	ids, _ := e.listed()
	if len(ids) != 2 {
		t.Fatalf("listed are %v", ids)
	}
	for _, id := range ids {
		e.assent(1, "undo", id)
	}
	e.want("a.txt", "1\n2\n")
}

func TestWhatUndoCannotCoverAsks(t *testing.T) {
	e := newEdited(t, freeEdits)
	e.put("large.bin", strings.Repeat("x", 16<<20+1))
	large := map[string]string{"file_path": e.dir + "/large.bin", "content": "small"}
	e.event("claude-code", "PreToolUse", "t1", "Write", large, "undo will not cover it: large.bin: 16777217 bytes: too large to be kept for undo")
	e.event("claude-code", "PreToolUse", "t2", "Write", writeMine(e.dir), `"allow"`)

	// A store that fails asks; a policy that has nothing kept does not.
	if err := os.RemoveAll(filepath.Join(e.top, "state", "assent", "undo")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(e.top, "state", "assent", "undo"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e.event("claude-code", "PreToolUse", "t3", "Write", writeMine(e.dir), `"ask","permissionDecisionReason":"assent asks: undo will not cover it: `)
	e.put(".assent/policy.yaml", freeEdits+"undo: off\n")
	e.assent(0, "trust", "--yes", ".assent/policy.yaml")
	e.event("claude-code", "PreToolUse", "t4", "Write", writeMine(e.dir), `"allow"`)
}

func TestKilledBetweenHookAndEdit(t *testing.T) {
	// The agent is killed after the answer, before or after it wrote: no later event tells.
	e := newEdited(t, freeEdits)
	e.event("claude-code", "PreToolUse", "t1", "Write", writeMine(e.dir), `"allow"`)
	e.empty()
	e.put("a.txt", "mine\n")
	e.undone("a.txt")
	e.want("a.txt", "one\ntwo\n")

	// The hook is killed while a person is asked.
	e = newEdited(t, "")
	s := e.inbox()
	c := e.waits(s)
	if len(e.kept()) != 1 {
		t.Errorf("what is asked about is not kept before: %v", e.kept())
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	e.empty()
	e.want("a.txt", "one\ntwo\n")
	if err := s.EndSession(t.Context(), "inbox"); err != nil {
		t.Fatal(err)
	}
	e.event("claude-code", "PreToolUse", "t2", "Write", writeMine(e.dir), `"ask"`)
}

// inbox has somebody there who could answer.
func (e *edited) inbox() *store.Store {
	e.t.Helper()
	s, err := store.Open(e.t.Context(), filepath.Join(e.top, "state", "assent"), store.Options{})
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { s.Close() })
	if err := s.BeginSession(e.t.Context(), sessions.Session{ID: "inbox", Kind: sessions.KindInbox, Owner: store.ThisProcess()}); err != nil {
		e.t.Fatal(err)
	}
	return s
}

// waits starts a hook that has somebody asked, and returns when the question waits.
func (e *edited) waits(s *store.Store) *exec.Cmd {
	e.t.Helper()
	c := e.command("claude-code", "PreToolUse", "t1", "Write", writeMine(e.dir))
	if err := c.Start(); err != nil {
		e.t.Fatal(err)
	}
	late := time.After(patience)
	for tick := time.Tick(time.Millisecond); ; {
		waiting, err := s.Open(e.t.Context(), "")
		if err != nil {
			e.t.Fatal(err)
		}
		if len(waiting) > 0 {
			return c
		}
		select {
		case <-tick:
		case <-late:
			_ = c.Process.Kill()
			e.t.Fatal("no question waits")
		}
	}
}

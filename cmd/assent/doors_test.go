package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// notDoors are the commands through which no call of an agent comes in. Every other one must
// be in the table of doors: see TestEveryDoorIsInTheTable.
var notDoors = []string{
	"agents", "api", "approvals", "approve", "audit", "bridge", "completion", "demo", "deny", "doctor", "gates", "grants", "groups", "help", "import", "inbox", "init", "install", "join", "leave", "manual", "notify-webhook", "pending", "people", "policy", "rules",
	"sandbox doctor", "sandbox show", "schema", "serve", "status", "trust", "undo", "uninstall", "verify", "version",
}

// A doorCall is a call that every door must judge alike.
type doorCall struct {
	name string // of the case
	tool string // by our name, or CONNECTOR:NAME
	args string // $STATE is the state folder
	want string // runs, asks or refused
	why  string // a part of the reason
	// not are doors that cannot express the call, or that rightly judge it otherwise, and why.
	not map[string]string
}

// What only some doors have.
var (
	noTool     = map[string]string{"hook": "other agents have no such tool"}
	ownWorkers = map[string]string{"hook": "other agents have workers of their own", "mcp": "workers are not offered to clients", "call": "only a run has workers", "explain": "only a run has workers", "open": "a program that embeds assent has tools of its own for that"}
	outsiders  = map[string]string{"hook": "another agent reaches files outside the roots by itself, so that a person is asked"}
	noFolder   = map[string]string{"hook permission-tool": "it is not told which folder the agent's shell is in, so that relative paths are unknown"}
	noHTTP     = map[string]string{"hook codex": "Codex has no tool for requests", "hook gemini": "Gemini CLI has no tool for one URL"}
)

// doorCalls are judged under doorAdmin, doorUser, the kept doorRules and doorPolicy.
var doorCalls = []doorCall{
	{"free read", "read_file", `{"path":"a.txt"}`, "runs", "", nil},
	{"read denied by the project", "read_file", `{"path":"private/x.txt"}`, "refused", "deny read_file(private/**)", nil},
	{"read excepted by the project", "read_file", `{"path":"private/readme.md"}`, "runs", "", nil},
	{"read denied by the administrator", "read_file", `{"path":"admins/x.txt"}`, "refused", "deny read_file(admins/**)", nil},
	{"read denied by the user", "read_file", `{"path":"users/x.txt"}`, "refused", "deny read_file(users/**)", nil},
	{"read denied by a kept rule", "read_file", `{"path":"kept/x.txt"}`, "refused", "deny read_file(kept/**)", nil},
	{"read denied by a kept rule of this project", "read_file", `{"path":"here/x.txt"}`, "refused", "deny read_file(here/**)", nil},
	{"read denied by a kept rule of another project", "read_file", `{"path":"there/x.txt"}`, "runs", "", nil},
	{"read of a secret", "read_file", `{"path":".env"}`, "asks", "secret", nil},
	{"read outside", "read_file", `{"path":"/etc/hostname"}`, "refused", "", outsiders},
	{"asked write", "write_file", `{"path":"new.txt","content":"n\n"}`, "asks", "asks before writes", nil},
	{"write that a rule allows", "write_file", `{"path":"drafts/a.md","content":"n\n"}`, "runs", "allow write_file(drafts/**)", nil},
	{"write that a rule denies", "write_file", `{"path":"drafts/a.lock","content":"n\n"}`, "refused", "deny write_file(**/*.lock)", nil},
	{"free write", "write_file", `{"path":"free/a.txt","content":"n\n"}`, "runs", "", nil},
	{"write denied by the administrator", "write_file", `{"path":"free/admin/a.txt","content":"n\n"}`, "refused", "deny write_file(free/admin/**)", nil},
	{"write denied by a kept rule", "write_file", `{"path":"free/kept/a.txt","content":"n\n"}`, "refused", "deny write_file(free/kept/**)", nil},
	{"write in a read-only root", "write_file", `{"path":"locked/a.txt","content":"n\n"}`, "refused", "", nil},
	{"write to git's own", "write_file", `{"path":".git/config","content":"n\n"}`, "refused", "", nil},
	{"write to the policy", "write_file", `{"path":".assent/policy.yaml","content":"n\n"}`, "refused", "", nil},
	{"write to the user's config", "write_file", `{"path":"$CONFIG/assent/config.yaml","content":"n\n"}`, "refused", "", nil},
	{"write to the state", "write_file", `{"path":"$STATE/assent/assent.db","content":"n\n"}`, "refused", "", nil},
	{"delete blocked by config", "delete_file", `{"path":"a.txt"}`, "refused", "", noTool},
	{"edit", "edit_file", `{"path":"a.txt","old_text":"one","new_text":"1"}`, "asks", "asks before writes", noTool},
	{"list", "list_files", `{"path":"."}`, "runs", "", noTool},
	{"search", "search_files", `{"pattern":"one","path":"."}`, "runs", "", noTool},
	{"move out of a free root", "move_file", `{"source":"free/b.txt","destination":"b.txt"}`, "asks", "asks before writes", noTool},
	{"make a folder", "make_dir", `{"path":"folder"}`, "asks", "asks before writes", noTool},

	{"free command", "shell", `{"command":"ls"}`, "runs", "", noFolder},
	{"command that reads", "shell", `{"command":"cat a.txt"}`, "runs", "", noFolder},
	{"command that reads what the project denies", "shell", `{"command":"cat private/x.txt"}`, "refused", "deny read_file(private/**)", noFolder},
	{"command that reads what the user denies", "shell", `{"command":"cat users/x.txt"}`, "refused", "deny read_file(users/**)", noFolder},
	{"command that reads what the administrator denies", "shell", `{"command":"head -1 ./admins/x.txt"}`, "refused", "deny read_file(admins/**)", noFolder},
	{"command denied by the administrator", "shell", `{"command":"shred a.txt"}`, "refused", "deny shell(shred)", nil},
	{"command denied by the user", "shell", `{"command":"npm publish"}`, "refused", "deny shell(npm publish)", nil},
	{"command denied by config", "shell", `{"command":"git reset --hard"}`, "refused", "git reset --hard", nil},
	{"command allowed by config", "shell", `{"command":"lintall --built"}`, "runs", "", nil},
	{"command allowed by the user", "shell", `{"command":"lintall --linted"}`, "runs", "allow shell(lintall --linted)", nil},
	{"command allowed by a kept rule", "shell", `{"command":"lintall --kept"}`, "runs", "allow shell(lintall --kept)", nil},
	{"command allowed by a kept rule of this project", "shell", `{"command":"lintall --here"}`, "runs", "allow shell(lintall --here)", nil},
	{"command allowed by a kept rule of another project", "shell", `{"command":"lintall --there"}`, "asks", "", nil},
	{"command that reads what another project denies", "shell", `{"command":"cat there/x.txt"}`, "runs", "", noFolder},
	{"project's code that a kept rule allows", "shell", `{"command":"sh a.txt"}`, "runs", "allow project_code", noFolder},
	{"project's code with a variable", "shell", `{"command":"LD_PRELOAD=x sh a.txt"}`, "asks", "", noFolder},
	{"asked command", "shell", `{"command":"git push"}`, "asks", "", nil},
	{"command that config asks about", "shell", `{"command":"lintall --deploy"}`, "asks", "", nil},
	{"redirection that asks", "shell", `{"command":"echo hi > new.txt"}`, "asks", "asks before writes", noFolder},
	{"redirection that is free", "shell", `{"command":"echo hi > free/echo.txt"}`, "runs", "", noFolder},
	{"redirection that is denied", "shell", `{"command":"echo hi > free/admin/x"}`, "refused", "deny write_file(free/admin/**)", noFolder},
	{"unknown program word", "shell", `{"command":"$TOOL x"}`, "asks", "", nil},
	{"unreadable code", "shell", `{"command":"python3 -c 'print(1)'"}`, "asks", "", nil},
	{"our own commands", "shell", `{"command":"assent approve x"}`, "refused", "", nil},
	{"text that does not parse", "shell", `{"command":"echo 'x"}`, "refused", "", nil},

	{"listed host", "http_request", `{"method":"GET","url":"https://docs.invalid/"}`, "runs", "", noHTTP},
	{"other host", "http_request", `{"method":"GET","url":"https://other.invalid/"}`, "asks", "", noHTTP},
	{"denied host", "http_request", `{"method":"GET","url":"https://evil.invalid/"}`, "refused", "deny connect(evil.invalid:443)", noHTTP},

	{"command to a host that a rule denies", "shell", `{"command":"curl https://evil.invalid/"}`, "refused", "deny connect(evil.invalid:443)", nil},
	{"command to a host that config denies", "shell", `{"command":"curl https://bad.invalid/"}`, "refused", "bad.invalid", nil},
	{"command to another host", "shell", `{"command":"curl https://other.invalid/"}`, "asks", "", nil},
	{"host that config denies", "http_request", `{"method":"GET","url":"https://bad.invalid/"}`, "refused", "bad.invalid", noHTTP},

	{"connector's tool", "notes:wait", `{"path":"x","text":"x"}`, "asks", "", nil},
	{"connector's tool that config allows", "notes:echo", `{"text":"hi"}`, "runs", "", nil},
	{"connector's tool that config denies", "notes:fail", `{"text":"hi"}`, "refused", "", nil},
	{"connector's tool that a rule denies", "notes:count", `{}`, "refused", "deny notes:count", nil},

	{"worker", "worker_call", `{"worker":"helper","input":"x"}`, "asks", "calling a worker asks", ownWorkers},
	{"worker that is not named", "worker_call", `{"worker":"other","input":"x"}`, "refused", "allow_workers", ownWorkers},
}

// untrustedCalls are judged under an administrator's deny and untrustedUser, with a project's policy that
// nobody trusts: it can only forbid. $ROOT is how a door's own files begin.
var untrustedCalls = []doorCall{
	{"free read", "read_file", `{"path":"$ROOTa.txt"}`, "runs", "", nil},
	{"read that the project denies", "read_file", `{"path":"$ROOTprivate/x.txt"}`, "refused", "private/**", nil},
	{"read that the administrator denies", "read_file", `{"path":"$ROOTadmins/x.txt"}`, "refused", "admins/**", nil},
	{"write that the project denies", "write_file", `{"path":"$ROOTdrafts/a.lock","content":"x"}`, "refused", "*.lock", nil},
	{"write that the user allows", "write_file", `{"path":"$ROOTdrafts/a.md","content":"x"}`, "runs", "", nil},
	{"free command", "shell", `{"command":"ls"}`, "runs", "", noFolder},
	{"command that the project denies", "shell", `{"command":"git reset --hard"}`, "refused", "git reset --hard", nil},
	{"command that the project allows", "shell", `{"command":"lintall --built"}`, "asks", "", nil},
	{"command that the user allows", "shell", `{"command":"lintall --linted"}`, "runs", "", nil},
	{"command that the user allows and the project denies", "shell", `{"command":"lintall --linted --no"}`, "refused", "--no", nil},
	{"write to the policy", "write_file", `{"path":"$ROOT.assent/policy.yaml","content":"x"}`, "refused", "", nil},
}

const untrustedPolicy = `sandbox:
  paths: {.: {root: ., mode: rw, approval: {delete: allow}}, other: {root: /etc, mode: rw}}
  network: true
shell:
  rules:
    - {pattern: "lintall --built", approval: allow}
    - {pattern: "git reset --hard", approval: deny}
    - {pattern: "lintall --linted --no", approval: deny}
rules:
  - deny read_file(**/private/**)
  - deny write_file(**/*.lock)
  - allow shell(lintall --built)
`

// untrustedUser is the user's config: it gives the project to agents under a name of its own.
func untrustedUser(dir string) string {
	return fmt.Sprintf("sandbox:\n  paths: {work: {root: %q, mode: rw, approval: {write: allow}}}\nshell:\n  presets: [readonly]\n  cwd: work\n", dir) +
		"rules:\n  - allow shell(lintall --linted)\n"
}

const (
	doorAdmin = "rules:\n  - deny read_file(admins/**)\n  - deny write_file(free/admin/**)\n  - deny shell(shred)\n"
	doorUser  = "rules:\n  - deny read_file(users/**)\n  - deny shell(npm publish)\n  - allow shell(lintall --linted)\n  - deny connect(evil.invalid:443)\n"
)

// doorRules are kept in the store.
var doorRules = []string{"deny read_file(kept/**)", "deny write_file(free/kept/**)", "allow shell(lintall --kept)", "allow project_code(/**/*)"}

// hereRules are kept for the project, thereRules for another one.
var (
	hereRules  = []string{"deny read_file(here/**)", "allow shell(lintall --here)"}
	thereRules = []string{"deny read_file(there/**)", "allow shell(lintall --there)"}
)

// doorPolicy is the project's own.
func doorPolicy() string {
	return `sandbox:
  paths:
    .: {root: ., mode: rw, approval: {read: allow, write: ask, delete: deny}}
    free: {root: ./free, mode: rw, approval: {write: allow, delete: allow}}
    locked: {root: ./locked, mode: ro}
  network: {allow: [docs.invalid], deny: [bad.invalid]}
shell:
  presets: [readonly]
  cwd: .
  rules:
    - {pattern: "lintall --built", approval: allow}
    - {pattern: "git reset --hard", approval: deny}
    - {pattern: "lintall --deploy", approval: ask}
tools:
  "notes:echo": {approval: allow}
  "notes:fail": {approval: deny}
connectors:
` + mcpServer("notes", mcptest.Ordinary, "") + `rules:
  - deny read_file(private/**)
  - deny write_file(**/*.lock)
  - allow write_file(drafts/**)
  - deny notes:count
except:
  - read_file(private/readme.md)
`
}

// A scene is a project with all tiers of policy, and the program whose administrator's file
// is one of the test.
type scene struct {
	t                 *testing.T
	top, dir, program string
	home              string // of the person, in the project: a root covers it
	state             string // of the door that is tried
	root              string // how its own files begin
	config            string // the person's config folder
	sandboxed         bool
}

// onStage is how doors end whose commands run on the stage.
const onStage = " on the stage"

func newScene(t *testing.T, sandboxed bool) *scene {
	t.Helper()
	// Not below /tmp: that is private in a sandbox.
	top, err := os.MkdirTemp("/var/tmp", "assent-doors-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	s := &scene{t: t, top: top, dir: filepath.Join(top, "project"), program: filepath.Join(top, "bin", "assent"), sandboxed: sandboxed}
	s.home = filepath.Join(s.dir, "home")
	s.state, s.config = filepath.Join(s.home, "state"), filepath.Join(s.home, "config")
	for name, text := range map[string]string{
		"admin/policy.yaml": doorAdmin, "project/home/config/assent/config.yaml": doorUser, "project/.assent/policy.yaml": doorPolicy(),
		"project/w.worker":              "---\nmodel: script:none.yaml\nallow_workers: [helper]\n" + doorPolicy() + "---\nYou work.\n",
		"project/workers/helper.worker": "---\nmodel: script:none.yaml\n---\nYou help.\n",
		"project/a.txt":                 "one\n", "project/private/x.txt": "p\n", "project/private/readme.md": "r\n", "project/admins/x.txt": "a\n",
		"project/users/x.txt": "u\n", "project/kept/x.txt": "k\n", "project/.env": "TOKEN=1\n", "project/free/b.txt": "b\n",
		"project/here/x.txt": "h\n", "project/there/x.txt": "t\n", "other/x.txt": "",
		"project/locked/x.txt": "l\n", "project/.git/config": "", "project/drafts/x.md": "",
	} {
		s.put(name, text)
	}
	build := exec.Command("go", slices.Concat([]string{"build", "-o", s.program}, s.ldflags(), []string{"."})...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.must("trust", "--yes", ".")
	s.must("trust", "--yes", "w.worker")
	for _, rule := range doorRules {
		s.must("rules", "add", "--wide", rule)
	}
	for _, rule := range hereRules {
		s.must("rules", "add", "--here", rule)
	}
	for _, rule := range thereRules {
		s.must("rules", "add", "--project", "../other", rule)
	}
	return s
}

// ldflags make the file of the scene the administrator's.
func (s *scene) ldflags() []string {
	return []string{"-buildvcs=false", "-ldflags",
		"-s -w -X github.com/assent-dev/assent/internal/setup.Administrator=" + filepath.Join(s.top, "admin", "policy.yaml")}
}

func (s *scene) put(name, text string) {
	s.t.Helper()
	file := filepath.Join(s.top, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

// at is the scene with a state of its own for a door: trusted and kept is the same.
func (s *scene) at(t *testing.T, door string) *scene {
	t.Helper()
	own := *s
	if strings.Contains(door, "hook") { // they have host paths
		own.root = ""
	}
	if strings.HasSuffix(door, onStage) {
		user, err := os.ReadFile(filepath.Join(s.config, "assent", "config.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		own.config = filepath.Join(s.home, "staged")
		s.put("project/home/staged/assent/config.yaml", string(user)+"hook: {shell: stage}\n")
	}
	own.t, own.state = t, filepath.Join(s.home, "states", strings.ReplaceAll(door, " ", "-"))
	if err := os.CopyFS(own.state, os.DirFS(s.state)); err != nil {
		t.Fatal(err)
	}
	return &own
}

// command is the program in the project, held by a sandbox or where there is none.
func (s *scene) command(args ...string) *exec.Cmd {
	c := exec.Command(s.program, args...)
	if !s.sandboxed {
		c = exec.Command("unshare", append([]string{"-U", "-r", "sh", "-c", `echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"`, "sh", s.program}, args...)...)
	}
	c.Dir = s.dir
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "TMPDIR=" + s.top, "XDG_STATE_HOME=" + s.state, "XDG_CONFIG_HOME=" + s.config,
		"LANG=C.UTF-8",
	}
	return c
}

func (s *scene) must(args ...string) {
	s.t.Helper()
	if out, err := s.command(args...).CombinedOutput(); err != nil {
		s.t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

// args are the arguments of a call for this door.
func (s *scene) args(c doorCall) string {
	state, err := filepath.Rel(s.dir, s.state)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.NewReplacer("$STATE", state, "$ROOT", s.root, "$CONFIG", "home/"+filepath.Base(s.config)).Replace(c.args)
}

// A judged call is what a door made of it.
type judged struct{ verdict, why string }

// recorded are the calls in the log that have ended or were handed on, in order, from the
// first one that is new.
func (s *scene) recorded(new int) (out []judged) {
	s.t.Helper()
	log, err := store.Open(s.t.Context(), filepath.Join(s.state, "assent"), store.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	for r, err := range log.Records(s.t.Context(), approval.RecordFilter{}) {
		if err != nil {
			s.t.Fatal(err)
		}
		if r.Kind == approval.EventEnded || r.Stage == approval.StageReleased {
			out = append(out, judgedBy(r.State, r.Trace, r.Why))
		}
	}
	return out[min(new, len(out)):]
}

// judgedBy reads a verdict and its reason off a trace.
func judgedBy(state policy.State, trace policy.Trace, why string) judged {
	verdict, looks := "refused", map[string]string{"deny": "denied"}
	switch {
	case state == policy.StateExpired, state == policy.StateHandedOver, state == policy.StateDenied, state == policy.StatePending:
		verdict, looks = "asks", map[string]string{"mode": "ask"}
	case state.Runs():
		verdict, looks, why = "runs", map[string]string{"allow": "covered"}, ""
	}
	for _, step := range trace {
		if looks[step.Look] == step.Found && step.Found != "" {
			return judged{verdict, step.Source}
		}
	}
	return judged{verdict, why}
}

var sources = regexp.MustCompile(`(\.assent/policy\.yaml|w\.worker|[\w./-]*policy\.yaml|config\.yaml):\d+`)

// A door judges calls, one after another.
type door struct {
	name  string // a command of assent, and who calls
	judge func(*scene, []doorCall) []judged
}

// script is a model that makes the calls, one a turn.
func (s *scene) script(calls ...doorCall) string {
	s.t.Helper()
	type said struct {
		Calls []map[string]any `json:"calls,omitempty"`
		Say   string           `json:"say,omitempty"`
	}
	var turns []said
	for _, c := range calls {
		call := map[string]any{"tool": c.tool, "args": json.RawMessage(s.args(c))}
		if connector, name, ok := strings.Cut(c.tool, ":"); ok {
			call["connector"], call["tool"] = connector, name
		}
		turns = append(turns, said{Calls: []map[string]any{call}})
	}
	data, err := json.Marshal(map[string]any{"turns": append(turns, said{Say: "That was all."})})
	if err != nil {
		s.t.Fatal(err)
	}
	file := filepath.Join(s.state, "turns.yaml")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return "script:" + file
}

// soon asks the inbox and turns silence into an end.
var soon = []string{"--ask", "inbox", "--ask-timeout", "20ms"}

// ended runs a command that records what becomes of calls. A refusal ends with a status of
// its own.
func (s *scene) ended(input string, args ...string) string {
	s.t.Helper()
	cmd := s.command(args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		s.t.Fatal(err)
	}
	return string(out)
}

// allDoors are all ways in. The first is the one that the others are compared with.
func allDoors() []door {
	all := []door{
		{"run", func(s *scene, calls []doorCall) []judged {
			s.ended("", append([]string{"run", "--max-steps", "200", "--model", s.script(calls...), "w.worker", "Go on."}, soon...)...)
			return s.recorded(0)
		}},
		{"chat", func(s *scene, calls []doorCall) []judged {
			s.ended("Go on.\n", append([]string{"chat", "--max-steps", "200", "--model", s.script(calls...), "w.worker"}, soon...)...)
			return s.recorded(0)
		}},
		{"call", func(s *scene, calls []doorCall) []judged {
			for _, c := range calls {
				s.ended("", append(append([]string{"call"}, soon...), c.tool, s.args(c))...)
			}
			return s.recorded(0)
		}},
		{"resume", (*scene).resumed},
		{"open", (*scene).opened},
		{"mcp", func(s *scene, calls []doorCall) []judged {
			client, closing := s.client(s.command("mcp", "--tools", "files,shell", "--ask-timeout", "20ms"))
			for _, c := range calls {
				client.call(strings.ReplaceAll(c.tool, ":", "__"), s.args(c))
			}
			closing()
			return s.recorded(0)
		}},
		{"explain", func(s *scene, calls []doorCall) []judged { return s.explained(calls, "run") }},
		{"explain mcp", func(s *scene, calls []doorCall) []judged { return s.explained(calls, "mcp") }},
		{"hook permission-tool", (*scene).permitted},
	}
	for _, a := range agents.All() {
		all = append(all,
			door{"hook " + a.Name, func(s *scene, calls []doorCall) []judged {
				for _, c := range calls {
					s.ended(string(s.event(c, a)), "hook", a.Name)
				}
				return s.recorded(0)
			}},
			door{"explain hook " + a.Name, func(s *scene, calls []doorCall) []judged { return s.explained(calls, a.Name) }})
	}
	// One stands for all that take another command: their keeper judges.
	all = append(all, door{"explain hook claude-code" + onStage, func(s *scene, calls []doorCall) []judged { return s.explained(calls, "claude-code") }})
	return all
}

// resumed has the calls made by a run that waited for another one before.
func (s *scene) resumed(calls []doorCall) []judged {
	s.t.Helper()
	first := doorCall{tool: "shell", args: `{"command":"lintall --first"}`}
	out := s.ended("", "run", "--defer", "--max-steps", "200", "--model", s.script(append([]doorCall{first}, calls...)...), "w.worker", "Go on.")
	var all []judged
	for {
		run, request := runID.FindStringSubmatch(out), requestID.FindAllStringSubmatch(out, -1)
		if run == nil || len(request) != 1 {
			break
		}
		s.must("deny", request[0][1])
		out = s.ended("", "resume", run[1])
	}
	if all = s.recorded(1); len(all) == 0 {
		s.t.Fatalf("the run did not go on:\n%s", out)
	}
	return all
}

// opened has the calls judged by a program that embeds assent. Its administrator is that of the scene.
func (s *scene) opened(calls []doorCall) []judged {
	s.t.Helper()
	program, root := filepath.Join(s.top, "bin", "embedder"), filepath.Join("..", "..")
	if _, err := os.Stat(program); err != nil {
		here, err := filepath.Abs(root)
		if err == nil {
			err = reexec.BuildOutside(s.t.TempDir(), here, filepath.Join(root, "testdata", "embedder", "main.go.txt"), program, s.ldflags()...)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	var lines bytes.Buffer
	for i, c := range calls {
		call := policy.Call{ID: fmt.Sprint("c", i), Tool: c.tool, Arguments: json.RawMessage(s.args(c))}
		if connector, name, ok := strings.Cut(c.tool, ":"); ok {
			call.Connector, call.Tool = connector, name
		}
		if err := json.NewEncoder(&lines).Encode(call); err != nil {
			s.t.Fatal(err)
		}
	}
	own := *s
	own.program = program
	cmd := own.command("judge")
	cmd.Stdin = &lines
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	return s.recorded(0)
}

// client is one of an MCP server.
func (s *scene) client(cmd *exec.Cmd) (client *mcpClient, closing func()) {
	s.t.Helper()
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	var said strings.Builder
	cmd.Stderr = &said
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		s.t.Fatal(err)
	}
	client = &mcpClient{t: s.t, in: in, out: bufio.NewReader(out)}
	client.ask("initialize", hello)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return client, func() {
		s.t.Helper()
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			s.t.Fatalf("%v\n%s", err, said.String())
		}
	}
}

// event is what another agent sends before the call.
func (s *scene) event(c doorCall, a *agents.Agent) []byte {
	s.t.Helper()
	event, err := a.Sample(s.dir, c.tool, json.RawMessage(s.args(c)))
	if err != nil {
		s.t.Fatalf("%s: %v", c.name, err)
	}
	return event
}

// permitted has calls judged by the tool that Claude Code calls in place of its prompt.
func (s *scene) permitted(calls []doorCall) []judged {
	s.t.Helper()
	client, closing := s.client(s.command("hook", "permission-tool"))
	for i, c := range calls {
		var given struct {
			Tool  string          `json:"tool_name"`
			Input json.RawMessage `json:"tool_input"`
		}
		if err := json.Unmarshal(s.event(c, agents.All()[0]), &given); err != nil {
			s.t.Fatal(err)
		}
		client.call("permission", fmt.Sprintf(`{"tool_name":%q,"input":%s,"tool_use_id":"t%d"}`, given.Tool, given.Input, i))
	}
	closing()
	return s.recorded(0)
}

// explained are the answers of explain for who calls.
func (s *scene) explained(calls []doorCall, who string) (all []judged) {
	s.t.Helper()
	var lines strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&lines, `{"tool":%q,"args":%s}`+"\n", c.tool, s.args(c))
	}
	cmd := s.command("explain", "--for", who, "--batch")
	cmd.Stdin = strings.NewReader(lines.String())
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		var a struct {
			Outcome, Why, Error string
			Trace               policy.Trace
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			s.t.Fatalf("%v\n%s", err, line)
		}
		asked, unasked := strings.CutPrefix(a.Why, "it needs approval, and no inbox is open to ask: ")
		switch {
		case a.Outcome == "allow":
			all = append(all, judgedBy(policy.StateFree, a.Trace, ""))
		case a.Outcome == "ask", unasked:
			all = append(all, judgedBy(policy.StatePending, a.Trace, asked))
		default:
			all = append(all, judgedBy(policy.StateAutoDenied, a.Trace, a.Why+a.Error))
		}
	}
	return all
}

// TestDoors takes every call through every door: all give the same verdict for the same
// reason, with and without a sandbox of the operating system.
func TestDoors(t *testing.T) {
	if len(doorCalls) < 40 {
		t.Errorf("there are only %d calls", len(doorCalls))
	}
	for _, held := range []bool{true, false} {
		t.Run(map[bool]string{true: "sandbox", false: "none"}[held], func(t *testing.T) {
			t.Parallel()
			s := newScene(t, held)
			reasons := map[string]judged{} // of the first door, by case, and whether it is another agent's
			for _, d := range allDoors() {
				t.Run(d.name, func(t *testing.T) { s.at(t, d.name).agree(d, doorCalls, reasons) })
			}
		})
	}
}

// TestDoorsOfAnUntrustedProject does the same where the project's policy is not trusted.
func TestDoorsOfAnUntrustedProject(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.root = "work/"
	s.put("admin/policy.yaml", "rules:\n  - deny read_file(**/admins/**)\n")
	s.put("project/home/config/assent/config.yaml", untrustedUser(s.dir))
	s.put("project/.assent/policy.yaml", untrustedPolicy)
	s.put("project/w.worker", "---\nmodel: script:none.yaml\n"+untrustedPolicy+"---\nYou work.\n")
	reasons := map[string]judged{}
	for _, d := range allDoors() {
		t.Run(d.name, func(t *testing.T) { s.at(t, d.name).agree(d, untrustedCalls, reasons) })
	}
}

// agree takes the calls through a door, and compares what it makes of them.
func (s *scene) agree(d door, of []doorCall, reasons map[string]judged) {
	s.t.Helper()
	calls := slices.DeleteFunc(slices.Clone(of), func(c doorCall) bool { return skips(d.name, c.not) })
	all := d.judge(s, calls)
	if len(all) != len(calls) {
		s.t.Fatalf("%d calls, and it judged %d: %v", len(calls), len(all), all)
	}
	for i, c := range calls {
		got := all[i]
		got.why = sources.ReplaceAllString(got.why, "FILE")                    // a worker has a file of its own
		got.why = strings.ReplaceAll(got.why, filepath.Base(s.state), "STATE") // and a door its state
		if got.verdict != c.want || !strings.Contains(got.why, c.why) {
			s.t.Errorf("%s: %s %s: %s (%s), want %s (%s)", c.name, c.tool, c.args, got.verdict, got.why, c.want, c.why)
		}
		key := c.name
		if strings.Contains(d.name, "hook") { // their files go by other names
			key += " of another agent"
		}
		if strings.HasSuffix(d.name, onStage) { // hosts are asked about when a command connects
			key += onStage
		}
		if first, known := reasons[key]; !known {
			reasons[key] = got
		} else if got != first {
			s.t.Errorf("%s: %s %s: %v; another door says %v", c.name, c.tool, c.args, got, first)
		}
	}
}

// What a rule denies to read is not found by a search either, whoever searches, where no
// sandbox hides it.
func TestASearchFindsNothingThatIsDenied(t *testing.T) {
	t.Parallel()
	s := newScene(t, false)
	const search = `{"path":".","pattern":"a secret text"}`
	for _, folder := range []string{"private", "users", "admins", "kept", "drafts"} {
		s.put("project/"+folder+"/found.txt", "a secret text\n")
	}
	client, closing := s.client(s.command("mcp", "--tools", "files", "--strict"))
	found := map[string]string{"mcp": client.call("search_files", search)}
	closing()
	found["call"] = s.ended("", "call", "--strict", "search_files", search)
	s.ended("", "run", "--json", "--strict", "--model", s.script(doorCall{tool: "search_files", args: search}), "w.worker", "Go on.")
	for door, text := range found {
		if !strings.Contains(text, "drafts/found.txt") {
			t.Errorf("%s finds nothing: %s", door, text)
		}
		for _, folder := range []string{"private", "users", "admins", "kept"} {
			if strings.Contains(text, folder) {
				t.Errorf("%s finds what is denied in %s: %s", door, folder, text)
			}
		}
	}
}

// A connector of a project starts in the project's folder from wherever it is used, and one of
// the user's config is not looked for in a project.
func TestConnectorsStartAlikeFromEveryDoor(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	argv, env := mcptest.Command(mcptest.Ordinary)
	var vars strings.Builder
	for key, value := range env {
		fmt.Fprintf(&vars, "export %s=%q\n", key, value)
	}
	s.put("project/server", "#!/bin/sh\n"+vars.String()+"exec "+argv[0]+"\n")
	if err := os.Chmod(filepath.Join(s.dir, "server"), 0o700); err != nil {
		t.Fatal(err)
	}
	conf := "connectors:\n  own: {command: [./server]}\ntools: {\"own:echo\": {approval: allow}}\n"
	s.put("project/.assent/policy.yaml", conf)
	s.put("project/w.worker", "---\nmodel: script:none.yaml\n"+conf+"---\nYou work.\n")
	s.must("trust", "--yes", ".")
	s.must("trust", "--yes", "w.worker")
	below := filepath.Join(s.dir, "free")
	in := func(c *exec.Cmd) *exec.Cmd {
		c.Dir = below
		return c
	}
	client, closing := s.client(in(s.command("mcp", "--strict")))
	found := map[string]string{"mcp": client.call("own__echo", `{"text":"hello"}`)}
	closing()
	for door, args := range map[string][]string{
		"call": {"call", "--strict", "own:echo", `{"text":"hello"}`},
		"run":  {"run", "--strict", "--model", s.script(doorCall{tool: "own:echo", args: `{"text":"hello"}`}), "../w.worker", "Go on."},
	} {
		out, err := in(s.command(args...)).CombinedOutput()
		if found[door] = string(out); err != nil {
			t.Errorf("%s: %v", door, err)
		}
	}
	for door, text := range found {
		if !strings.Contains(text, "hello") {
			t.Errorf("%s: it did not start: %s", door, text)
		}
	}
	s.put("project/home/config/assent/config.yaml", "connectors:\n  mine: {command: [./server]}\n")
	for _, args := range [][]string{{"mcp", "--strict"}, {"call", "--strict", "mine:echo", `{"text":"hello"}`}} {
		out, err := s.command(args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "write its absolute path") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
}

// skips reports whether a door is among those that cannot express a call.
func skips(name string, not map[string]string) bool {
	for words := range not {
		if strings.Contains(" "+name+" ", " "+words+" ") {
			return true
		}
	}
	return false
}

// TestEveryDoorIsInTheTable wants every command of assent to be a door that TestDoors goes
// through, or one of those that are none.
func TestEveryDoorIsInTheTable(t *testing.T) {
	known := slices.Clone(notDoors)
	for _, d := range allDoors() {
		known = append(known, d.name)
	}
	known = append(known, "check", "sandbox run") // they run no call: see below
	// The keeper judges what TestDoors explains for another agent on the stage; the others only hand
	// on what it judged: see the tests of assent-hook.
	known = append(known, "hook keeper", "hook exec", "hook folder")
	var visit func(c *cobra.Command, path string)
	visit = func(c *cobra.Command, path string) {
		for _, sub := range c.Commands() {
			name := strings.TrimSpace(path + " " + sub.Name())
			if slices.Contains(notDoors, name) {
				continue
			}
			covered := slices.ContainsFunc(known, func(k string) bool { return k == name || strings.HasPrefix(k, name+" ") })
			if !covered {
				t.Errorf("assent %s is a new command: put it into the table of doors, or among those that are none", name)
			}
			visit(sub, name)
		}
	}
	visit(rootCmd(), "")
}

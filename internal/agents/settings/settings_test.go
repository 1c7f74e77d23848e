package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/agents"
)

// files are settings as people have them.
var files = map[string]string{
	"none":          "",
	"empty":         "{}",
	"empty, spaced": "{\n}\n",
	"others": `{
  "model": "opus",
  "permissions": {"allow": ["Bash(ls)"]}
}
`,
	"comments": `// mine
{
	/* the theme */ "theme": "dark", // I like it
	"hooks": {
		// nothing yet
	},
}
`,
	"own hooks": `{
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]} // first
        ],
        "PostToolUse": [], "BeforeTool": [{"matcher": "x", "hooks": []},],
        "beforeShellExecution": [{"command": "./audit.sh"}]
    },
    "version": 1
}`,
	"no layout":      `{"a":1,"hooks":{"PreToolUse":[{"hooks":[]}],"PermissionRequest":[{"hooks":[]}],"PostToolUse":[{"hooks":[]}]}}`,
	"windows":        "{\r\n  \"a\": 1\r\n}\r\n",
	"byte order":     "\xef\xbb\xbf{\"a\": 1}\n",
	"no last line":   "{\n  \"a\": {\n    \"b\": []\n  }\n}",
	"unicode \u00e4": "{\"\u00e4\": \"\\u00e4 \u4e16\"}\n",
}

var program = []string{"/opt/it's here/assent-hook"}

func TestInstallAndUninstallLeaveEveryByte(t *testing.T) {
	for _, a := range agents.All() {
		for name, text := range files {
			t.Run(a.Name+"/"+name, func(t *testing.T) {
				target := TargetOf(a)
				p, err := target.Add([]byte(text), Command(a, program))
				if err != nil {
					t.Fatal(err)
				}
				if !p.Changes() {
					t.Fatal("nothing was put in")
				}
				if _, err := parse(p.After); err != nil {
					t.Fatalf("%v:\n%s", err, p.After)
				}
				again, err := target.Add(p.After, Command(a, program))
				if err != nil || again.Changes() {
					t.Errorf("a second time changes something (%v):\n%s", err, again.After)
				}
				back, err := Remove(p.After, p.Inserted)
				if want := orEmpty(text); err != nil || string(back) != want {
					t.Errorf("%v, got back\n%q, want\n%q", err, back, want)
				}
			})
		}
	}
}

func orEmpty(text string) string {
	if text == "" {
		return empty
	}
	return text
}

func TestEverythingElseSurvives(t *testing.T) {
	a := agents.All()[0]
	for name, text := range files {
		p, err := TargetOf(a).Add([]byte(text), Command(a, program))
		if err != nil {
			t.Fatal(err)
		}
		rest := string(p.After)
		for _, piece := range p.Inserted {
			rest = strings.Replace(rest, piece, "", 1)
		}
		if rest != orEmpty(text) {
			t.Errorf("%s: without what was put in it is\n%s", name, rest)
		}
	}
}

func TestUninstallKeepsWhatOthersWroteSince(t *testing.T) {
	a := agents.All()[0]
	p, err := TargetOf(a).Add([]byte(files["others"]), Command(a, program))
	if err != nil {
		t.Fatal(err)
	}
	edited := bytes.Replace(p.After, []byte(`"opus"`), []byte(`"sonnet"`), 1)
	back, err := Remove(edited, p.Inserted)
	if want := strings.Replace(files["others"], "opus", "sonnet", 1); err != nil || string(back) != want {
		t.Errorf("%v:\n%s", err, back)
	}
	broken := bytes.Replace(p.After, []byte("assent-hook"), []byte("other-hook"), 1)
	if _, err := Remove(broken, p.Inserted); !errors.Is(err, ErrEdited) {
		t.Errorf("%v, want %v", err, ErrEdited)
	}
}

func TestWhatCannotBeReadIsLeftAlone(t *testing.T) {
	a := agents.All()[0]
	for text, want := range map[string]string{
		"{":                                 "line 1, column 2",
		"{\n  \"a\": tru\n}":                "line 2, column 8",
		"[]":                                "must be a JSON object",
		"{} {}":                             "more after the end",
		"{\"a\" 1}":                         "colon",
		"{\"a\": 1 \"b\": 2}":               "comma",
		"{\"a\": 1, \"a\": 2}":              "duplicate key",
		"{\"hooks\": []}":                   "hooks must be an object",
		"{\"hooks\": {\"PreToolUse\": {}}}": "hooks.PreToolUse must be a list",
		"{/* }":                             "comment has no end",
		"\xff":                              "UTF-8",
		strings.Repeat("[", 200):            "deeply",
	} {
		if _, err := TargetOf(a).Add([]byte(text), program); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestOnDisk(t *testing.T) {
	for name, text := range files {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			a := agents.All()[0]
			path := TargetOf(a).Path(top)
			if text != "" {
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			l := Ledger(filepath.Join(top, "state"))
			p, err := TargetOf(a).Add([]byte(text), Command(a, program))
			if err != nil {
				t.Fatal(err)
			}
			if text == "" {
				p.Before = nil
			}
			if err := l.Install(a.Name, path, p, time.Now()); err != nil {
				t.Fatal(err)
			}
			if got, _, _ := Read(path); !bytes.Equal(got, p.After) {
				t.Errorf("it is\n%s", got)
			}
			if kept, err := os.ReadFile(l.Backup(a.Name, path)); err != nil || string(kept) != text {
				t.Errorf("the backup is %q (%v)", kept, err)
			}
			r, err := l.Find(a.Name, path)
			if err == nil {
				err = l.Uninstall(r)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if text == "" && !errors.Is(err, fs.ErrNotExist) || text != "" && string(got) != text {
				t.Errorf("after that it is %q (%v)", got, err)
			}
			if info, err := os.Stat(path); err == nil && info.Mode().Perm() != 0o644 {
				t.Errorf("its mode is %v", info.Mode())
			}
		})
	}
}

// TestTheHookDeniesBeforeTheAgentStopsWaiting keeps the hook's own deadline below the time
// that each agent is told to wait: what is late lets the call run.
func TestTheHookDeniesBeforeTheAgentStopsWaiting(t *testing.T) {
	own, err := time.ParseDuration(deadline)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range agents.All() {
		unit := time.Second
		if a.Name == "gemini" {
			unit = time.Millisecond
		}
		plan, err := TargetOf(a).Add(nil, Command(a, program))
		if err != nil {
			t.Fatal(err)
		}
		text := string(plan.After)
		said := strings.Count(text, deadline)
		for rest, ok := text, true; ok; {
			if _, rest, ok = strings.Cut(rest, `"timeout": `); !ok {
				break
			}
			var n int64
			if err := json.NewDecoder(strings.NewReader(rest)).Decode(&n); err != nil || time.Duration(n)*unit <= own {
				t.Errorf("%s waits %d of %v (%v), and the hook %v", a.Name, n, unit, err, own)
			}
			said--
		}
		if said != 0 {
			t.Errorf("%s: not every hook is told how long the agent waits, and itself when to deny:\n%s", a.Name, text)
		}
	}
}

func TestAFileThatChangedSinceItWasShownIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte(`{"a": 2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := Plan{Before: []byte(`{"a": 1}`), After: []byte(`{}`)}
	err := Ledger(t.TempDir()).Install("codex", path, p, time.Now())
	if got, _ := os.ReadFile(path); err == nil || string(got) != `{"a": 2}` {
		t.Errorf("%v, %s", err, got)
	}
}

// FuzzAdd puts our entries into whatever parses, and takes them out again.
func FuzzAdd(f *testing.F) {
	for _, text := range files {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, a := range agents.All() {
			p, err := TargetOf(a).Add(text, Command(a, program))
			if err != nil || !p.Changes() || len(bytes.TrimSpace(text)) == 0 {
				continue
			}
			if _, err := parse(p.After); err != nil {
				t.Fatalf("%s: %v:\n%s", a.Name, err, p.After)
			}
			if json.Valid(text) && !json.Valid(p.After) {
				t.Fatalf("%s: it was JSON and is not:\n%s", a.Name, p.After)
			}
			if back, err := Remove(p.After, p.Inserted); err == nil && !bytes.Equal(back, text) {
				t.Fatalf("%s: got back\n%q, want\n%q", a.Name, back, text)
			}
		}
	})
}

// What runs after a call, failed or not, is compared with what was answered.
func TestClaudeCodeSaysWhatRan(t *testing.T) {
	a := agents.All()[0]
	p, err := TargetOf(a).Add(nil, Command(a, program))
	if err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd"} {
		if !strings.Contains(string(p.After), `"`+hook+`"`) {
			t.Errorf("%s has no hook:\n%s", hook, p.After)
		}
	}
}

// TestWhatIsNoFileIsLeftAlone has a pipe, a link to one and a link that leads nowhere in place of the settings: reading
// must end, and nothing is put in their place.
func TestWhatIsNoFileIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	pipe, link, dangling := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink(pipe, link), os.Symlink("nowhere", dangling)); err != nil {
		t.Fatal(err)
	}
	around := On(dir, dir, os.LookupEnv)
	for path, want := range map[string]string{
		pipe: "is not a regular file", link: "is not a regular file", dangling: "link to nowhere, which does not exist",
	} {
		before, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		ledger := Ledger(filepath.Join(dir, "ledger"))
		err = ledger.Install("claude-code", path, Plan{After: []byte("{}")}, time.Now())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: installed: %v, want %q", path, err, want)
		}
		if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s was replaced: %v", path, err)
		}
		if _, err := around.Read(path); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}

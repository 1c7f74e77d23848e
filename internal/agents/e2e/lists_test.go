//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	hooks "github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/permissions"
	"github.com/assent-dev/assent/internal/reexec"
)

// spellings are ways to write one command that a list names, touch deny FILE, and others beside
// it. The agents know some of them. FILE is made if the command runs.
var spellings = []string{
	"touch deny FILE", "touch  deny FILE", " touch deny FILE", "touch ok && touch deny FILE", "touch ok || true; touch deny FILE", "echo a | touch deny FILE", "touch ok\ntouch deny FILE",
	"(touch deny FILE)", "{ touch deny FILE; }", "echo $(touch deny FILE)", "echo `touch deny FILE`", "timeout 5 touch deny FILE", "timeout -k 1 5 touch deny FILE", "nohup touch deny FILE",
	"nice -n 5 touch deny FILE", "env A=b touch deny FILE", "A=b touch deny FILE", "time touch deny FILE", "command touch deny FILE", "exec touch deny FILE", "stdbuf -oL touch deny FILE",
	"echo FILE | xargs touch deny", "echo FILE | xargs -n1 touch deny", `bash -c "touch deny FILE"`, "sh -c 'touch deny FILE'", "eval touch deny FILE", "/usr/bin/touch deny FILE", `\touch deny FILE`,
	"'touch' deny FILE", `to""uch deny FILE`, `touch "deny" FILE`, "if true; then touch deny FILE; fi", "for i in 1; do touch deny FILE; done", "f() { touch deny FILE; }; f", "touch deny FILE > /dev/null",
	">/dev/null touch deny FILE", "! touch deny FILE", "touch deny FILE # hi", "# hi\ntouch deny FILE", "cat <(touch deny FILE)", "x=$(touch deny FILE)", `find . -maxdepth 0 -exec touch deny FILE \;`,
	"touch\tdeny FILE", "touch \\\ndeny FILE", "case a in a) touch deny FILE;; esac", "setsid touch deny FILE", "cat <<EOF\n$(touch deny FILE)\nEOF", "mkdir ask FILE", "true && mkdir ask FILE",
	"touch denied FILE", "touch ok FILE", "echo touch deny > FILE",
}

// A listing gives an agent a list that denies touch deny, and asks about mkdir ask.
type listing struct {
	name, agent string
	// write has the files below the home folder, etc those below /etc.
	write, etc map[string]string
	start      []string // the flags of the agent, if they are the list
	refused    int      // how many of the spellings the agent itself refuses, at least
}

const (
	claudeLists   = `{"permissions": {"deny": ["Bash(touch deny:*)"], "ask": ["Bash(mkdir ask:*)"]}}`
	codexLists    = "prefix_rule(pattern = [\"touch\", \"deny\"], decision = \"forbidden\")\nprefix_rule(pattern = [\"mkdir\", \"ask\"], decision = \"prompt\")\n"
	codexRequired = "[rules]\nprefix_rules = [{ pattern = [{ token = \"touch\" }, { any_of = [\"deny\"] }], decision = \"forbidden\" }, { pattern = [{ token = \"mkdir\" }, { token = \"ask\" }], decision = \"prompt\" }]\n"
	geminiPolicy  = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"touch deny\"\ndecision = \"deny\"\npriority = 100\n[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"mkdir ask\"\ndecision = \"ask_user\"\npriority = 100\n"
)

var listings = []listing{
	{name: "user", agent: "claude-code", write: map[string]string{".claude/settings.json": claudeLists}, refused: 42},
	{name: "project", agent: "claude-code", write: map[string]string{"../project/.claude/settings.local.json": claudeLists}, refused: 42},
	{name: "managed", agent: "claude-code", etc: map[string]string{"claude-code/managed-settings.json": claudeLists}, refused: 42},
	{name: "managed in parts", agent: "claude-code", etc: map[string]string{"claude-code/managed-settings.d/50-x.json": claudeLists}, refused: 42},
	{name: "flag", agent: "claude-code", start: []string{"--settings", claudeLists}, refused: 42},
	{name: "user", agent: "codex", write: map[string]string{".codex/rules/my.rules": codexLists}, refused: 10},
	{name: "managed", agent: "codex", etc: map[string]string{"codex/requirements.toml": codexRequired}, refused: 10},
	{name: "system", agent: "codex", etc: map[string]string{"codex/rules/x.rules": codexLists}, refused: 10},
	{name: "user", agent: "gemini", write: map[string]string{".gemini/policies/my.toml": geminiPolicy}, refused: 20},
	{name: "managed", agent: "gemini", etc: map[string]string{"gemini-cli/policies/my.toml": geminiPolicy}, refused: 20},
}

// TestListsAreNotLaxer has each agent, without assent, run every spelling of a command that its own
// list names. Where it refuses one, we say so too; and what we say nothing about, it runs.
func TestListsAreNotLaxer(t *testing.T) {
	for _, l := range listings {
		t.Run(l.agent+" "+l.name, func(t *testing.T) {
			p := newPlace(t)
			p.env = append(p.env, "IS_SANDBOX=1") // Claude Code wants it where root lets everything run
			var commands []string
			for i, s := range spellings {
				commands = append(commands, strings.ReplaceAll(s, "FILE", fmt.Sprintf("made%d", i)))
			}
			m := newModel(t, commands...)
			for _, a := range agents {
				if a.name == l.agent {
					a.setUp(p, m.url)
				}
			}
			for name, text := range l.write {
				p.write(name, text)
			}
			if l.etc != nil {
				p.overEtc(l.etc)
			}
			flags := map[string][]string{
				"claude-code": {"claude", "-p", "Go.", "--permission-mode", "bypassPermissions"},
				"codex":       {"codex", "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", "Go."},
				"gemini":      {"gemini", "--model", "gemini-2.5-flash", "--approval-mode", "yolo", "--prompt", "Go."},
			}[l.agent]
			p.agent(flags[0], append(flags[1:], l.start...)...)
			judged := p.judge(l.agent, append([]string{flags[0]}, l.start...), commands)
			refused := 0
			for i, command := range commands {
				said := m.result(i)
				_, err := os.Stat(filepath.Join(p.project, fmt.Sprintf("made%d", i)))
				ran := err == nil
				want := permissions.Deny
				if strings.Contains(command, "mkdir") {
					want = permissions.Ask
				}
				switch {
				case !ran && judged[i] != want:
					t.Errorf("%s refuses %q (%s), and we say %v", l.agent, command, said, judged[i])
				case ran && judged[i] != permissions.None && (strings.Contains(command, "denied") || strings.Contains(command, "ok made") || strings.Contains(command, "echo touch deny")):
					t.Errorf("%s runs %q, and we say %v", l.agent, command, judged[i])
				}
				if !ran {
					refused++
				}
			}
			if refused < l.refused {
				t.Errorf("%s refuses %d of %d, want at least %d", l.agent, refused, len(commands), l.refused)
			}
			t.Logf("%s itself refuses %d of %d spellings", l.agent, refused, len(commands))
		})
	}
}

// TestFileListsAreNotLaxer has Claude Code, without assent, run commands that name files of its lists
// for reading and editing, which it applies to some commands.
func TestFileListsAreNotLaxer(t *testing.T) {
	p := newPlace(t)
	p.env = append(p.env, "IS_SANDBOX=1")
	p.write(".claude/settings.json", `{"permissions": {"deny": ["Read(./secret.txt)", "Read(~/private/**)", "Read(**/.env)", "Edit(./locked.txt)", "Read(//etc/hostname)", "Edit(out/**)"]}}`)
	for _, name := range []string{"secret.txt", "sub/secret.txt", "plain.txt", "locked.txt", ".env", "src/.env", "../home/private/k", "out/x"} {
		p.write(filepath.Join("../project", name), "x\n")
	}
	if err := os.Symlink("secret.txt", filepath.Join(p.project, "link.txt")); err != nil {
		t.Fatal(err)
	}
	var commands []string
	for i, s := range []string{
		"cat secret.txt", "cat ./secret.txt", "cat link.txt", "cat plain.txt secret.txt", `cat "$PWD/secret.txt"`, "cat $PWD/secret.txt", "cat secret*", "cat *.txt", "head -n1 secret.txt", "sed -n 1p secret.txt",
		"grep c secret.txt", "grep -r c .", "less secret.txt", "wc -l secret.txt", "cat < secret.txt", "while read l; do echo $l; done < secret.txt", "awk 1 secret.txt", "base64 secret.txt", "cat sub/secret.txt",
		"cat sub/../secret.txt", "cd sub && cat ../secret.txt", "cd sub && cat secret.txt", "f=secret.txt; cat $f", "cat ~/private/k", "cat $HOME/private/k", "ls ~/private", "cat .env", "cat src/.env", "xargs cat < secret.txt",
		"echo secret.txt | xargs cat", `bash -c "cat secret.txt"`, "diff plain.txt secret.txt", "stat secret.txt", "git diff --no-index plain.txt secret.txt", "timeout 5 cat secret.txt", "sort -o z secret.txt", "strings secret.txt",
		"cat /etc/hostname", "tail -n +1 -- secret.txt", "cp secret.txt copy", "cut -c1 secret.txt", "nl secret.txt", "od secret.txt", "file secret.txt", "md5sum secret.txt", "find secret.txt", "cat sub/*", "cat {secret,plain}.txt",
		"echo x > locked.txt", "echo x >> locked.txt", "tee locked.txt </dev/null", "sed -i s/a/b/ locked.txt", "cp plain.txt locked.txt", "touch locked.txt", "echo x >./sub/../locked.txt", "cd sub; echo x > ../locked.txt",
		"echo x > out/y", "mkdir out/z", "echo x &> locked.txt", "echo x >| locked.txt", "cat <> locked.txt", "mv plain.txt locked.txt", "rm locked.txt", "cat plain.txt", "echo secret.txt", "cat locked.txt", "echo x > free.txt",
	} {
		commands = append(commands, fmt.Sprintf("%s; touch %s/made%d", s, p.project, i))
	}
	m := newModel(t, commands...)
	setUpClaude(p, m.url)
	judged := p.judge("claude-code", nil, commands) // before anything is moved
	p.agent("claude", "-p", "Go.", "--permission-mode", "bypassPermissions")
	refused := 0
	for i, command := range commands {
		_, err := os.Stat(filepath.Join(p.project, fmt.Sprintf("made%d", i)))
		if err == nil && i >= len(commands)-4 && judged[i] != permissions.None {
			t.Errorf("Claude Code runs %q, and we say %v", command, judged[i])
		}
		if err == nil {
			continue
		}
		refused++
		if judged[i] != permissions.Deny {
			t.Errorf("Claude Code refuses %q (%s), and we say %v", command, m.result(i), judged[i])
		}
	}
	if refused < 40 {
		t.Errorf("Claude Code refuses %d of %d, want at least 40", refused, len(commands))
	}
	t.Logf("Claude Code itself refuses %d of %d", refused, len(commands))
}

// overEtc has the agents see files below /etc that are not there for others.
func (p *place) overEtc(files map[string]string) {
	p.t.Helper()
	upper := p.t.TempDir()
	for name, text := range files {
		file := filepath.Join(upper, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := os.Chmod(upper, 0o755); err != nil {
		p.t.Fatal(err)
	}
	const mount = `mount -t overlay overlay -o "lowerdir=$0:/etc" /etc && exec "$@"`
	p.within = []string{"unshare", "-rm", "sh", "-c", mount, upper}
}

// judging is what the test's own program is told when it runs in place of an agent.
type judging struct {
	Agent    string
	Place    permissions.Place
	Commands []string
}

// TestMain judges commands if that is what the program was started for: where it sees the same
// files as the agent.
func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{"judge": func(args []string) error {
		var j judging
		if err := json.Unmarshal([]byte(args[0]), &j); err != nil {
			return err
		}
		lists, err := permissions.Read(j.Agent, j.Place)
		if err != nil {
			return err
		}
		var out []permissions.Verdict
		for _, c := range j.Commands {
			v, _ := lists.Judge(c, j.Place.Dir)
			out = append(out, v)
		}
		return json.NewEncoder(os.Stdout).Encode(out)
	}})
	os.Exit(m.Run())
}

// judge says what the lists of an agent mean for commands, where the agent runs.
func (p *place) judge(agent string, line, commands []string) []permissions.Verdict {
	p.t.Helper()
	out, err := p.judged(agent, line, commands)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// judged is judge, where the lists may be such that they are not read.
func (p *place) judged(agent string, line, commands []string) (out []permissions.Verdict, err error) {
	p.t.Helper()
	at := permissions.Place{Project: p.project, Dir: p.project, Environ: p.env}
	at.Chain = append(at.Chain, hooks.Process{Args: line})
	text, err := json.Marshal(judging{agent, at, commands})
	if err != nil {
		p.t.Fatal(err)
	}
	said, err := p.try(reexec.Self(), "judge", string(text))
	if err == nil && (json.Unmarshal([]byte(said), &out) != nil || len(out) != len(commands)) {
		p.t.Fatalf("it says %q", said)
	}
	return out, err
}

// TestEntriesAreNotLaxer has Claude Code, without assent, read entries of every form, those that it
// skips as well: we are never laxer, or do not read the list.
func TestEntriesAreNotLaxer(t *testing.T) {
	commands := []string{"touch z1", "touch a z", "touch  z", "mkdir b1", "cat plain.txt", "cat < plain.txt", "echo x > q", "A=1 touch c1", "npm run test:unit", "ls -l plain.txt", "cd sub; cat ../plain.txt", "cat sub/k"}
	for n, entry := range []string{
		"Bash", "Bash(*)", "Bash()", "Ba*", "Bash(:*)", "Bash(touch)", "Bash(touch *)", "Bash(touch*)", "Bash(*z)", "Bash(* z)", "Bash(to*)", "Bash(touch z:*)", "Bash(touch:* z)", "Bash(*:*)", "Bash(A=1:*)", "Bash(A=1 touch:*)",
		"Bash(npm run test:unit)", "Bash(npm run test:*)", "Bash(npm run *)", "Bash(ls -l:*)", "Bash(ls *plain*)", "bash(touch:*)", "Bash(touch:*", "Bash( touch z1 )", `Bash(touch\ z1)`, "Bash(tou?h z1)", "Bash(run_in_background:true)",
		"Read", "Read(*)", "Read(**)", "Read(./**)", "Read(/plain.txt)", "Read(plain.txt)", "Read(./plain.txt)", "Read(pl*.txt)", "Read(*.txt)", "Read(./)", "Read(sub)", "Read(sub/)", "Read(sub/**)", "Read(sub/*)", "Read(./sub/k)", "Read(**/k)", "Read(//PROJECT/plain.txt)",
		"Read(//PROJECT/**)", "Read(PLAIN.txt)", "Edit", "Write(q)", "Edit(q)", "Edit(**)", "Edit(*)", "Edit(./q)", "Edit(//PROJECT/q)", "Grep(plain.txt)", "Glob(plain.txt)", "Monitor(touch:*)", "",
	} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { // its name becomes part of a path
			p := newPlace(t)
			p.env = append(p.env, "IS_SANDBOX=1")
			settings := `{"permissions": {"deny": [` + quote(strings.ReplaceAll(entry, "/PROJECT", p.project)) + `]}}`
			p.write(".claude/settings.json", settings)
			p.write("../project/plain.txt", "x\n")
			p.write("../project/sub/k", "x\n")
			var all []string
			for i, c := range commands {
				all = append(all, fmt.Sprintf("%s; echo > %s/made%d", c, p.project, i))
			}
			m := newModel(t, all...)
			setUpClaude(p, m.url)
			judged, err := p.judged("claude-code", nil, all)
			p.agent("claude", "-p", "Go.", "--permission-mode", "bypassPermissions")
			for i, command := range all {
				if _, gone := os.Stat(filepath.Join(p.project, fmt.Sprintf("made%d", i))); gone != nil && err == nil && judged[i] != permissions.Deny {
					t.Errorf("with %q Claude Code refuses %q (%s), and we say %v", entry, command, m.result(i), judged[i])
				}
			}
		})
	}
}

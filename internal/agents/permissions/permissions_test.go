package permissions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/settings"
)

// A machine has files at their paths; ~ is the home folder, and ./ the project.
type machine map[string]string

const (
	testHome    = "/home/u"
	testProject = "/home/u/p"
)

// place is where an agent runs on the machine.
func (m machine) place(environ ...string) Place {
	files := map[string]string{}
	for path, text := range m {
		path = strings.Replace(path, "~", testHome, 1)
		if rest, ok := strings.CutPrefix(path, "./"); ok {
			path = filepath.Join(testProject, rest)
		}
		files[path] = text
	}
	return Place{Project: testProject, Dir: testProject, Environ: append([]string{"HOME=" + testHome}, environ...), files: func(s settings.Surroundings) settings.Surroundings {
		s.Read = func(path string) ([]byte, error) {
			text, ok := files[path]
			switch {
			case text == "unreadable":
				return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
			case !ok:
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		}
		s.List = func(folder string) (out []string) {
			for path := range files {
				if rest, ok := strings.CutPrefix(path, folder+"/"); ok {
					name, _, _ := strings.Cut(rest, "/")
					out = append(out, name)
				}
			}
			slices.Sort(out)
			return slices.Compact(out)
		}
		s.Exists = func(path string) bool { _, ok := files[path]; return ok }
		s.Real = func(path string) string { return path }
		s.Rooted = func(string) bool { return true }
		return s
	}}
}

// A judgement is what is wanted for a command.
type judgement struct {
	command string
	want    Verdict
}

func each(v Verdict, commands ...string) (out []judgement) {
	for _, c := range commands {
		out = append(out, judgement{c, v})
	}
	return out
}

func wantAll(t *testing.T, l Lists, want ...[]judgement) {
	t.Helper()
	for _, j := range slices.Concat(want...) {
		if got, why := l.Judge(j.command, testProject); got != j.want || (why == "") != (got == None) {
			t.Errorf("%q is %v (%s), want %v", j.command, got, why, j.want)
		}
	}
}

func read(t *testing.T, agent string, p Place) Lists {
	t.Helper()
	l, err := Read(agent, p)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestClaudeCommands has what Claude Code 2.1.325 does with each spelling, and where it overlooks
// one, that a person is asked or it is denied all the same.
func TestClaudeCommands(t *testing.T) {
	l := read(t, "claude-code", machine{"~/.claude/settings.json": `{"permissions": {
		"deny": ["Bash(touch deny:*)", "Bash(mkdir * main)", "Bash(rm exact.txt)", "Bash(expr 1 *)", "Bash(seq *)", "Bash(A=1:*)", "Bash(*zz)", "WebFetch(domain:x.org)"],
		"ask": ["Bash(git push:*)"], "allow": ["Bash(touch deny:*)"]}}`}.place())
	wantAll(t, l,
		each(Deny, "touch deny x", "touch deny", "touch  deny x", " touch deny x", "touch ok && touch deny x", "touch ok || touch deny x", "touch ok; touch deny x", "echo a | touch deny x",
			"touch ok\ntouch deny x", "(touch deny x)", "{ touch deny x; }", "echo $(touch deny x)", "echo `touch deny x`", "timeout 5 touch deny x", "timeout -k 1 5 touch deny x",
			"nohup touch deny x", "nice touch deny x", "nice -n 5 touch deny x", "env touch deny x", "env A=b touch deny x", "A=b touch deny x", "PATH=/bin touch deny x", "time touch deny x",
			"command touch deny x", "builtin touch deny x", "exec touch deny x", "stdbuf -oL touch deny x", "xargs touch deny x </dev/null", "xargs -n1 touch deny x </dev/null",
			"echo x | xargs touch deny", "sudo touch deny x", "sudo -u bob touch deny x", `bash -c "touch deny x"`, "sh -c 'touch deny x'", "eval touch deny x", "/usr/bin/touch deny x",
			`\touch deny x`, "'touch' deny x", `"touch" deny x`, `to""uch deny x`, `touch "deny" x`, `touch deny\ x`, "if true; then touch deny x; fi", "for i in 1; do touch deny x; done",
			"f() { touch deny x; }; f", "touch deny x &", "touch deny x > /dev/null", ">/dev/null touch deny x", "! touch deny x", "touch deny x # hi", "# hi\ntouch deny x", "cat <(touch deny x)",
			"x=$(touch deny x)", `find . -maxdepth 0 -exec touch deny x \;`, "touch\tdeny x", "touch \\\ndeny x", "true & touch deny x", "coproc touch deny x", "[[ a ]] && touch deny x",
			"case a in a) touch deny x;; esac", "setsid touch deny x", "watch -n1 touch deny x </dev/null & sleep 0", "ionice -c3 touch deny x", "cat <<EOF\n$(touch deny x)\nEOF", `echo "$(touch deny x)"`,
			"timeout 5 nice env A=b touch deny x", `timeout 5 bash -c "true; touch deny x"`),
		each(Deny, "mkdir a main", "mkdir a b main", "mkdir a main && true", "mkdir a && mkdir b main", "rm exact.txt", "rm  exact.txt", "true; rm exact.txt", "rm exact.txt 2>/dev/null", `rm "exact.txt"`,
			"expr 1", "expr 1 + 1", "expr 1 + 1; true", "seq", "seq 3", "A=1", "echo zz"),
		each(None, "touch deny1", "touch deny.txt", "mkdir main", "mkdir a main x", "rm exact.txt x", "rm -f exact.txt", "expr 12", "seqx", "SEQ 3", "git status", "echo touch deny", "git commit -m 'touch deny x'", ""),
		each(Ask, "git push", "git push origin main", "cd x && git push", "git push -f 2>&1 | tail -1", "$x deny", "touch $x", "$(echo touch) deny", "touch 'deny", `git $verb`),
	)
	if _, why := l.Judge("touch deny x", testProject); why != `permissions.deny has "Bash(touch deny:*)" in /home/u/.claude/settings.json` {
		t.Errorf("it says %q", why)
	}
}

// TestClaudeFiles has entries for files, which Claude Code applies to commands as well.
func TestClaudeFiles(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "p")
	for _, name := range []string{"p/secret.txt", "p/plain.txt", "p/sub/secret.txt", "p/.env", "private/k"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700), os.WriteFile(filepath.Join(home, name), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("secret.txt", filepath.Join(project, "link.txt")), os.MkdirAll(filepath.Join(home, ".claude"), 0o700),
		os.WriteFile(filepath.Join(home, ".claude", "settings.json"), []byte(`{"permissions": {"deny": ["Read(./secret.txt)", "Read(~/private/**)", "Edit(./locked.txt)", "Read(**/.env)", "Read", "Read(//etc/shadow)", "Read(/top.txt)"], "ask": ["Edit(docs/**)"]}}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	var patterns []string // more than are looked up
	for i := range 2 * maxGlobs {
		patterns = append(patterns, fmt.Sprintf("none%d*", i))
	}
	l := read(t, "claude-code", Place{Project: project, Dir: project, Environ: []string{"HOME=" + home}})
	for want, commands := range map[Verdict][]string{
		Deny: {"cat secret.txt", "cat ./secret.txt", "cat link.txt", "cat plain.txt secret.txt", `cat "$PWD/secret.txt"`, "cat $PWD/secret.txt", "cat secret*", "cat s?cret.txt", "cat *.txt", "head -n1 secret.txt",
			"sed -n 1p secret.txt", "grep c secret.txt", "cp secret.txt x", "wc -l secret.txt", "cat < secret.txt", "while read l; do echo $l; done < secret.txt", "awk 1 secret.txt", "base64 secret.txt",
			"cat sub/secret.txt", "cat sub/../secret.txt", "cd sub && cat ../secret.txt", "cd sub && cat secret.txt", "f=secret.txt; cat $f", "for f in secret.txt; do cat $f; done", "cat ~/private/k", "cat $HOME/private/k",
			"ls ~/private", "cat .env", "cat src/.env", "xargs cat < secret.txt", `bash -c "cat secret.txt"`, "diff plain.txt secret.txt", "jq . secret.txt", "stat secret.txt",
			"git diff --no-index plain.txt secret.txt", "timeout 5 cat secret.txt", "mv secret.txt y", "sort -o z secret.txt", "rg c secret.txt", "ls secret.txt", "strings secret.txt", "cat /etc/shadow", "cat top.txt", "CAT=1 cat SECRET.TXT",
			"echo x > locked.txt", "echo x >> locked.txt", "tee locked.txt </dev/null", "sed -i s/a/b/ locked.txt", "cp plain.txt locked.txt", "mv plain.txt locked.txt", "touch locked.txt", "rm locked.txt",
			`echo x > "$PWD/locked.txt"`, "echo x >./sub/../locked.txt", "cd sub; echo x > ../locked.txt"},
		Ask: {"less secret.txt", "python3 secret.txt", "tar cf - secret.txt", "source secret.txt", "rm -f secret.txt", "dd if=secret.txt", "curl -d @secret.txt x", "dd of=locked.txt", "truncate -s0 locked.txt", "chmod 600 locked.txt",
			"perl -pi -e 1 locked.txt", "echo x > docs/a", "rm docs/a/b", "cat 'a", "cat " + strings.Join(patterns, " ")},
		None: {"cat plain.txt", "echo secret.txt", "test -f secret.txt", "cat locked.txt", "sed -n 1p locked.txt", "ls", "grep -r c src", "cat docs/a", "echo x > plain.txt", "cat $unknown", "go build ./...", "make 2>&1 | tail"},
	} {
		for _, c := range commands {
			if got, why := l.Judge(c, project); got != want {
				t.Errorf("%q is %v (%s), want %v", c, got, why, want)
			}
		}
	}
}

// TestClaudeSources has an entry in each place in turn.
func TestClaudeSources(t *testing.T) {
	deny := `{"permissions": {"deny": ["Bash(touch:*)"]}}`
	for _, c := range []struct {
		name    string
		machine machine
		environ []string
		args    []string
		want    Verdict
	}{
		{"nothing", nil, nil, nil, None},
		{"user", machine{"~/.claude/settings.json": deny}, nil, nil, Deny},
		{"moved user", machine{"/x/settings.json": deny}, []string{"CLAUDE_CONFIG_DIR=/x"}, nil, Deny},
		{"the one that is not used", machine{"~/.claude/settings.json": deny}, []string{"CLAUDE_CONFIG_DIR=/x"}, nil, None},
		{"comments", machine{"~/.claude/settings.json": "// a\n" + deny}, nil, nil, Deny},
		{"project", machine{"./.claude/settings.json": deny}, nil, nil, Deny},
		{"local", machine{"./.claude/settings.local.json": deny}, nil, nil, Deny},
		{"managed", machine{"/etc/claude-code/managed-settings.json": deny}, nil, nil, Deny},
		{"managed, in parts", machine{"/etc/claude-code/managed-settings.d/10-x.json": deny}, nil, nil, Deny},
		{"from the server", machine{"~/.claude/remote-settings.json": deny}, nil, nil, Deny},
		{"ask", machine{"~/.claude/settings.json": strings.Replace(deny, "deny", "ask", 1)}, nil, nil, Ask},
		{"deny before ask", machine{"~/.claude/settings.json": strings.Replace(deny, "deny", "ask", 1), "./.claude/settings.json": deny}, nil, nil, Deny},
		{"the whole tool", machine{"~/.claude/settings.json": `{"permissions": {"deny": ["Bash"]}}`}, nil, nil, Deny},
		{"all tools", machine{"~/.claude/settings.json": `{"permissions": {"deny": ["*"]}}`}, nil, nil, Deny},
		{"flag", nil, nil, []string{"claude", "-p", "--disallowedTools", "Edit", "Bash(touch:*)", "--model", "m"}, Deny},
		{"flag with commas", nil, nil, []string{"claude", "--disallowed-tools=Bash(mkdir a, b),Bash(touch *)"}, Deny},
		{"flag of a script", nil, nil, []string{"node", "/x/claude-code/cli.js", "--disallowedTools", "Bash"}, Deny},
		{"flag of another program", nil, nil, []string{"make", "--disallowedTools", "Bash"}, None},
		{"settings in a flag", nil, nil, []string{"claude", "--settings", deny}, Deny},
		{"a file in a flag", machine{"./x.json": deny}, nil, []string{"claude", "--settings", "x.json"}, Deny},
	} {
		p := c.machine.place(c.environ...)
		p.Chain = []agents.Process{{Args: []string{"sh"}}, {Args: c.args}}
		if got, why := read(t, "claude-code", p).Judge("touch x", testProject); got != c.want {
			t.Errorf("%s: it is %v (%s), want %v", c.name, got, why, c.want)
		}
	}
}

const forbidden = "# mine\nprefix_rule(\n  pattern = [\"touch\", [\"deny\", 'never']],\n  decision = \"forbidden\",  # no\n  justification = \"a \\\"b\\\"\",\n  match = [\"touch deny x\", [\"touch\", \"never\"]],\n)\n" +
	"prefix_rule([\"seq\"], \"prompt\"); prefix_rule(pattern=[\"ls\"])\nhost_executable(name = \"git\", paths = [\"/usr/bin/git\"])\nprefix_rule(pattern=[\"/opt/x\"], decision=\"forbidden\")\n"

func TestCodex(t *testing.T) {
	l := read(t, "codex", machine{"~/.codex/rules/my.rules": forbidden, "~/.codex/rules/note.txt": "(("}.place())
	wantAll(t, l,
		each(Deny, "touch deny x", "touch deny", "touch never", `touch "deny" x`, "/usr/bin/touch deny x", "touch ok && touch deny x", "true; touch deny x", "true | touch deny x", "touch  deny  x", "true\ntouch deny x",
			"(touch deny x)", "echo $(touch deny x)", "A=b touch deny x", "env touch deny x", "timeout 5 touch deny x", `bash -c "touch deny x"`, "bash -lc 'touch deny x'", "touch deny x > /dev/null",
			"touch deny $HOME", "touch deny *", "if true; then touch deny x; fi", "touch deny x &", "! touch deny x", `\touch deny x`, "xargs touch deny", "sudo touch deny x", "exec touch deny x", "/opt/x a"),
		each(Ask, "seq 3", "seq 3 && true", "touch $x", "$x deny", "touch 'deny"),
		each(None, "touch denyx", "touch", "ls", "x", "echo touch deny"))
	if _, why := l.Judge("touch deny", testProject); why != `/home/u/.codex/rules/my.rules:2 forbids commands that begin with "touch deny|never"` {
		t.Errorf("it says %q", why)
	}
	for name, m := range map[string]machine{
		"moved":        {"/c/rules/a.rules": forbidden},
		"project":      {"./.codex/rules/a.rules": forbidden},
		"system":       {"/etc/codex/rules/a.rules": forbidden},
		"requirements": {"/etc/codex/requirements.toml": "allowed_sandbox_modes = [\"read-only\"]\n[rules]\nprefix_rules = [{ pattern = [{ token = \"touch\" }, { any_of = [\"deny\", \"x\"] }], decision = \"forbidden\", justification = \"j\" }]\n"},
	} {
		environ := map[bool][]string{true: {"CODEX_HOME=/c"}}[name == "moved"]
		if got, why := read(t, "codex", m.place(environ...)).Judge("touch deny", testProject); got != Deny {
			t.Errorf("%s: it is %v (%s)", name, got, why)
		}
	}
	// Codex compares the shell itself with the rules where the text is not plain.
	l = read(t, "codex", machine{"~/.codex/rules/my.rules": `prefix_rule(pattern=["bash","-lc"], decision="prompt")`}.place())
	wantAll(t, l, each(None, "ls", "ls -l && pwd"), each(Ask, "ls > x", "echo $HOME", "(ls)"))
}

func TestGemini(t *testing.T) {
	const policy = "~/.gemini/policies/my.toml"
	rule := func(text string) machine {
		return machine{policy: "[[rule]]\ntoolName = \"run_shell_command\"\npriority = 100\n" + text}
	}
	for _, c := range []struct {
		name    string
		machine machine
		want    [][]judgement
	}{
		{"prefix", rule("decision = \"deny\"\ncommandPrefix = \"touch deny\""), [][]judgement{
			each(Deny, "touch deny x", "touch deny", `touch deny "x"`, "touch ok && touch deny x", "touch ok; touch deny x", "true | touch deny x", "(touch deny x)", "echo $(touch deny x)", `bash -c "touch deny x"`,
				"true\ntouch deny x", "touch  deny x", "timeout 5 touch deny x", "A=b touch deny x", "/usr/bin/touch deny x", "touch 'deny"),
			each(None, "touch denyx", "echo touch deny", "ls")}},
		{"regular expression", rule("decision = \"ask_user\"\ncommandRegex = \"git (push|commit)\""), [][]judgement{each(Ask, "git push", "true && git commit -m x"), each(None, "git status")}},
		{"arguments", rule("decision = \"deny\"\nargsPattern = \"secret\""), [][]judgement{each(Deny, "cat secret", "a; cat secret"), each(None, "cat x")}},
		{"arguments that are not known", rule("decision = \"deny\"\nargsPattern = '\"dir_path\":\"x'"), [][]judgement{each(Ask, "ls")}},
		{"the whole tool", rule("decision = \"deny\""), [][]judgement{each(Deny, "ls")}},
		{"in a mode, whatever the command", rule("decision = \"deny\"\nmodes = [\"plan\"]"), [][]judgement{each(None, "ls")}},
		{"in a mode", rule("decision = \"deny\"\nmodes = [\"plan\"]\ncommandPrefix = \"ls\""), [][]judgement{each(Deny, "ls")}},
		{"a higher one that allows", machine{policy: "[[rule]]\ntoolName=\"run_shell_command\"\ncommandPrefix=\"git status\"\ndecision=\"allow\"\npriority=200\n[[rule]]\ntoolName=[\"run_shell_command\",\"x\"]\ndecision=\"deny\"\npriority=100\n"},
			[][]judgement{each(None, "git status"), each(Deny, "git push", "git status && git push", "ls")}},
		{"a higher one that allows in a mode", machine{policy: "[[rule]]\ntoolName=\"*\"\ndecision=\"allow\"\npriority=200\nmodes=[\"yolo\"]\n[[rule]]\ntoolName=\"*\"\ndecision=\"deny\"\npriority=100\n"}, [][]judgement{each(Deny, "ls")}},
		{"a higher one that allows the command in a mode", machine{policy: "[[rule]]\ntoolName=\"run_shell_command\"\ncommandPrefix=\"ls\"\ndecision=\"allow\"\npriority=200\ninteractive=false\n[[rule]]\ntoolName=\"*\"\ndecision=\"deny\"\npriority=100\n"}, [][]judgement{each(Deny, "ls")}},
		{"excluded", machine{"~/.gemini/settings.json": `{"tools": {"exclude": ["run_shell_command(touch)", "x"]}}`}, [][]judgement{each(Deny, "touch x", "ls; touch x"), each(None, "ls")}},
		{"excluded as before", machine{"./.gemini/settings.json": `{"excludeTools": ["ShellTool(touch)"]} // c`}, [][]judgement{each(Deny, "touch x"), each(None, "ls")}},
		{"core", machine{"~/.gemini/settings.json": `{"tools": {"core": ["run_shell_command(touch)", "read_file"]}}`}, [][]judgement{each(None, "touch x", "touch a && touch b"), each(Deny, "ls", "touch x; ls")}},
		{"core without the shell", machine{"~/.gemini/settings.json": `{"tools": {"core": ["read_file"]}}`}, [][]judgement{each(Deny, "ls")}},
		{"allowed", machine{"~/.gemini/settings.json": `{"tools": {"allowed": ["run_shell_command(git)"]}}`}, [][]judgement{each(None, "git status"), each(Deny, "ls")}},
		{"all allowed", machine{"~/.gemini/settings.json": `{"tools": {"allowed": ["run_shell_command"]}}`}, [][]judgement{each(None, "ls")}},
		{"to be confirmed", machine{"~/.gemini/settings.json": `{"tools": {"confirmationRequired": ["run_shell_command"]}}`}, [][]judgement{each(Ask, "ls")}},
		{"administrator's policy", machine{"/etc/gemini-cli/policies/a.toml": rule("decision = \"deny\"\ncommandPrefix = \"ls\"")[policy]}, [][]judgement{each(Deny, "ls")}},
		{"administrator's settings", machine{"/etc/gemini-cli/settings.json": `{"tools": {"exclude": ["run_shell_command"]}}`}, [][]judgement{each(Deny, "ls")}},
		{"project's policy", machine{"./.gemini/policies/a.toml": rule("decision = \"deny\"\ncommandPrefix = \"ls\"")[policy]}, [][]judgement{each(Deny, "ls")}},
		{"of an extension", machine{"~/.gemini/extensions/e/policies/a.toml": rule("decision = \"deny\"\ncommandPrefix = \"ls\"")[policy]}, [][]judgement{each(Deny, "ls")}},
		{"other tools", machine{policy: "[[rule]]\ntoolName=\"write_file\"\nargsPattern=\"x\"\ndecision=\"deny\"\npriority=1\n[[rule]]\ntoolName=\"*\"\nmcpName=\"s\"\ndecision=\"deny\"\npriority=1\n"}, [][]judgement{each(None, "ls")}},
	} {
		t.Run(c.name, func(t *testing.T) { wantAll(t, read(t, "gemini", c.machine.place()), c.want...) })
	}
	p := machine{"/x/p.toml": rule("decision = \"deny\"\ncommandPrefix = \"ls\"")[policy]}.place()
	p.Chain = []agents.Process{{Args: []string{"node", "/bin/gemini", "--policy", "/x/p.toml"}}}
	wantAll(t, read(t, "gemini", p), each(Deny, "ls"))
}

func TestGeminiTools(t *testing.T) {
	l := read(t, "gemini", machine{
		"~/.gemini/policies/x.toml": `
[[rule]]
toolName = ["write_file", "replace"]
argsPattern = '"file_path":"[^"]*secret'
decision = "deny"
priority = 100
[[rule]]
toolName = "write_file"
argsPattern = 'secret/public'
decision = "allow"
priority = 200
[[rule]]
toolName = "glob"
argsPattern = '(?=x)'
decision = "deny"
priority = 100
[[rule]]
toolName = "*"
mcpName = "files"
decision = "ask_user"
priority = 100
[[rule]]
toolName = "mcp_web_*"
decision = "deny"
priority = 100
modes = ["yolo"]
`, "~/.gemini/settings.json": `{"tools": {"exclude": ["web_fetch"]}}`}.place())
	for _, c := range []struct {
		server, tool, args string
		want               Verdict
	}{
		{"", "write_file", `{"file_path": "a/secret", "content": "x"}`, Deny},
		{"", "replace", `{"content":"x","file_path":"secret"}`, Deny},
		{"", "write_file", `{"file_path":"secret/public"}`, None},
		{"", "write_file", `{"file_path":"a","content":"secret"}`, None},
		{"", "read_file", `{"file_path":"secret"}`, None},
		{"", "web_fetch", `{}`, Deny},
		{"", "glob", `{}`, Deny},
		{"files", "read", `{}`, Ask},
		{"web", "get", `{}`, Deny},
		{"other", "get", `{}`, None},
		{"", "write_file", `[]`, Deny},
	} {
		if got, why := l.JudgeTool(c.server, c.tool, []byte(c.args)); got != c.want {
			t.Errorf("%s %s %s is %v (%s), want %v", c.server, c.tool, c.args, got, why, c.want)
		}
	}
	if v, _ := (Lists{}).JudgeTool("", "x", nil); v != Deny {
		t.Errorf("no lists say %v", v)
	}
}

// TestWhatIsNotUnderstood has files that must keep a command from being replaced.
func TestWhatIsNotUnderstood(t *testing.T) {
	const claude, codex, gemini, policy = "~/.claude/settings.json", "~/.codex/rules/x.rules", "~/.gemini/settings.json", "~/.gemini/policies/x.toml"
	for _, c := range []struct{ agent, path, text, want string }{
		{"claude-code", claude, "unreadable", "permission denied"},
		{"claude-code", claude, "{", "a quoted text is missing"},
		{"claude-code", claude, `{"permissions": []}`, "permissions must be an object"},
		{"claude-code", claude, `{"permissions": {"deny": "Bash"}}`, "permissions.deny must be a list"},
		{"claude-code", claude, `{"permissions": {"deny": [5]}}`, "list of strings"},
		{"claude-code", claude, `{"permissions": {"deny": ["Bash(x"]}}`, `invalid entry "Bash(x"`},
		{"claude-code", claude, `{"permissions": {"deny": ["Bash()"]}}`, "names no command"},
		{"claude-code", claude, `{"permissions": {"deny": ["Bash(:*)"]}}`, "names no command"},
		{"claude-code", claude, `{"permissions": {"deny": ["bash(x)"]}}`, "invalid entry"},
		{"claude-code", claude, `{"permissions": {"deny": [""]}}`, "invalid entry"},
		{"claude-code", claude, `{"permissions": {"ask": ["Bash(run_in_background:true)"]}}`, "about this argument"},
		{"claude-code", claude, `{"permissions": {"deny": ["Monitor(rm:*)"]}}`, "which would be replaced"},
		{"claude-code", claude, `{"permissions": {"deny": ["Read(!x)"]}}`, "does not know what it means"},
		{"claude-code", claude, `{"sandbox": {"enabled": true}}`, "sandbox.enabled is true"},
		{"codex", codex, "unreadable", "permission denied"},
		{"codex", codex, "x = 1\n", "a call is missing"},
		{"codex", codex, "def f():\n  pass\n", "a call is missing"},
		{"codex", codex, "for x in []: prefix_rule(pattern=[x])\n", "a call is missing"},
		{"codex", codex, `prefix_rule(pattern=["a"] + ["b"], decision="forbidden")`, "a comma or a closing parenthesis"},
		{"codex", codex, `prefix_rule(pattern=P, decision="forbidden")`, "a text or a list"},
		{"codex", codex, `prefix_rule(pattern=["a"], decision="no")`, "unknown decision"},
		{"codex", codex, `prefix_rule(pattern=["a"], decision=["no"])`, "must be a string"},
		{"codex", codex, `prefix_rule(pattern=[])`, "must be a list"},
		{"codex", codex, `prefix_rule(pattern=["a"], mood="x")`, `the argument "mood"`},
		{"codex", codex, `other(pattern=["a"])`, `the function "other"`},
		{"codex", codex, `prefix_rule(pattern=["a"]) if x else 1`, "something follows"},
		{"codex", codex, `prefix_rule(pattern=["\x41"], decision="forbidden")`, "an escape"},
		{"codex", codex, `network_rule(host="x.org", protocol="https", decision="deny")`, "network_rule"},
		{"codex", "/etc/codex/requirements.toml", "[rules]\nprefix = 1\n", "does not know the key"},
		{"codex", "/etc/codex/requirements.toml", "[[", "toml"},
		{"gemini", gemini, "[", "ends too early"},
		{"gemini", gemini, `{"tools": {"exclude": [1]}}`, "list of strings"},
		{"gemini", gemini, `{"tools": {"exclude": ["run_shell_command(x"]}}`, "invalid entry"},
		{"gemini", policy, "[[rule", "toml"},
		{"gemini", policy, "[[rule]]\ndecision=\"deny\"\npriority=1\n", "toolName"},
		{"gemini", policy, "[[rule]]\ntoolName=\"*\"\ndecision=\"no\"\npriority=1\n", "unknown decision"},
		{"gemini", policy, "[[rule]]\ntoolName=\"glob\"\ndecision=\"no\"\npriority=1\n", "unknown decision"},
		{"gemini", policy, "[[rule]]\ntoolName=\"*\"\nargsPattern=\"(?=x)\"\ndecision=\"deny\"\npriority=1\n", "does not understand its pattern"},
		{"gemini", policy, "[[safety_checker]]\ntoolName=\"*\"\npriority=1\n", "safety checker"},
		{"cursor", "x", "", "does not know the lists"},
	} {
		l, err := Read(c.agent, machine{c.path: c.text}.place())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: the error is %v, want %q", c.agent, c.text, err, c.want)
		}
		if v, _ := l.Judge("true", "/"); v != Deny {
			t.Errorf("%s %s: lists that were not read say %v", c.agent, c.text, v)
		}
	}
	two := machine{gemini: `{"tools": {"core": ["a"]}}`, "./.gemini/settings.json": `{"tools": {"core": ["b"]}}`}
	if _, err := Read("gemini", two.place()); err == nil || !strings.Contains(err.Error(), "keep one of them") {
		t.Errorf("two lists: the error is %v", err)
	}
	if _, err := Read("codex", Place{Project: "/x"}); err == nil {
		t.Error("no home folder is no error")
	}
}

func BenchmarkReadAndJudge(b *testing.B) {
	home := b.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(home, ".claude"), 0o700), os.WriteFile(filepath.Join(home, ".claude", "settings.json"),
		[]byte(`{"permissions": {"deny": ["Bash(rm:*)", "Bash(git push:*)", "Bash(curl *)", "Read(./.env)", "Read(~/.ssh/**)", "Edit(.github/**)"], "ask": ["Bash(git commit:*)", "Bash(npm publish *)"]}}`), 0o600)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		l, err := Read("claude-code", Place{Project: home, Dir: home, Environ: []string{"HOME=" + home}})
		if err != nil {
			b.Fatal(err)
		}
		if v, why := l.Judge("cd src && go test ./... 2>&1 | tail -20", home); v != None {
			b.Fatal(v, why)
		}
	}
}

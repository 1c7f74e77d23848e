package permissions

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzJudge has any text behind which stands a command that is denied. It stays denied, or a person
// is asked, whatever is before it, and nothing takes long.
func FuzzJudge(f *testing.F) {
	for _, text := range []string{
		"ls", "cd x && ls", "cat <<EOF\nx\nEOF", "xargs -x xargs -x xargs -x a", "bash -c 'bash -c \"x\"'", "for i in a b; do cat $i$i; done", "cat ${x}*[a-", "timeout -k 1 5 env A=b sudo -u x y",
		"a=b; cd $a; cat @$a=~/x", "find . -exec a {} ; -ok b", "eval eval eval x", "{a,b}", "$'\\x41'", "if x; then y; fi | z > w 2>&1", "f() { f; }", "case x in y) z;; esac", "((a++))", "export A=$(x)", "\\", "'",
	} {
		f.Add(text)
	}
	var all []Lists
	for agent, m := range map[string]machine{
		"claude-code": {"~/.claude/settings.json": `{"permissions": {"deny": ["Bash(touch deny:*)", "Read(./secret.txt)", "Edit(~/x/**)"], "ask": ["Bash(a * b)"]}}`},
		"codex":       {"~/.codex/rules/x.rules": forbidden},
		"gemini":      {"~/.gemini/policies/x.toml": "[[rule]]\ntoolName=\"run_shell_command\"\ncommandPrefix=\"touch deny\"\ndecision=\"deny\"\npriority=1\n"},
	} {
		l, err := Read(agent, m.place())
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, l)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range all {
			began := time.Now()
			v, why := l.Judge(text, testProject)
			if v < Deny || v > None || (why == "") != (v == None) {
				t.Errorf("%q is %v, %q", text, v, why)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("%q took %v", text, took)
			}
			// A comment, a text or a here-document may swallow what follows: then nothing runs it.
			if c := split(text + "\ntouch deny x"); c.err == nil && !runs(c, "touch deny x") {
				continue
			}
			if v, _ := l.Judge(text+"\ntouch deny x", testProject); v == None {
				t.Errorf("%q is free", text+"\ntouch deny x")
			}
		}
	})
}

// runs reports whether the last of the commands is this one.
func runs(c *commands, text string) bool {
	return len(c.simple) > 0 && strings.HasSuffix(c.text, text) && slices.Contains(c.simple[len(c.simple)-1].names(), text)
}

// FuzzRules has any file of rules.
func FuzzRules(f *testing.F) {
	for _, text := range []string{forbidden, "prefix_rule(", "prefix_rule(pattern=[[[[[[\"a\"]]]]]])", "a()\n#", "x(y='\\n')", ";", "network_rule('a','b','allow')"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		calls, err := parseRules(text)
		if err != nil && calls != nil {
			t.Error("there are calls beside an error")
		}
		for _, c := range calls {
			if p, err := c.rule(); c.name == "prefix_rule" && err == nil && len(p.pattern) == 0 {
				t.Errorf("%q is %+v", text, p)
			}
		}
	})
}

// FuzzEntry has any entry in the list of Claude Code, and any pattern of Gemini CLI.
func FuzzEntry(f *testing.F) {
	for _, text := range []string{"Bash", "Bash(a:*)", "Bash(a * b)", "Read(~/a/**)", "Edit(//a/[b]*)", "Read(a\\", "mcp__a", "Bash(a", "*", "Read(**)", "run_shell_command(a)"} {
		f.Add(text, "a b")
	}
	f.Fuzz(func(t *testing.T, entry, command string) {
		for agent, m := range map[string]machine{
			"claude-code": {"~/.claude/settings.json": `{"permissions": {"deny": [` + jsonText(entry) + `]}}`},
			"gemini":      {"~/.gemini/settings.json": `{"tools": {"exclude": [` + jsonText(entry) + `]}}`},
		} {
			l, err := Read(agent, m.place())
			if v, _ := l.Judge(command, testProject); err != nil && v != Deny {
				t.Errorf("%s %q: lists that were not read say %v", agent, entry, v)
			}
			if err == nil && agent == "claude-code" && (entry == "Bash" || entry == "Bash(*)") {
				if v, _ := l.Judge(command, testProject); v != Deny {
					t.Errorf("%q does not deny %q", entry, command)
				}
			}
		}
	})
}

package hook

import (
	"strings"
	"testing"
)

// Texts that bash, dash or zsh read otherwise than the parser did: with everything else
// allowed and touch denied, none of them is allowed without a person.
func TestTextThatAnotherShellReadsOtherwiseAsksAPerson(t *testing.T) {
	const free = "sandbox: {paths: {}}\nshell: {default: {approval: allow}}\nrules: [deny shell(touch)]\n"
	for name, c := range map[string]struct{ shell, text string }{
		"a comment that ends in a backslash":  {"bash", "echo a #b\\\ntouch M"},
		"a carriage return after a backslash": {"bash", "echo a \\\r\ntouch M"},
		"a comment after an array":            {"bash", "x=(a)#; touch M"},
		"declare with an array":               {"bash", "declare x=(a)#; touch M"},
		"two parentheses on two lines":        {"bash", "(\\\n(echo '$(touch M)'))"},
		"backquotes and quotes":               {"bash", "echo `echo ' `;touch M;`'`"},
		"esac in a substitution":              {"bash", "echo $(case a in a) :;; esac); touch M"},
		"background in a substitution":        {"bash", "echo $(: &); touch M"},
		"a dollar before backquotes":          {"bash", "echo \"$`touch M`\""},
		"a delimiter on two lines":            {"bash", "cat <<E\n\\\nE\ntouch M\nE"},
		"an expansion over a delimiter":       {"bash", "cat <<E\n${x:-\nE\ntouch M\n}\nE"},
		"let":                                 {"bash", "let x||touch M"},
		"let and a pipe":                      {"bash", "let x|touch M"},
		"functions of zsh":                    {"zsh", "functions[echo]='touch M'; echo a"},
		"hash of zsh":                         {"zsh", "hash cat=/usr/bin/touch; cat M"},
		"aliases of zsh":                      {"zsh", "aliases[ls]='touch M'; ls"},
		"an equals sign of zsh":               {"zsh", "=touch M"},
		"braces of zsh":                       {"zsh", "{touch M}"},
		"splitting of zsh":                    {"zsh", "x='touch M'; $=x"},
		"a shell that is not known":           {"fish", "echo a"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write("config/config.yaml", free)
			o := p.options(claude(t), bash("t", c.text))
			o.Environ = append(o.Environ, "SHELL=/usr/bin/"+c.shell)
			reply := Run(t.Context(), o)
			if text := string(reply.Stdout); reply.Exit == 0 && !strings.Contains(text, `"ask"`) && !strings.Contains(text, `"deny"`) {
				t.Errorf("%q is allowed: %s%s", c.text, text, reply.Stderr)
			}
		})
	}
	for _, text := range []string{"git status && ls -la | head -5", "cd src && grep -rn 'x y' . > out.txt 2>&1", "for f in a b; do echo \"$f\"; done", "cat <<'E'\n$(touch M)\nE"} {
		p := newPlace(t)
		p.write("config/config.yaml", strings.Replace(free, "rules: [deny shell(touch)]\n", "", 1))
		o := p.options(claude(t), bash("t", text))
		o.Environ = append(o.Environ, "SHELL=/bin/bash")
		if reply := Run(t.Context(), o); strings.Contains(string(reply.Stdout), "may read it otherwise") {
			t.Errorf("%q asks: %s", text, reply.Stdout)
		}
	}
}

// mcp__gh__evil__post is the tool evil__post of gh, or post of gh__evil: a deny of either holds,
// and an allow of one alone answers nothing.
func TestANameThatCanBeReadInTwoWays(t *testing.T) {
	for name, c := range map[string]struct {
		rules string
		want  string
	}{
		"a deny of the longer server":  {"deny connector gh__evil, allow connector gh", `"deny"`},
		"a deny of the shorter server": {"deny connector gh, allow connector gh__evil", `"deny"`},
		"a deny of a tool":             {"deny gh__evil:post, allow connector gh", `"deny"`},
		"an allow of one alone":        {"allow connector gh", `"ask"`},
		"an allow of the other alone":  {"allow connector gh__evil", `"ask"`},
		"an allow of both":             {"allow connector gh, allow connector gh__evil", `"allow"`},
		"nothing said":                 {"deny connector other", `"ask"`},
	} {
		p := newPlace(t)
		p.write("config/config.yaml", "rules: ["+c.rules+"]\n")
		reply := Run(t.Context(), p.options(claude(t), event("PreToolUse", "t", "mcp__gh__evil__post", `{"x":1}`)))
		if !strings.Contains(string(reply.Stdout), c.want) {
			t.Errorf("%s: %s%s, want %s", name, reply.Stdout, reply.Stderr, c.want)
		}
	}
	p := newPlace(t)
	p.write("config/config.yaml", "rules: [allow connector gh]\n")
	if reply := Run(t.Context(), p.options(claude(t), event("PreToolUse", "t", "mcp__gh__post", `{"x":1}`))); !strings.Contains(string(reply.Stdout), `"allow"`) {
		t.Errorf("a plain name: %s", reply.Stdout)
	}
}

// Who has commands run on the stage is told where one does not.
func TestAQuestionSaysThatItRunsOutside(t *testing.T) {
	p := newPlace(t)
	p.write("config/config.yaml", "hook: {shell: stage}\n")
	if reply := Run(t.Context(), p.options(claude(t), bash("t", "make all"))); !strings.Contains(string(reply.Stdout), "it will run outside the sandbox") {
		t.Errorf("%s%s", reply.Stdout, reply.Stderr)
	}
}

// An alias or a function of the person's shell is not what its name says.
func TestAnAliasAsksAPerson(t *testing.T) {
	p := newPlace(t)
	p.write("config/config.yaml", "shell: {default: {approval: allow}}\nrules: [allow shell(lint *)]\n")
	o := p.options(claude(t), bash("t", "lint all"))
	if reply := Run(t.Context(), o); !strings.Contains(string(reply.Stdout), `"allow"`) {
		t.Fatalf("%s%s", reply.Stdout, reply.Stderr)
	}
	p.write(".claude/shell-snapshots/snapshot-bash-1.sh", "alias -- lint='rm -rf'\n")
	o = p.options(claude(t), bash("t2", "lint all"))
	if reply := Run(t.Context(), o); !strings.Contains(string(reply.Stdout), `"ask"`) || !strings.Contains(string(reply.Stdout), "lint is an alias or a function of your shell") {
		t.Errorf("%s%s", reply.Stdout, reply.Stderr)
	}
}

package permissions

import (
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// commands are the parts of a text that a shell runs.
type commands struct {
	text string
	// err says that the text, or one inside it, cannot be split. Then no entry can be excluded.
	err error
	// texts are the whole text and each command in it as it is written.
	texts []string
	// simple are the simple commands, also those that others run.
	simple []command
	// plain says that the text has words alone, with nothing to expand and no files.
	plain bool
	// values are what variables are set to, as far as the text says.
	values map[string][]string

	depth int
	files map[string][]string // what each word may name
	tried int                 // of them
	globs int                 // patterns that were looked up
}

// A command is a simple one.
type command struct {
	words []word
	// reads and writes are the files of redirections.
	reads, writes []word
}

// A word is one of a command, without quotes. Fixed says that it means itself; else it has parts
// that the shell replaces, which are there as they are written.
type word struct {
	text  string
	fixed bool
}

// maxDepth is how many texts are looked into, one inside the other.
const maxDepth = 4

// maxCommands is how many commands a text may have that wrappers run.
const maxCommands = 1000

var errDepth = errors.New("commands are nested too deeply")

// split finds the commands in a text.
func split(text string) *commands {
	c := &commands{text: text, plain: true, values: map[string][]string{}, files: map[string][]string{}}
	c.add(text)
	return c
}

func (c *commands) add(text string) {
	c.texts = append(c.texts, strings.TrimSpace(text))
	if c.depth++; c.depth > maxDepth {
		c.err = errDepth
	}
	defer func() { c.depth-- }()
	if c.err != nil {
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		c.err = err
		return
	}
	source := func(n syntax.Node) string { return slice(text, n) }
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			c.stmt(n, source)
		case *syntax.Assign:
			if n.Name != nil && n.Value != nil {
				c.set(n.Name.Value, c.word(n.Value, source))
			}
		case *syntax.WordIter:
			for _, w := range n.Items {
				c.set(n.Name.Value, c.word(w, source))
			}
		case *syntax.Subshell, *syntax.Block, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.IfClause,
			*syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.FuncDecl, *syntax.TestClause,
			*syntax.ArithmCmd, *syntax.DeclClause, *syntax.LetClause, *syntax.TimeClause, *syntax.CoprocClause:
			c.plain = false
		}
		return true
	})
}

// slice is what is written for a node.
func slice(text string, n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(text) || from > to {
		return ""
	}
	return text[from:to]
}

func (c *commands) set(name string, w word) {
	if w.fixed && !slices.Contains(c.values[name], w.text) {
		c.values[name] = append(c.values[name], w.text)
	}
}

// stmt adds what a statement runs itself; those inside it are visited by themselves.
func (c *commands) stmt(s *syntax.Stmt, source func(syntax.Node) string) {
	if s.Background || s.Coprocess || s.Negated || len(s.Redirs) > 0 {
		c.plain = false
	}
	var out command
	for _, r := range s.Redirs {
		if r.Word == nil || r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.WordHdoc {
			continue
		}
		w := c.word(r.Word, source)
		if w.text == "/dev/null" || (r.Op == syntax.DplIn || r.Op == syntax.DplOut) && strings.Trim(w.text, "0123456789-") == "" {
			continue
		}
		switch r.Op {
		case syntax.RdrIn, syntax.DplIn:
			out.reads = append(out.reads, w)
		case syntax.RdrInOut:
			out.reads, out.writes = append(out.reads, w), append(out.writes, w)
		default:
			out.writes = append(out.writes, w)
		}
	}
	if s.Cmd != nil {
		c.texts = append(c.texts, source(s.Cmd))
	}
	c.texts = append(c.texts, strings.TrimRight(source(s), " \t\n;&"))
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		if len(call.Assigns) > 0 {
			c.plain = false
		}
		for _, w := range call.Args {
			word := c.word(w, source)
			c.plain = c.plain && word.fixed && !strings.ContainsAny(word.text, "*?[~{")
			out.words = append(out.words, word)
		}
	}
	if d, ok := s.Cmd.(*syntax.DeclClause); ok {
		out.words = []word{{d.Variant.Value, true}}
		for _, a := range d.Args {
			out.words = append(out.words, word{source(a), false})
		}
	}
	if len(out.words)+len(out.reads)+len(out.writes) == 0 {
		return
	}
	c.simple = append(c.simple, out)
	c.inner(out.words)
}

// word is a word without quotes.
func (c *commands) word(w *syntax.Word, source func(syntax.Node) string) word {
	out := word{fixed: true}
	var part func(p syntax.WordPart, quoted bool)
	part = func(p syntax.WordPart, quoted bool) {
		switch p := p.(type) {
		case *syntax.Lit:
			out.text += unescape(p.Value, quoted)
			out.fixed = out.fixed && (quoted || !strings.ContainsAny(p.Value, "{")) // braces make words
		case *syntax.SglQuoted:
			out.text += p.Value
			out.fixed = out.fixed && !(p.Dollar && strings.Contains(p.Value, `\`))
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				part(q, true)
			}
			out.fixed = out.fixed && !p.Dollar
		default:
			out.text += source(p)
			out.fixed = false
		}
	}
	for _, p := range w.Parts {
		part(p, false)
	}
	return out
}

// unescape takes the backslashes out that the shell takes out.
func unescape(text string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("\"\\$`\n", text[i+1]) >= 0) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// wrappers run the command in their arguments. The options are those with a value of their own.
var wrappers = map[string]string{
	"sudo": "-u -g -U -p -C -D -h -r -t -R -T", "doas": "-u -C", "env": "-u -C -S --unset --chdir",
	"time": "-f -o --format --output", "nice": "-n --adjustment",
	"nohup": "", "timeout": "-k -s --kill-after --signal", "command": "", "builtin": "", "exec": "-a", "noglob": "",
	"nocorrect": "", "stdbuf": "-i -o -e --input --output --error",
	"xargs": "-n -I -P -d -L -s -a -E --max-args --max-procs --max-lines --max-chars --delimiter --arg-file " +
		"--replace --process-slot-var",
	"caffeinate": "-w -t", "watch": "-n --interval", "ionice": "-c -n -p", "chrt": "-T -P -D", "setsid": "",
	"taskset": "", "strace": "-e -o -p -s -u", "ltrace": "-e -o -p -s -u",
	"script": "-c", "flock": "-w -E -c", "unshare": "", "nsenter": "-t", "busybox": "", "toybox": "", "parallel": "-j",
	"chronic": "", "unbuffer": "", "setpriv": "", "chroot": "", "coproc": "",
}

// shells run the text in their arguments, wherever it is among them.
var shells = strings.Fields(`bash sh zsh dash ksh mksh ash rbash fish eval su runuser script watch trap parallel flock
	xargs ssh env`)

var number = pattern(`^[0-9.]+[smhd]?$|^0x[0-9a-f]+$`)
var assignment = pattern(`^[A-Za-z_]\w*=`)

// inner adds the commands that a command runs: that of a wrapper, the text of a shell, and what
// find has for -exec.
func (c *commands) inner(words []word) {
	if len(words) == 0 || c.err != nil {
		return
	}
	name := path.Base(words[0].text)
	if options, ok := wrappers[name]; ok {
		c.wrapped(words, strings.Fields(options))
	}
	for i, w := range words[1:] {
		if name == "find" && slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, w.text) {
			c.run(words[i+2:])
		}
		if slices.Contains(shells, name) && strings.ContainsAny(w.text, " \t\n;&|<>()$`") {
			c.add(w.text)
		}
	}
	if name == "eval" {
		c.run(words[1:])
	}
}

// run adds a command that another one runs.
func (c *commands) run(words []word) {
	if len(words) == 0 {
		return
	}
	if len(c.simple) > maxCommands {
		c.err = errDepth
		return
	}
	c.simple = append(c.simple, command{words: words})
	c.inner(words)
}

// wrapped finds the command of a wrapper behind its options. Whether an option that is not known
// has a value is not known either: then both may be the command.
func (c *commands) wrapped(words []word, valued []string) {
	unsure := false
	for i := 1; i < len(words); i++ {
		w := words[i].text
		switch {
		case slices.Contains(valued, w):
			i++
			unsure = false
		case strings.HasPrefix(w, "-") && w != "-":
			unsure = !strings.Contains(w, "=") && w != "--"
		case assignment().MatchString(w), number().MatchString(w):
			unsure = false
		default:
			c.run(words[i:])
			if !unsure {
				return
			}
			unsure = false
		}
	}
}

// names are the ways to write a command's words as one text: as they are, and without the folder of
// the program.
func (c command) names() []string {
	if len(c.words) == 0 {
		return nil
	}
	var texts []string
	for _, w := range c.words {
		texts = append(texts, w.text)
	}
	out := []string{strings.Join(texts, " ")}
	if base := path.Base(texts[0]); base != texts[0] {
		texts[0] = base
		out = append(out, strings.Join(texts, " "))
	}
	return out
}

// program is the name of the program without its folder.
func (c command) program() string {
	if len(c.words) == 0 {
		return ""
	}
	return path.Base(c.words[0].text)
}

// perhaps reports whether the command begins with these words if those are right that are unknown
// before it runs. It needs one of them.
func (c command) perhaps(prefix []string) bool {
	unknown := false
	for i, p := range prefix {
		if i >= len(c.words) {
			return unknown && !c.words[len(c.words)-1].fixed // it may become several words
		}
		w := c.words[i]
		if i == 0 {
			w.text = path.Base(w.text)
		}
		if !w.fixed {
			unknown = true
		} else if w.text != p {
			return false
		}
	}
	return unknown
}

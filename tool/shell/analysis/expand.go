package analysis

import (
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// substituted is how a process substitution is named.
const substituted = "/dev/fd/63"

// pieces expands the parts of a word, and walks what runs inside them.
func (w *walker) pieces(parts []syntax.WordPart, s *state) []piece {
	list := make([]piece, 0, len(parts)+1)
	for i, part := range parts {
		if lit, ok := part.(*syntax.Lit); ok {
			list = w.literal(list, lit.Value, i == 0, len(parts) == i+1, s)
			continue
		}
		list = w.part(list, part, false, s)
	}
	return list
}

// literal expands unquoted text: a tilde, then backslashes.
func (w *walker) literal(list []piece, text string, first, last bool, s *state) []piece {
	if strings.IndexByte(text, '~') >= 0 && first {
		list, text = w.tilde(list, text, last, s)
	}
	unescape(text, func(text string, quoted bool) {
		list = append(list, piece{text: text, known: true, quoted: quoted})
	})
	return list
}

// part expands a part that is no plain text.
func (w *walker) part(list []piece, part syntax.WordPart, quoted bool, s *state) []piece {
	unknown := piece{quoted: quoted, split: !quoted}
	switch part := part.(type) {
	case *syntax.Lit:
		return append(list, piece{text: unescapeQuoted(part.Value, false), known: true, quoted: true})
	case *syntax.SglQuoted:
		text, known := part.Value, true
		if part.Dollar {
			text, known = ansiText(part.Value)
		}
		return append(list, piece{text: text, known: known, quoted: true})
	case *syntax.DblQuoted:
		return w.quoted(list, part, s)
	case *syntax.ParamExp:
		return append(list, w.parameter(part, quoted, s))
	case *syntax.CmdSubst:
		return append(list, w.substitution(part, quoted, s))
	case *syntax.ArithmExp:
		w.arithmetic(part.X, s, part)
		return append(list, piece{quoted: quoted, numeric: true})
	case *syntax.ProcSubst:
		if len(part.Stmts) == 0 { // some versions of bash leave it out
			return append(list, unknown)
		}
		w.subshell(part.Stmts, s)
		return append(list, piece{text: substituted, known: true, quoted: true})
	case *syntax.ExtGlob:
		if !w.at.test || strings.ContainsAny(part.Pattern.Value, "$`<>") {
			w.unknown(0, part, "an extended pattern, which may be read differently or hold code")
		}
		return append(list, unknown)
	}
	w.unknown(0, part, "an expansion that is not known")
	return append(list, unknown)
}

func (w *walker) quoted(list []piece, q *syntax.DblQuoted, s *state) []piece {
	if len(q.Parts) == 0 {
		return append(list, piece{known: true, quoted: true})
	}
	for _, part := range q.Parts {
		list = w.part(list, part, true, s)
	}
	return list
}

// subshell walks statements in a shell of their own.
func (w *walker) subshell(stmts []*syntax.Stmt, s *state) {
	at := w.at
	at.inner, at.test = true, false
	w.inside(at, func() { w.apart(func() { w.stmts(stmts, s.fork()) }) })
}

// substitution walks a command substitution. Only what `pwd` prints is known.
func (w *walker) substitution(c *syntax.CmdSubst, quoted bool, s *state) piece {
	w.subshell(c.Stmts, s)
	if dir := s.folders.only(); dir != "" && len(c.Stmts) == 1 && !w.facts.adrift {
		call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr)
		shadowed := w.facts.functions["pwd"] != nil
		if ok && !shadowed && len(call.Args) == 1 && len(call.Assigns) == 0 && len(c.Stmts[0].Redirs) == 0 && call.Args[0].Lit() == "pwd" {
			return piece{text: dir, known: true, quoted: quoted, split: !quoted}
		}
	}
	return piece{quoted: quoted, split: !quoted}
}

// tilde expands a leading ~, and in NAME=~/x that behind the equals sign.
func (w *walker) tilde(list []piece, text string, last bool, s *state) ([]piece, string) {
	rest := text
	if name, value, ok := strings.Cut(text, "="); ok && isName(name) {
		list = append(list, piece{text: name + "=", known: true})
		rest = value
	}
	if !strings.HasPrefix(rest, "~") {
		if strings.Contains(rest, ":~") && rest != text {
			return append(list, piece{}), "" // PATH=a:~/b
		}
		if rest == text {
			return list, text
		}
		return list, rest
	}
	prefix, after, slash := strings.Cut(rest, "/")
	if prefix != "~" || !slash && !last || strings.Contains(after, ":~") {
		return append(list, piece{split: false}), strings.TrimPrefix(rest, prefix)
	}
	home := w.value("HOME", s)
	return append(list, piece{text: home.Text, known: home.Known, quoted: true}), rest[1:]
}

// value returns what is known of a variable's value.
func (w *walker) value(name string, s *state) programs.Word {
	if dynamic(name) {
		if name == "PWD" && !w.facts.adrift {
			return w.pwd(s)
		}
		return programs.Word{}
	}
	if v, ok := w.lookup(name, s); ok {
		if v.isList {
			if len(v.list) > 0 {
				return v.list[0]
			}
			return programs.Word{}
		}
		if v.value.Glob {
			return programs.Word{}
		}
		return v.value
	}
	switch name {
	case "HOME":
		return programs.Literal(w.world.Home())
	case "IFS":
		return programs.Literal(" \t\n")
	}
	if value, set := w.world.Variable(name); set {
		return programs.Literal(value)
	}
	return programs.Word{}
}

// pwd is $PWD, unless somebody assigned it.
func (w *walker) pwd(s *state) programs.Word {
	if _, assigned := w.lookup("PWD", s); assigned || s.folders.only() == "" {
		return programs.Word{}
	}
	return programs.Literal(s.folders.only())
}

// dynamic reports variables whose value the shell itself changes.
func dynamic(name string) bool {
	switch name {
	case "PWD", "OLDPWD", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME",
		"PPID", "UID", "EUID", "GROUPS", "DIRSTACK", "FUNCNAME", "HISTCMD", "OPTARG", "OPTIND", "OPTERR",
		"PIPESTATUS", "SHELLOPTS", "BASHOPTS", "BASHPID", "COLUMNS", "LINES", "_", "SHLVL", "COPROC":
		return true
	}
	return strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "COMP_")
}

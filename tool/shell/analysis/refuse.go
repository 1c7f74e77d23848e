package analysis

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of a text. Beyond the odd ones a person is always asked; beyond the others it
// is not read at all.
const (
	oddLength  = 16 << 10
	maxLength  = 64 << 10
	oddNesting = 100
	maxNesting = 250
)

// gate looks at a text before it is parsed. It returns why the text is odd, or an error
// if it cannot be one command at all.
func gate(text string) (odd string, err error) {
	switch {
	case len(text) > maxLength:
		return "", fmt.Errorf("the command has %d bytes, more than the limit of %d: put it in a script", len(text), maxLength)
	case strings.IndexByte(text, 0) >= 0:
		return "", fmt.Errorf("the command has a NUL character at byte %d, which no shell accepts",
			strings.IndexByte(text, 0)+1)
	case strings.ContainsAny(text, "\v\f"): // the printer would take them for line ends
		return "", fmt.Errorf("the command has a form feed or vertical tab at byte %d: "+
			"write it as $'\\f' or $'\\v'", strings.IndexAny(text, "\v\f")+1)
	case !utf8.ValidString(text):
		return "", errors.New("the command is not valid UTF-8")
	}
	deep := nesting(text)
	if deep > maxNesting {
		return "", fmt.Errorf("the command is nested %d levels deep, more than the limit of %d", deep, maxNesting)
	}
	if odd = oddCharacter(text); odd != "" {
		return odd, nil
	}
	switch {
	case len(text) > oddLength:
		return fmt.Sprintf("longer than %d bytes", oddLength), nil
	case deep > oddNesting:
		return fmt.Sprintf("nested deeper than %d", oddNesting), nil
	}
	return "", nil
}

// oddCharacter names the first character that is not what it seems to be on a screen.
func oddCharacter(text string) string {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if (c < ' ' && c != '\t' && c != '\n' && !(c == '\r' && strings.HasPrefix(text[i+1:], "\n"))) || c == 0x7f {
				return fmt.Sprintf("control character U+%04X", c)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if misleading(r) {
			return fmt.Sprintf("invisible or misleading character U+%04X", r)
		}
		i += size
	}
	return ""
}

// misleading reports characters that are invisible, reorder text, or look like a space
// but are none for a shell.
func misleading(r rune) bool {
	switch {
	case r < 0xa0: // C1 controls
		return true
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Z, r): // bidi, zero-width; spaces
		return true
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Co, r):
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0,
		r == utf8.RuneError:
		return true // blank by design, or standing for what could not be decoded
	}
	return false
}

// nesting estimates how deep the text nests, without parsing it: brackets, the words that
// open a compound command, and those that may follow each other without end. What quotes
// hide is counted too, which only asks more.
func nesting(text string) int {
	deepest, brackets, words, chain := 0, 0, 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(' || c == '{' || c == '[':
			brackets++
			if c == '{' {
				chain = 0
			}
		case c == ')' || c == '}' || c == ']':
			brackets = max(brackets-1, 0)
			if c == ')' && i > 0 && text[i-1] == '(' {
				chain++ // f() f() f() …
			}
		case c == ';' || c == '\n' || c == '&' || c == '|':
			chain = 0
		case c == '!':
			chain++
		case c >= 'a' && c <= 'z' && (i == 0 || !isNameByte(text[i-1])):
			n, opens, follows := keyword(text[i:])
			words, chain = max(words+opens, 0), chain+follows
			i += n
		}
		deepest = max(deepest, brackets+words+chain)
	}
	return deepest
}

// keyword returns how many bytes to skip, by how much the word nests, and whether another
// like it may follow at once.
func keyword(text string) (skip, opens, follows int) {
	n := 0
	for n < len(text) && isNameByte(text[n]) {
		n++
	}
	switch text[:n] {
	case "if", "while", "until", "for", "select", "case":
		opens = 1
	case "fi", "done", "esac":
		opens = -1
	case "coproc", "time":
		follows = 1
	}
	return n - 1, opens, follows
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// misread notes what bash runs and the parser takes for plain text: a process substitution
// inside ${…} or in a regular expression, or an expansion whose dollar sign ends a line.
func (w *walker) misread(file *syntax.File) {
	if strings.Contains(w.at.text, "$\\\n") {
		w.unknown(0, nil, "a dollar sign before a line that goes on: bash may read an expansion there")
	}
	if !hasProcess(w.at.text) {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			if hasProcess(w.source(n)) {
				w.unknown(0, n, "a process substitution inside ${…}, which is not read")
				return false
			}
		case *syntax.BinaryTest:
			if n.Op == syntax.TsReMatch && hasProcess(w.source(n.Y)) {
				w.unknown(0, n, "a process substitution in a regular expression, which is not read")
				return false
			}
		}
		return true
	})
}

// hasProcess reports whether a process substitution may begin somewhere in the text, also
// across a line that goes on.
func hasProcess(text string) bool {
	for i := range len(text) {
		if text[i] != '<' && text[i] != '>' {
			continue
		}
		rest := text[i+1:]
		for strings.HasPrefix(rest, "\\\n") {
			rest = rest[2:]
		}
		if strings.HasPrefix(rest, "(") {
			return true
		}
	}
	return false
}

// portable reports whether every shell reads a script as bash does: it has nothing that
// POSIX leaves out. Of a shell with its own language nothing is certain.
func portable(file *syntax.File, reader shell) bool {
	if reader == foreign {
		return false
	}
	ok := true
	syntax.Walk(file, func(n syntax.Node) bool {
		ok = ok && portableNode(n)
		return ok
	})
	return ok
}

// bashOnly are builtins of bash that other shells do not have, or have differently.
var bashOnly = map[string]bool{
	"pushd": true, "popd": true, "dirs": true, "source": true, "mapfile": true, "readarray": true, "shopt": true,
	"declare": true,
	"typeset": true, "let": true, "builtin": true, "enable": true, "bind": true, "complete": true, "compgen": true,
	"compopt": true,
	"caller":  true, "suspend": true, "logout": true, "help": true, "history": true, "disown": true,
}

func portableNode(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.ArithmCmd, *syntax.TestClause, *syntax.LetClause, *syntax.CoprocClause, *syntax.ProcSubst,
		*syntax.ExtGlob, *syntax.ArrayExpr, *syntax.CStyleLoop, *syntax.TimeClause:
		return false
	case *syntax.DeclClause:
		return n.Variant.Value == "export" || n.Variant.Value == "readonly"
	case *syntax.ForClause:
		return !n.Select && !n.Braces
	case *syntax.FuncDecl:
		return !n.RsrvWord
	case *syntax.SglQuoted:
		return !n.Dollar
	case *syntax.DblQuoted:
		return !n.Dollar
	case *syntax.Assign:
		return n.Index == nil && n.Array == nil && !n.Append
	case *syntax.Lit:
		rest := strings.ReplaceAll(n.Value, "{}", "")
		return !strings.Contains(rest, "{") && !strings.Contains(rest, "=~") && !strings.Contains(rest, ":~")
	case *syntax.CallExpr:
		return len(n.Args) == 0 || !bashOnly[n.Args[0].Lit()]
	case *syntax.BinaryCmd:
		return n.Op != syntax.PipeAll
	case *syntax.CaseItem:
		return n.Op == syntax.Break
	case *syntax.ArithmExp:
		return !n.Bracket
	case *syntax.Redirect:
		return portableRedirect(n)
	case *syntax.ParamExp:
		return portableParameter(n)
	}
	return true
}

func portableRedirect(r *syntax.Redirect) bool {
	if r.N != nil && !digits(r.N.Value) {
		return false
	}
	switch r.Op {
	case syntax.RdrAll, syntax.AppAll, syntax.WordHdoc:
		return false
	case syntax.DplOut, syntax.DplIn:
		lit := r.Word.Lit()
		return lit == "-" || digits(lit)
	}
	return true
}

func portableParameter(p *syntax.ParamExp) bool {
	if p.Excl || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return false
	}
	if p.Exp == nil {
		return true
	}
	switch p.Exp.Op {
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll, syntax.OtherParamOps:
		return false
	}
	return true
}

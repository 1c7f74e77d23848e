package interp

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Unsupported names the first construct of a tree that this interpreter does not have,
// or returns an empty string. What a tree does only at run time, such as a builtin
// whose name comes from a variable, is found then and ends the run.
func Unsupported(file *syntax.File) (construct string) {
	syntax.Walk(file, func(node syntax.Node) bool {
		if construct == "" && node != nil {
			construct = unsupportedNode(node)
		}
		return construct == ""
	})
	return construct
}

func unsupportedNode(node syntax.Node) string {
	switch n := node.(type) {
	case *syntax.CoprocClause:
		return "coproc"
	case *syntax.Stmt:
		if n.Coprocess || n.Disown {
			return "|& or &! of another shell"
		}
	case *syntax.TestDecl:
		return "a test of bats"
	case *syntax.FuncDecl:
		if n.Name == nil || len(n.Names) > 0 || simpleBody(n) {
			return "a function of another shell"
		}
	case *syntax.CmdSubst:
		if n.TempFile || n.ReplyVar {
			return "${ ...;} of another shell"
		}
	case *syntax.ProcSubst:
		if n.Op == syntax.CmdInTemp {
			return "=(...) of another shell"
		}
	case *syntax.ArithmExp:
		if n.Unsigned {
			return "unsigned arithmetic"
		}
	case *syntax.ArithmCmd:
		if n.Unsigned {
			return "unsigned arithmetic"
		}
	case *syntax.FlagsArithm:
		return "arithmetic of another shell"
	case *syntax.CaseItem:
		if n.Op == syntax.ResumeKorn {
			return ";| of another shell"
		}
	case *syntax.DeclClause:
		if n.Variant.Value == "nameref" {
			return "nameref"
		}
	case *syntax.ParamExp:
		if n.Flags != nil || n.Width || n.IsSet || n.NestedParam != nil || len(n.Modifiers) > 0 || n.Param == nil ||
			n.Split != syntax.OptUnset || n.GlobSubst != syntax.OptUnset || n.RcExpand != syntax.OptUnset {
			return "a parameter expansion of another shell"
		}
	case *syntax.ExtGlob:
		if strings.ContainsAny(n.Pattern.Value, "$`") {
			return "an expansion in an extended pattern"
		}
	case *syntax.Redirect:
		switch n.Op {
		case syntax.AppClob, syntax.RdrAllClob, syntax.AppAllClob:
			return "the redirection " + n.Op.String()
		case syntax.DplIn, syntax.DplOut:
			if dashWord(n) {
				return "a word after >&- without a space"
			}
		case syntax.Hdoc, syntax.DashHdoc:
			if n.Hdoc != nil && quotedDelimiter(n.Word) && !onlyLiterals(n.Hdoc) {
				return "a here-document whose delimiter is quoted in part"
			}
		}
	case *syntax.CallExpr:
		if reservedFirst(n) {
			return "a reserved word as a command"
		}
		return unsupportedCall(n)
	}
	return ""
}

// simpleBody reports whether a function's body is a simple command, which bash refuses.
func simpleBody(fn *syntax.FuncDecl) bool {
	if fn.Body == nil {
		return true
	}
	switch fn.Body.Cmd.(type) {
	case *syntax.CallExpr, *syntax.DeclClause, *syntax.BinaryCmd, nil:
		return true
	}
	return false
}

// reservedFirst reports whether the parser takes for a command what bash takes for a misplaced
// reserved word.
func reservedFirst(call *syntax.CallExpr) bool {
	if len(call.Assigns) > 0 || len(call.Args) == 0 {
		return false
	}
	switch call.Args[0].Lit() {
	case "in", "then", "else", "elif", "fi", "do", "done", "esac":
		return true
	}
	return false
}

// extGlobIn reports whether statements use extended patterns where those must have been
// switched on before the line was read.
func extGlobIn(stmts []*syntax.Stmt) bool {
	found := false
	for _, st := range stmts {
		syntax.Walk(st, func(node syntax.Node) bool {
			switch node.(type) {
			case *syntax.ExtGlob:
				found = true
			case *syntax.TestClause, *syntax.ParamExp:
				return false
			}
			return !found
		})
	}
	return found
}

func onlyLiterals(w *syntax.Word) bool {
	return !slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		_, ok := p.(*syntax.Lit)
		return !ok
	})
}

// unsupportedCall looks at a command whose words are literal.
func unsupportedCall(call *syntax.CallExpr) string {
	var args []string
	for _, w := range call.Args {
		args = append(args, literalWord(w))
	}
	for len(args) > 1 && (args[0] == "command" || args[0] == "builtin") {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	if slices.Contains(unsupportedBuiltins, args[0]) {
		return args[0]
	}
	switch args[0] {
	case "set":
		for i, arg := range args[1:] {
			if arg == "--" || arg == "-" || len(arg) < 2 || arg[0] != '-' && arg[0] != '+' {
				break
			}
			for j := 1; j < len(arg); j++ {
				if arg[j] == 'o' {
					if i+2 < len(args) {
						if opt, ok := optionNamed(setOptions, args[i+2]); ok && opt.fixed && arg[0] == '-' {
							return "set -o " + opt.name
						}
					}
				} else if opt, ok := optionFlagged(arg[j]); ok && opt.fixed && arg[0] == '-' {
					return "set -" + string(arg[j])
				}
			}
		}
	case "shopt":
		if slices.Contains(args, "-s") {
			for _, arg := range args[1:] {
				if opt, ok := optionNamed(shoptOptions, arg); ok && opt.fixed {
					return "shopt -s " + arg
				}
			}
		}
	case "trap":
		if len(args) > 2 && args[1] != "-" {
			for _, arg := range args[2:] {
				if name, _ := trapName(arg); name == "CHLD" {
					return "a trap for " + name
				}
			}
		}
	}
	return ""
}

// literalWord returns a word without expansions, or "".
func literalWord(w *syntax.Word) string {
	var sb strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			sb.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			if part.Dollar {
				return ""
			}
			sb.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, in := range part.Parts {
				lit, ok := in.(*syntax.Lit)
				if !ok {
					return ""
				}
				sb.WriteString(lit.Value)
			}
		default:
			return ""
		}
	}
	return sb.String()
}

package analysis

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
	"pushd": true, "popd": true, "dirs": true, "source": true, "mapfile": true, "readarray": true, "shopt": true, "declare": true,
	"typeset": true, "let": true, "builtin": true, "enable": true, "bind": true, "complete": true, "compgen": true, "compopt": true,
	"caller": true, "suspend": true, "logout": true, "help": true, "history": true, "disown": true,
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

package analysis

import (
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// An input is what a redirection puts on standard input.
type input struct {
	text  programs.Word // of a here-document or here-string
	given bool
	fed   bool // it is no terminal or device
}

// redirects walks redirections of the part of that number, or of none.
func (w *walker) redirects(list []*syntax.Redirect, s *state, part int) (in input) {
	for _, r := range list {
		if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
			w.assign(strings.Trim(r.N.Value, "{}"), variable{numeric: true}, assigner{part: part, node: r}, s)
		}
		here := r.N == nil || r.N.Value == "0"
		w.crossed = w.crossed || crosses(r)
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if text := w.document(r, s); here {
				in = input{text, true, true}
			}
			continue
		case syntax.WordHdoc:
			text := w.single(r.Word, s)
			if text.Known {
				text.Text += "\n"
			}
			if here {
				in = input{text, true, true}
			}
			continue
		}
		target := w.redirect(r, s, part)
		if here && (r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut || r.Op == syntax.DplIn) {
			in = input{given: true, fed: target.Known && r.Op == syntax.RdrIn && !isDevice(target.Text)}
		}
	}
	return in
}

// crosses reports whether a redirection may put a file that is read where output goes.
func crosses(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrIn, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return r.N != nil && r.N.Value != "0"
	case syntax.DplOut:
		target := r.Word.Lit()
		return target != "1" && target != "2" && target != "-"
	}
	return false
}

// document expands a here-document: code unless its delimiter is quoted.
func (w *walker) document(r *syntax.Redirect, s *state) programs.Word {
	for _, part := range r.Word.Parts {
		if _, strange := part.(*syntax.ExtGlob); strange {
			w.unknown(0, r, "a here-document whose end bash does not read")
		}
	}
	if r.Hdoc == nil {
		return programs.Literal("")
	}
	if isQuoted(r.Word) {
		return programs.Literal(documentText(r))
	}
	var pieces []piece
	for _, part := range r.Hdoc.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			pieces = append(pieces, piece{text: unescapeQuoted(lit.Value, true), known: true})
			continue
		}
		pieces = w.part(pieces, part, true, s)
	}
	return w.joined(pieces, w.source(r.Hdoc))
}

func isQuoted(word *syntax.Word) bool {
	lit := word.Lit()
	return lit == "" || strings.Contains(lit, `\`)
}

// documentText is the body of a here-document as it stands.
func documentText(r *syntax.Redirect) string {
	var text strings.Builder
	for _, part := range r.Hdoc.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			text.WriteString(lit.Value)
		}
	}
	if r.Op != syntax.DashHdoc {
		return text.String()
	}
	lines := strings.Split(text.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimLeft(line, "\t")
	}
	return strings.Join(lines, "\n")
}

// redirect walks one redirection to a file, and returns the file.
func (w *walker) redirect(r *syntax.Redirect, s *state, part int) programs.Word {
	words := w.fields(nil, []*syntax.Word{r.Word}, s)
	target := programs.Word{Text: w.source(r.Word)}
	if len(words) == 1 {
		target = words[0]
	}
	p := Part{Kind: Touches, Cause: part, Line: w.line(r), Source: w.source(r.Word), Redirect: true}
	if part > 0 {
		p.Source = w.parts[part-1].Source
	}
	switch r.Op {
	case syntax.DplIn, syntax.DplOut:
		if closesAndGoesOn(r.Word) {
			w.unknown(part, r, "the shell closes the descriptor, and takes what follows the hyphen for another word")
		}
		if isDescriptor(r.Word, target) {
			return target
		}
		if endsOpen(r.Word) {
			w.unknown(part, r, "the shell refuses a hyphen behind what is no descriptor")
		}
		if r.Op == syntax.DplIn || !isStandardOutput(r.N) {
			if !target.Known { // otherwise an error of bash: ambiguous
				w.unknownDuplicate(p, target)
			}
			return target
		}
		if !target.Known || strings.ContainsAny(target.Text, expandable) {
			w.unknown(part, r, "the shell expands the word after >& twice")
		}
	}
	for _, access := range accesses(r.Op) {
		p.Access = access
		w.touch(p, target, s, false)
	}
	return target
}

// expandable are the characters that an expansion does not leave as they are.
const expandable = "$`\\'\"~*?[]{}()<>|&;!# \t\n"

// closesAndGoesOn reports whether a word after >& or <& begins with a hyphen and has more:
// to bash that is two words.
func closesAndGoesOn(word *syntax.Word) bool {
	first, ok := word.Parts[0].(*syntax.Lit)
	return ok && strings.HasPrefix(first.Value, "-") && word.Lit() != "-"
}

// endsOpen reports whether a word after >& or <& that names no descriptor ends with a hyphen:
// bash takes that for the sign to move one, and refuses the command.
func endsOpen(word *syntax.Word) bool {
	last, ok := word.Parts[len(word.Parts)-1].(*syntax.Lit)
	return ok && strings.HasSuffix(last.Value, "-")
}

// isStandardOutput reports whether the descriptor before >& is 1, as it is by default:
// only then may a file follow.
func isStandardOutput(n *syntax.Lit) bool {
	return n == nil || strings.TrimLeft(n.Value, "0") == "1"
}

// unknownDuplicate is n>&$word: a descriptor, or with 1 a file.
func (w *walker) unknownDuplicate(p Part, target programs.Word) {
	if target.Number {
		return
	}
	p.Access, p.Operand, p.Why = programs.Write, target, "where the output goes is unknown before it runs"
	w.add(p)
}

// isDescriptor reports whether the word after >& names a descriptor, or closes or moves one.
// Only a hyphen that is written there moves it.
func isDescriptor(word *syntax.Word, target programs.Word) bool {
	if !target.Known {
		return target.Number
	}
	text := target.Text
	if word.Lit() == text {
		text = strings.TrimSuffix(text, "-")
	}
	return target.Text == "-" || digits(text)
}

// accesses are what a redirection does to its file.
func accesses(op syntax.RedirOperator) []programs.Kind {
	switch op {
	case syntax.RdrIn:
		return []programs.Kind{programs.Read}
	case syntax.RdrInOut:
		return []programs.Kind{programs.Read, programs.Write}
	}
	return []programs.Kind{programs.Write}
}

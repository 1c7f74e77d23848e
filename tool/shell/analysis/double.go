package analysis

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// doubleQuoted expands what stands in ${x:-…} inside double quotes, in a here-document or in
// arithmetic. There a single quote is plain text for the shell, though not for the parser.
func (w *walker) doubleQuoted(parts []syntax.WordPart, s *state) []piece {
	var list []piece
	for _, part := range parts {
		if q, ok := part.(*syntax.SglQuoted); ok {
			list = w.unquoted(list, q, s)
			continue
		}
		list = w.part(list, part, true, s)
	}
	return list
}

// unquoted expands the text between two single quotes that are none. A character that would
// end the quotes or the braces around it is read differently by each shell.
func (w *walker) unquoted(list []piece, q *syntax.SglQuoted, s *state) []piece {
	if strings.ContainsAny(q.Value, "\"\\{}") {
		w.unknown(0, q, "single quotes inside double quotes, which do not quote")
	}
	if !strings.ContainsAny(q.Value, "$`") {
		return append(list, piece{text: "'" + q.Value + "'", known: true, quoted: true})
	}
	word, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Document(strings.NewReader(q.Value))
	if err != nil {
		w.unknown(0, q, "single quotes inside double quotes, which do not quote")
		return append(list, piece{quoted: true})
	}
	at := w.at
	at.text, at.line = q.Value, w.line(q)
	list = append(list, piece{text: "'", known: true, quoted: true})
	w.inside(at, func() { list = append(list, w.doubleQuoted(word.Parts, s)...) })
	return append(list, piece{text: "'", known: true, quoted: true})
}

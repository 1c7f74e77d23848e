package terminal

import (
	"embed"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"

	"github.com/assent-dev/assent/present"
)

// What is longer than this is shown without colours: highlighting takes time, and nobody
// reads a minified file.
const (
	maxHighlight     = 32 << 10 // bytes
	maxHighlightLine = 1000     // bytes
)

// safeLines makes content safe and splits it into lines, with what was made visible in
// the style escape.
func safeLines(content string) []line {
	lines := []line{nil}
	for _, span := range present.Spans(content) {
		st := plain
		if span.Escaped {
			st = escape
		}
		for i, part := range strings.Split(span.Text, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if part != "" {
				last := len(lines) - 1
				lines[last] = append(lines[last], seg{part, st})
			}
		}
	}
	if last := len(lines) - 1; last > 0 && len(lines[last]) == 0 {
		lines = lines[:last] // the newline ends a line, it does not begin one
	}
	return lines
}

// highlight is safeLines with the styles of a language.
func highlight(language, content string) []line {
	lines := safeLines(content)
	if language == "" || !worthHighlighting(content) {
		return lines
	}
	whole := joinLines(lines)
	styles := tokenStyles(tokenise(language, whole), len(whole))
	if styles == nil {
		return lines
	}
	at := 0
	for i, l := range lines {
		lines[i] = restyle(l, styles[at:])
		at += len(l.String()) + 1
	}
	return lines
}

func worthHighlighting(content string) bool {
	if len(content) > maxHighlight {
		return false
	}
	for l := range strings.SplitSeq(content, "\n") {
		if len(l) > maxHighlightLine {
			return false
		}
	}
	return true
}

func joinLines(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// tokenStyles returns the style of each byte, or nil if the tokens are not exactly the
// text of that size: a lexer's mistake must not change what is shown.
func tokenStyles(tokens []chroma.Token, size int) []style {
	styles := make([]style, 0, size)
	for _, t := range tokens {
		st := tokenStyle(t.Type)
		for range len(t.Value) {
			styles = append(styles, st)
		}
	}
	if len(styles) != size {
		return nil
	}
	return styles
}

// restyle gives the plain parts of a line the styles of their bytes.
func restyle(l line, styles []style) line {
	var out line
	at := 0
	for _, s := range l {
		if s.style != plain {
			out, at = append(out, s), at+len(s.text)
			continue
		}
		for start := 0; start < len(s.text); {
			end := start + 1
			for end < len(s.text) && styles[at+end] == styles[at+start] {
				end++
			}
			out = append(out, seg{s.text[start:end], styles[at+start]})
			start = end
		}
		at += len(s.text)
	}
	return out
}

func tokenStyle(t chroma.TokenType) style {
	switch {
	case t.InCategory(chroma.Comment):
		return comment
	case t == chroma.NameTag, t == chroma.NameAttribute, t == chroma.GenericHeading, t == chroma.GenericSubheading:
		return keyword
	case t.InCategory(chroma.Keyword), t == chroma.NameBuiltin:
		return keyword
	case t.InSubCategory(chroma.LiteralString):
		return literal
	case t.InSubCategory(chroma.LiteralNumber):
		return number
	case t == chroma.NameFunction, t == chroma.NameClass:
		return function
	}
	return plain
}

// lexerFiles are lexers of chroma, in chroma's own XML form. Importing chroma's package of
// lexers reads all 279 of them before main starts; these are read when something is first
// highlighted. go.xml and markdown.xml were written with chroma.Marshal, the others are
// copies; see lexers/COPYING.
//
//go:embed lexers/*.xml
var lexerFiles embed.FS

// lexers reads the heads of the files, once; the rules of a lexer are read when it is used.
var lexers = sync.OnceValue(func() *chroma.LexerRegistry {
	registry := chroma.NewLexerRegistry()
	names, _ := fs.Glob(lexerFiles, "lexers/*.xml")
	for _, name := range names {
		if lexer, err := chroma.NewXMLLexer(lexerFiles, name); err == nil {
			registry.Register(lexer)
		}
	}
	return registry
})

// maxTokenise is how long colours may take: the rules of a lexer backtrack, and a text can
// be made that they take forever on.
var maxTokenise = 30 * time.Millisecond

// tokenise splits text by the rules of a language. It returns nil for a language that is
// not known and for a lexer that fails or is slow: then there is no colour, and nothing is
// lost.
func tokenise(language, text string) (tokens []chroma.Token) {
	if language == "" {
		return nil
	}
	defer func() {
		if recover() != nil {
			tokens = nil
		}
	}()
	lexer := lexers().Get(language)
	if lexer == nil {
		return nil
	}
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil
	}
	began := time.Now()
	for t := next(); t != chroma.EOF; t = next() {
		if tokens = append(tokens, t); time.Since(began) > maxTokenise {
			return nil
		}
	}
	return tokens
}

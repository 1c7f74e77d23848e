package terminal

import (
	"embed"
	"io/fs"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
)

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
// be made that they take for ever on.
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

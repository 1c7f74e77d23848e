package analysis

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// A Text is a command that was read, as text. Only [Read] makes one; the zero Text
// is empty and runs nothing.
type Text struct {
	text, original string
	printed        bool
}

// String returns the text that is judged, shown and executed: the parsed command printed
// again if that is the same program, and else the original text.
func (c Text) String() string { return c.text }

// Original returns the text as it was given.
func (c Text) Original() string { return c.original }

// Printed reports whether the text is what the printer makes of the judged tree, and parses
// to the same tree. If it does not, the text may only be run by interpreting the tree, never
// by a shell that reads the text itself.
func (c Text) Printed() bool { return c.printed }

// Changed reports whether the text says more than white space differently from the
// original, so that both are worth showing.
func (c Text) Changed() bool { return !sameText(c.text, c.original, false) }

// maxRounds is how often a text is printed and parsed again until that no longer changes it.
const maxRounds = 8

// A press brings text into canonical form. It is reused, since parser and printer are
// costly to make.
type press struct {
	parser  *syntax.Parser
	line    *syntax.Printer // everything in one line
	lines   *syntax.Printer
	printed bytes.Buffer
}

var presses = sync.Pool{New: func() any {
	return &press{
		parser: syntax.NewParser(syntax.Variant(syntax.LangBash)),
		line:   syntax.NewPrinter(syntax.SpaceRedirects(true), syntax.SingleLine(true)),
		lines:  syntax.NewPrinter(syntax.SpaceRedirects(true)),
	}
}}

// A form is a text with the tree that it parses to.
type form struct {
	text    string
	file    *syntax.File
	printed bool // the text is what the printer makes of the tree
}

// canonical parses and prints a text until that no longer changes it. A text of one line
// stays one line. Where what is printed is another program, or none, the form is the
// original text itself, and also where the text is very long.
func canonical(text string) (form, error) {
	p := presses.Get().(*press)
	defer presses.Put(p)
	printer := p.lines
	if !strings.Contains(text, "\n") {
		printer = p.line
	}
	file, err := p.parser.Parse(strings.NewReader(text), "")
	if err != nil {
		return form{}, located(err)
	}
	original := form{text: text, file: file}
	if len(text) > oddLength {
		return original, nil // only a person allows it, who reads what was written
	}
	at := original
	joins := strings.Contains(text, "$\\\n") // bash joins the lines before it looks for an expansion
	for range maxRounds {
		p.printed.Reset()
		if err := printer.Print(&p.printed, at.file); err != nil {
			return original, nil
		}
		printed := bytes.TrimSuffix(p.printed.Bytes(), []byte("\n"))
		if at.text == string(printed) {
			at.printed = !joins
			return at, nil
		}
		next := form{text: string(printed)}
		next.file, err = p.parser.Parse(strings.NewReader(next.text), "")
		if err != nil || !joins && !sameStatements(at.file, next.file) {
			return original, nil
		}
		at = next
	}
	return original, nil
}

var (
	posType   = reflect.TypeFor[syntax.Pos]()
	substType = reflect.TypeFor[syntax.CmdSubst]()
	aritType  = reflect.TypeFor[syntax.ArithmExp]()
)

func sameStatements(a, b *syntax.File) bool {
	return sameTree(reflect.ValueOf(a.Stmts), reflect.ValueOf(b.Stmts))
}

// sameTree reports whether two trees are the same program: they differ in positions only,
// and in how a substitution or arithmetic is written. Whether there is a position at all may
// have a meaning.
func sameTree(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return sameTree(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !sameTree(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		return sameFields(a, b)
	}
	return !a.IsValid() || a.Equal(b)
}

func sameFields(a, b reflect.Value) bool {
	is := a.Type()
	for i := range is.NumField() {
		name := is.Field(i).Name
		switch {
		case is.Field(i).Type == posType:
			if (name == "InPos" || name == "ThenPos" || name == "Dollar") &&
				a.Field(i).Interface().(syntax.Pos).IsValid() != b.Field(i).Interface().(syntax.Pos).IsValid() {
				return false
			}
		case is == substType && name == "Backquotes", is == aritType && name == "Bracket":
		case !sameTree(a.Field(i), b.Field(i)):
			return false
		}
	}
	return true
}

// located turns an error of the parser into one that says where.
func located(err error) error {
	var parse syntax.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("the command cannot be parsed: line %d, column %d: %s", parse.Pos.Line(),
			parse.Pos.Col(), parse.Text)
	}
	var lang syntax.LangError
	if errors.As(err, &lang) {
		return fmt.Errorf("the command cannot be parsed: line %d, column %d: %s is not bash", lang.Pos.Line(),
			lang.Pos.Col(), lang.Feature)
	}
	return fmt.Errorf("the command cannot be parsed: %w", err)
}

// sameText reports whether two texts differ in white space only, or also in the
// separators that stand for a line's end if separators is set.
func sameText(a, b string, separators bool) bool {
	blank := func(c byte) bool {
		return c == ' ' || c == '\t' || c == '\n' || separators && c == ';'
	}
	i, j := 0, 0
	for {
		for i < len(a) && blank(a[i]) {
			i++
		}
		for j < len(b) && blank(b[j]) {
			j++
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if a[i] != b[j] {
			return false
		}
		i++
		j++
	}
}

package analysis

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// maxRounds is how often a text is printed and parsed again before it is given up.
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

// canonical parses and prints a text until that no longer changes it, and returns the
// last text with its tree. A text of one line stays one line.
func canonical(text string) (string, *syntax.File, error) {
	p := presses.Get().(*press)
	defer presses.Put(p)
	printer := p.lines
	if !strings.Contains(text, "\n") {
		printer = p.line
	}
	for range maxRounds {
		file, err := p.parser.Parse(strings.NewReader(text), "")
		if err != nil {
			return "", nil, located(err)
		}
		p.printed.Reset()
		if err := printer.Print(&p.printed, file); err != nil {
			return "", nil, fmt.Errorf("the command cannot be printed: %w", err)
		}
		printed := bytes.TrimSuffix(p.printed.Bytes(), []byte("\n"))
		if text == string(printed) {
			return text, file, nil
		}
		text = string(printed)
	}
	return "", nil, errors.New("the command has no stable form: it reads differently each time it is printed; write it more plainly")
}

// located turns an error of the parser into one that says where.
func located(err error) error {
	var parse syntax.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("the command cannot be parsed: line %d, column %d: %s", parse.Pos.Line(), parse.Pos.Col(), parse.Text)
	}
	var lang syntax.LangError
	if errors.As(err, &lang) {
		return fmt.Errorf("the command cannot be parsed: line %d, column %d: %s is not bash", lang.Pos.Line(), lang.Pos.Col(), lang.Feature)
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

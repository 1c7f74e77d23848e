package approval

import (
	"fmt"
	"strings"
)

// Meets says whether a deny meets an act. The order matters: a larger value is
// the stricter finding.
type Meets int

// The answers. Possibly means that an unknown part of the act decides.
const (
	No Meets = iota
	Possibly
	Yes
)

func possibly(unknown bool) Meets {
	if unknown {
		return Possibly
	}
	return No
}

// A pattern is the compiled form of what a rule matches: a connector, a name
// and a target, or a connector alone.
type pattern struct {
	connectorOnly bool
	anyConnector  bool // the rule names no connector
	connector     glob
	name          glob
	hasTarget     bool
	kind          Kind // the kind of the named built-in act, else empty
	words         *wordsPattern
	path          *pathPattern
	url           *urlPattern
	text          glob
}

// nameFold makes names equal that differ in case only. A deny folds the letters
// of every script; an allow only a to z, so that a look-alike such as the Kelvin
// sign does not pass for the letter.
type nameFold func(string) string

func foldWide(s string) string { return strings.ToLower(s) }

func foldASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; 'A' <= c && c <= 'Z' {
			return mapASCII(s)
		}
	}
	return s
}

func mapASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// splitPattern takes NAME, CONNECTOR:NAME, NAME(TARGET) or
// CONNECTOR:NAME(TARGET) apart. A parenthesis that is not closed at the very
// end is part of the name.
func splitPattern(text string) (connector, name, target string, hasTarget bool) {
	name = text
	if open := strings.IndexByte(text, '('); open > 0 && strings.HasSuffix(text, ")") {
		name, target, hasTarget = text[:open], text[open+1:len(text)-1], true
	}
	if before, after, ok := strings.Cut(name, ":"); ok {
		connector, name = before, after
	}
	return connector, name, target, hasTarget
}

func compilePattern(scope Scope, text string, fold nameFold) (pattern, error) {
	if scope == ScopeConnector {
		p := pattern{connectorOnly: true}
		var err error
		p.connector, err = compileName(text, fold)
		return p, err
	}
	connector, name, target, hasTarget := splitPattern(text)
	p := pattern{hasTarget: hasTarget, anyConnector: !strings.Contains(beforeTarget(text), ":")}
	var err error
	if !p.anyConnector {
		if p.connector, err = compileName(connector, fold); err != nil {
			return p, err
		}
	}
	if p.name, err = compileName(name, fold); err != nil {
		return p, err
	}
	if !hasTarget {
		return p, nil
	}
	return p, p.compileTarget(name, target)
}

func beforeTarget(text string) string {
	if open := strings.IndexByte(text, '('); open > 0 && strings.HasSuffix(text, ")") {
		return text[:open]
	}
	return text
}

func compileName(name string, fold nameFold) (glob, error) {
	if strings.TrimSpace(name) == "" {
		return glob{}, errEmptyName
	}
	if strings.ContainsAny(name, " \t\r\n") {
		return glob{}, fmt.Errorf("white space in the name %q", name)
	}
	return compileGlob(fold(name), false)
}

// compileTarget compiles the target for every kind of act that the name may
// stand for. The target of a built-in act must fit its kind; that of another
// tool is tried in every way in which it can be read.
func (p *pattern) compileTarget(name, target string) error {
	if strings.TrimSpace(target) == "" {
		return errEmptyTarget
	}
	literal, _ := p.name.literal()
	if p.anyConnector {
		p.kind = builtinKinds[literal]
	}
	words, wordsErr := compileWords(target)
	path, pathErr := compilePath(target, literal == ShareFile)
	url, urlErr := compileURL(target, literal == Connect)
	text, textErr := compileGlob(target, true)
	for _, c := range []struct {
		kind Kind
		err  error
		keep func()
	}{
		{Words, wordsErr, func() { p.words = &words }},
		{Path, pathErr, func() { p.path = &path }},
		{URL, urlErr, func() { p.url = &url }},
		{Text, textErr, func() { p.text = text }},
	} {
		switch {
		case c.err == nil:
			c.keep()
		case p.kind == c.kind || p.kind == "" && c.kind == Text:
			return fmt.Errorf("target %q of %s: %w", target, name, c.err)
		}
	}
	return nil
}

// covers is the match of an allow on an act's target.
func (p *pattern) covers(t Target) bool {
	if t.Unknown || hasUnknown(t.Words) {
		return false
	}
	if !p.hasTarget {
		return true
	}
	switch t.Kind {
	case Words:
		return p.words != nil && p.words.covers(t)
	case Path:
		return p.path != nil && p.path.covers(t)
	case URL:
		return p.url != nil && p.url.covers(t)
	case Text, Arguments:
		return p.text.match(t.Text)
	}
	return false
}

// meets is the match of a deny on an act's target.
func (p *pattern) meets(t Target) Meets {
	if !p.hasTarget {
		return Yes
	}
	switch t.Kind {
	case Words:
		if p.words != nil {
			return p.words.meets(t)
		}
	case Path:
		if p.path != nil {
			return p.path.meets(t)
		}
	case URL:
		if p.url != nil {
			return p.url.meets(t)
		}
	case Text, Arguments:
		if p.text.match(t.Text) {
			return Yes
		}
		return possibly(t.Unknown)
	}
	return possibly(t.Unknown)
}

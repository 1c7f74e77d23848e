package seatbelt

import (
	"fmt"
	"strings"

	"github.com/assent-dev/assent/sandbox"
)

// evaluator is macOS's sandbox as far as this package uses it: rules of operations and
// filters, of which the last that matches decides.
type evaluator struct {
	rules  []rule
	params map[string]string
}

type rule struct {
	allow      bool
	operations []string
	filters    []filter // none matches everything
}

type filter struct{ kind, path string }

// evaluate reads a profile.
func evaluate(p Profile) (*evaluator, error) {
	e := &evaluator{params: map[string]string{}}
	for _, param := range p.Params {
		e.params[param.Name] = param.Path
	}
	tokens := tokenize(p.Text)
	for len(tokens) > 0 {
		var form []any
		var err error
		if form, tokens, err = parse(tokens); err != nil {
			return nil, err
		}
		if err := e.add(form); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func tokenize(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, ";")
		lines = append(lines, code)
	}
	spaced := strings.NewReplacer("(", " ( ", ")", " ) ").Replace(strings.Join(lines, "\n"))
	return strings.Fields(spaced)
}

// parse reads one form in brackets.
func parse(tokens []string) ([]any, []string, error) {
	if tokens[0] != "(" {
		return nil, nil, fmt.Errorf("%q where a form begins", tokens[0])
	}
	var form []any
	for tokens = tokens[1:]; len(tokens) > 0; {
		switch tokens[0] {
		case ")":
			return form, tokens[1:], nil
		case "(":
			inner, rest, err := parse(tokens)
			if err != nil {
				return nil, nil, err
			}
			form, tokens = append(form, inner), rest
		default:
			form, tokens = append(form, tokens[0]), tokens[1:]
		}
	}
	return nil, nil, fmt.Errorf("a form without an end")
}

func (e *evaluator) add(form []any) error {
	word, _ := form[0].(string)
	if word == "version" {
		return nil
	}
	if word != "allow" && word != "deny" {
		return fmt.Errorf("unknown form %v", form)
	}
	r := rule{allow: word == "allow"}
	for _, part := range form[1:] {
		switch part := part.(type) {
		case string:
			r.operations = append(r.operations, part)
		case []any:
			f, err := e.filter(part)
			if err != nil {
				return err
			}
			r.filters = append(r.filters, f)
		}
	}
	e.rules = append(e.rules, r)
	return nil
}

func (e *evaluator) filter(form []any) (filter, error) {
	f := filter{kind: form[0].(string)}
	switch value := form[1].(type) {
	case string:
		f.path = strings.Trim(value, `"`)
	case []any: // (param "NAME")
		name := strings.Trim(value[1].(string), `"`)
		path, ok := e.params[name]
		if !ok {
			return f, fmt.Errorf("parameter %s has no value", name)
		}
		f.path = path
	}
	switch f.kind {
	case "literal", "subpath", "with", "target", "global-name":
		return f, nil
	}
	return f, fmt.Errorf("unknown filter %s", f.kind)
}

// allows reports whether an operation on a path is allowed.
func (e *evaluator) allows(operation, path string) bool {
	allowed := false
	for _, r := range e.rules {
		if r.meets(operation, path) {
			allowed = r.allow
		}
	}
	return allowed
}

func (r rule) meets(operation, path string) bool {
	named := false
	for _, o := range r.operations {
		stem, wild := strings.CutSuffix(o, "*")
		named = named || o == "default" || o == operation || wild && strings.HasPrefix(operation, stem)
	}
	if !named || len(r.filters) == 0 {
		return named
	}
	for _, f := range r.filters {
		switch {
		case f.kind == "with", f.kind == "literal" && f.path == path, f.kind == "subpath" && strings.HasPrefix(path, "/") && sandbox.Below(f.path, path):
			return true
		}
	}
	return false
}

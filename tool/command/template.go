package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/assent-dev/assent/present"
)

// templates are those of a tool that are ready to be filled; nil where there is none.
type templates struct {
	describe, target, view *template.Template
}

func (c Config) templates() (templates, []error) {
	var out templates
	var faults []error
	parse := func(what, text string) *template.Template {
		if text == "" {
			return nil
		}
		t, err := template.New(what).Option("missingkey=error").Funcs(functions).Parse(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", what, withoutPrefix(err)))
		}
		return t
	}
	out.describe, out.target, out.view = parse("describe", c.Describe), parse("target", c.Target),
		parse("view.content", c.View.Content)
	switch _, known := kinds[c.View.Type]; {
	case c.View.Type == "" && c.View.Content == "" && c.View.Language == "":
	case !known:
		faults = append(faults, fmt.Errorf("view.type %q: it is %s", c.View.Type, strings.Join(Types(), ", ")))
	case c.View.Content == "":
		faults = append(faults, errors.New("view.content: it is needed, as a template over the arguments"))
	}
	return out, faults
}

var functions = template.FuncMap{"cut": cut}

// cut shortens a text to its first n characters.
func cut(n int, value any) (string, error) {
	text, ok := value.(string)
	if !ok {
		text = fmt.Sprint(value)
	}
	runes := []rune(text)
	switch {
	case n < 0:
		return "", errors.New("cut wants a number of characters that is not negative")
	case len(runes) <= n:
		return text, nil
	}
	return string(runes[:n]) + "…", nil
}

// maxFilled is the longest text that a template makes.
const maxFilled = 4 << 20

// A page takes what a template writes, up to a limit.
type page struct{ bytes.Buffer }

func (p *page) Write(data []byte) (int, error) {
	if p.Len()+len(data) > maxFilled {
		return 0, fmt.Errorf("it makes more than %d bytes", maxFilled)
	}
	return p.Buffer.Write(data)
}

// fill fills a template. A template that cannot be filled is the fault of whoever wrote it,
// and the text says which one it is.
func fill(t *template.Template, values map[string]any) (string, error) {
	var p page
	if err := t.Execute(&p, values); err != nil {
		return "", fmt.Errorf("the template %s does not fit these arguments: %w", t.Name(), withoutPrefix(err))
	}
	return p.String(), nil
}

// withoutPrefix drops what text/template puts before every error.
func withoutPrefix(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "template: "))
}

// values returns the arguments for templates: numbers as they are written, and parameters
// that the call leaves out as empty texts, so that a template can ask for them.
func values(args json.RawMessage, parameters []string) (map[string]any, error) {
	out := map[string]any{}
	for _, name := range parameters {
		out[name] = ""
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	return out, dec.Decode(&out)
}

// parameterNames returns the names of the parameters that a schema declares.
func parameterNames(schema json.RawMessage) ([]string, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	var names []string
	for name := range s.Properties {
		names = append(names, name)
	}
	return names, nil
}

// longEnough is how long a text must be for its being in the view to be no accident.
const longEnough = 16

// view fills the template of the view and adds, as facts, the arguments that it does not
// show in full: whoever answers sees everything that the program is given.
func (t *Tool) view(args json.RawMessage, all map[string]any) (present.View, error) {
	content, err := fill(t.templates.view, all)
	if err != nil {
		return present.View{}, err
	}
	v := present.View{Kind: kinds[t.cfg.View.Type], Content: content, Language: t.cfg.View.Language}
	if v.Kind == present.KindDiff {
		if _, err := present.ParseDiff(content); err != nil {
			return present.View{}, fmt.Errorf("the template view.content does not produce a diff from these arguments: %w", err)
		}
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(args, &given); err != nil {
		return present.View{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		text, isText := all[name].(string)
		if !isText {
			text = string(given[name])
		}
		if isText && len(text) >= longEnough && strings.Contains(content, text) {
			continue
		}
		v.Facts = append(v.Facts, present.TextFact(name, text))
	}
	if v.Facts.Validate() != nil { // a name that cannot be shown as one
		v.Facts = present.Facts{present.TextFact("arguments", string(args))}
	}
	return v, nil
}

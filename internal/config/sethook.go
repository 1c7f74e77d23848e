package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// SetHook returns a user's config with these words for hook.shell and hook.policy. Everything
// else stays as it is, to the byte: comments, order and layout. A text in a form that is not safe
// to edit is an error that says what to write.
func SetHook(file string, data []byte, shell, policy string) ([]byte, error) {
	before, err := LoadUser(file, data)
	if err != nil {
		return nil, err
	}
	out, err := setHook(file, data, []hookWord{{"shell", shell}, {"policy", policy}})
	if err == nil {
		var after *User
		if after, err = LoadUser(file, out); err == nil {
			want := before.Hook
			want.Shell, want.Policy = shell, policy
			if after.Hook != want {
				err = errors.New("its layout is not one that can be edited")
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; nothing was changed: write it yourself, as hook: {shell: %s, policy: %s}", file,
			err, shell, policy)
	}
	return out, nil
}

type hookWord struct{ key, value string }

func setHook(file string, data []byte, settings []hookWord) ([]byte, error) {
	root, err := (&report{file: file}).parse(data)
	if err != nil {
		return nil, err
	}
	switch top := root.(type) {
	case *ast.NullNode:
		return appendHook(data, settings), nil
	case *ast.MappingNode:
		if top.IsFlowStyle {
			return nil, errors.New("all of it is in braces")
		}
		for _, v := range top.Values {
			if v.Key.String() == "hook" {
				return hookIn(data, v, settings)
			}
		}
		return appendHook(data, settings), nil
	}
	return nil, errors.New("it is not a mapping")
}

// appendHook adds the section at the end.
func appendHook(data []byte, settings []hookWord) []byte {
	out := bytes.Clone(data)
	if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	if len(out) > 0 {
		out = append(out, '\n')
	}
	out = append(out, "# How other agents are answered: see 'assent install --help'.\nhook:\n"...)
	for _, s := range settings {
		out = fmt.Appendf(out, "  %s: %s\n", s.key, s.value)
	}
	return out
}

// hookIn changes the section that is there.
func hookIn(data []byte, section *ast.MappingValueNode, settings []hookWord) ([]byte, error) {
	m, ok := section.Value.(*ast.MappingNode)
	if !ok || len(m.Values) == 0 {
		return nil, errors.New("hook has no keys to add to")
	}
	// From the last to the first, so that what is before an edit stays where it is.
	type edit struct {
		from, to int
		text     string
	}
	var edits []edit
	var missing []hookWord
	for _, s := range settings {
		value := valueOf(m, s.key)
		if value == nil {
			missing = append(missing, s)
			continue
		}
		from, err := offset(data, value.GetToken())
		if err != nil {
			return nil, err
		}
		edits = append(edits, edit{from, from + len(value.GetToken().Value), s.value})
	}
	if len(missing) > 0 {
		first := m.Values[0].Key.GetToken()
		from, err := offset(data, first)
		indent, end := "", ", "
		if !m.IsFlowStyle { // before the comments of the first key
			from, err = offset(data, section.Key.GetToken())
			from += bytes.IndexByte(data[from:], '\n') + 1 // its keys follow
			indent, end = strings.Repeat(" ", first.Position.Column-1), "\n"
		}
		if err != nil {
			return nil, err
		}
		var text strings.Builder
		for _, s := range missing {
			fmt.Fprintf(&text, "%s%s: %s%s", indent, s.key, s.value, end)
		}
		edits = append(edits, edit{from, from, text.String()})
	}
	out := bytes.Clone(data)
	for len(edits) > 0 {
		last := 0
		for i := range edits {
			if edits[i].from > edits[last].from {
				last = i
			}
		}
		e := edits[last]
		out = append(out[:e.from:e.from], append([]byte(e.text), out[e.to:]...)...)
		edits = append(edits[:last], edits[last+1:]...)
	}
	return out, nil
}

func valueOf(m *ast.MappingNode, key string) ast.Node {
	for _, v := range m.Values {
		if v.Key.String() == key {
			return v.Value
		}
	}
	return nil
}

// offset is where a token stands in the text. It must be there as it was read.
func offset(data []byte, t *token.Token) (int, error) {
	from := 0
	for range t.Position.Line - 1 {
		i := bytes.IndexByte(data[from:], '\n')
		if i < 0 {
			return 0, errors.New("it has fewer lines than were read")
		}
		from += i + 1
	}
	for range t.Position.Column - 1 {
		if from >= len(data) {
			break
		}
		_, n := utf8.DecodeRune(data[from:])
		from += n
	}
	if !bytes.HasPrefix(data[min(from, len(data)):], []byte(t.Value)) {
		return 0, fmt.Errorf("%q does not stand where it was read", t.Value)
	}
	return from, nil
}

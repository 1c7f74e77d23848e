package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An Entry is something that stands in a list of the settings.
type Entry struct {
	// Path are the keys that lead to the list; those that are missing are made.
	Path []string
	// Value is what is added to the list.
	Value any
}

// A Plan is what is done to a file.
type Plan struct {
	Before, After []byte
	// Inserted are the texts that were put in, each in one piece.
	Inserted []string
}

// Changes reports whether anything is done.
func (p Plan) Changes() bool { return !bytes.Equal(p.Before, p.After) }

// empty is what a file that is not there counts as.
const empty = "{}\n"

// Add plans to put the entries into the text, where they are not there yet. An empty
// text is one of a file that is not there.
func Add(text []byte, top map[string]any, entries []Entry) (Plan, error) {
	p := Plan{Before: text, After: text}
	if len(bytes.TrimSpace(text)) == 0 {
		p.After = []byte(empty)
	}
	for _, key := range slices.Sorted(maps.Keys(top)) {
		if err := p.add([]string{key}, top[key], false); err != nil {
			return Plan{}, err
		}
	}
	for _, e := range entries {
		if err := p.add(e.Path, e.Value, true); err != nil {
			return Plan{}, err
		}
	}
	if string(p.After) == empty {
		p.After = p.Before
	}
	return p, nil
}

// add puts one value in: at the end of the list at the path, or, if it is no list, as the
// value of the last key, if that is not there.
func (p *Plan) add(path []string, value any, list bool) error {
	at, err := parse(p.After)
	if err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	here := &at
	for i, key := range path {
		if here.kind != '{' {
			return fmt.Errorf("%s must be an object; nothing was changed", name(path[:i]))
		}
		next := here.member(key)
		if next == nil {
			return p.insert(here, key, nested(path[i+1:], value, list), i)
		}
		here = next
	}
	switch {
	case !list:
		return nil // it says something already
	case here.kind != '[':
		return fmt.Errorf("%s must be a list; nothing was changed", name(path))
	}
	there, err := p.contains(here, value)
	if err != nil || there {
		return err
	}
	return p.insert(here, "", value, len(path))
}

func name(path []string) string {
	if len(path) == 0 {
		return "the file"
	}
	return strings.Join(path, ".")
}

// nested is the value under keys that are missing.
func nested(path []string, value any, list bool) any {
	if list {
		value = []any{value}
	}
	for _, key := range slices.Backward(path) {
		value = map[string]any{key: value}
	}
	return value
}

// contains reports whether the list has the value already.
func (p *Plan) contains(list *node, value any) (bool, error) {
	want, err := json.Marshal(value)
	if err != nil {
		return false, err
	}
	for _, item := range list.items {
		var there any
		if json.Unmarshal(p.After[item.start:item.end], &there) != nil {
			continue // it has comments, so it is not ours
		}
		if have, err := json.Marshal(there); err == nil && bytes.Equal(have, want) {
			return true, nil
		}
	}
	return false, nil
}

// insert puts a part at the end of an object or array, laid out like the others.
func (p *Plan) insert(into *node, key string, value any, depth int) error {
	unit, newline := layout(p.After)
	indent := strings.Repeat(unit, depth+1)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(indent, unit)
	if err := enc.Encode(value); err != nil {
		return err
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if key != "" {
		text = fmt.Sprintf("%q: %s", key, text)
	}
	at := into.start + 1
	if parts := into.children(); len(parts) > 0 {
		at = parts[len(parts)-1][1]
		text = ",\n" + indent + text
	} else {
		text = "\n" + indent + text + "\n" + strings.Repeat(unit, depth)
	}
	text = strings.ReplaceAll(text, "\n", newline)
	p.After = slices.Concat(p.After[:at], []byte(text), p.After[at:])
	p.note(at, text)
	return nil
}

// note remembers what was put in. What stands right behind or inside an earlier piece
// makes one piece with it.
func (p *Plan) note(at int, text string) {
	before := slices.Concat(p.After[:at], p.After[at+len(text):])
	for i, piece := range p.Inserted {
		start := bytes.Index(before, []byte(piece))
		if start >= 0 && at >= start && at <= start+len(piece) {
			p.Inserted[i] = piece[:at-start] + text + piece[at-start:]
			return
		}
	}
	p.Inserted = append(p.Inserted, text)
}

// layout finds out how the text is indented, and how its lines end.
func layout(text []byte) (unit, newline string) {
	unit, newline = "  ", "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	for line := range bytes.Lines(text) {
		if rest := bytes.TrimLeft(line, " \t"); len(rest) < len(line) && len(bytes.TrimSpace(rest)) > 0 {
			return string(line[:len(line)-len(rest)]), newline
		}
	}
	return unit, newline
}

// ErrEdited says that what was put in is not there any more as it was.
var ErrEdited = errors.New("what assent wrote there was changed since")

// Remove takes out what was put in, each piece from where it stands. What others wrote
// since stays. The error is [ErrEdited] if a piece is not there as often as it was put in.
func Remove(text []byte, inserted []string) ([]byte, error) {
	times := map[string]int{}
	for _, piece := range inserted {
		times[piece]++
	}
	// The longest first: one piece may hold the text of another.
	pieces := slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	out := text
	for _, piece := range pieces {
		if bytes.Count(out, []byte(piece)) != times[piece] {
			return nil, fmt.Errorf("%w; take these lines out by hand:\n%s", ErrEdited, strings.TrimSpace(piece))
		}
		out = bytes.ReplaceAll(out, []byte(piece), nil)
	}
	if _, err := parse(out); err != nil && string(out) != "" {
		return nil, fmt.Errorf("%w (%w); take its lines out by hand", ErrEdited, err)
	}
	return out, nil
}

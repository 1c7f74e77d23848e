package terminal

import (
	"slices"
	"strings"

	"github.com/assent-dev/assent/present"
)

// A field is text that is being typed. It is a value.
type field struct {
	runes []rune
	at    int // where the next character goes
}

func (f field) String() string { return string(f.runes) }

// insert puts text at the cursor.
func (f field) insert(text string) field {
	more := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	f.runes = slices.Concat(f.runes[:f.at], more, f.runes[f.at:])
	f.at += len(more)
	return f
}

// key moves, deletes or types.
func (f field) key(k keyEvent) field {
	switch k.name {
	case "left", "ctrl+b":
		f.at = max(f.at-1, 0)
	case "right", "ctrl+f":
		f.at = min(f.at+1, len(f.runes))
	case "home", "ctrl+a":
		f.at = 0
	case "end", "ctrl+e":
		f.at = len(f.runes)
	case "backspace", "ctrl+h":
		return f.remove(max(f.at-1, 0), f.at)
	case "delete":
		return f.remove(f.at, min(f.at+1, len(f.runes)))
	case "ctrl+u":
		return f.remove(0, f.at)
	case "ctrl+k":
		return f.remove(f.at, len(f.runes))
	case "ctrl+w":
		return f.remove(f.wordStart(), f.at)
	default:
		if k.text != "" {
			return f.insert(k.text)
		}
	}
	return f
}

func (f field) remove(from, to int) field {
	f.runes = slices.Concat(f.runes[:from], f.runes[to:])
	f.at = from
	return f
}

func (f field) wordStart() int {
	i := f.at
	for i > 0 && f.runes[i-1] == ' ' {
		i--
	}
	for i > 0 && f.runes[i-1] != ' ' {
		i--
	}
	return i
}

// rows draws the text with its cursor.
func (f field) rows(t theme, n int) []line {
	before, under, after := string(f.runes[:f.at]), " ", ""
	if f.at < len(f.runes) && f.runes[f.at] != '\n' {
		under, after = string(f.runes[f.at]), string(f.runes[f.at+1:])
	} else {
		after = string(f.runes[f.at:])
	}
	cursor := seg{present.SafeLine(under), caret}
	if t == noStyles {
		cursor.text = "_"
		if under != " " {
			cursor.text += present.SafeLine(under)
		}
	}
	lines := [](line){text("> ")}
	add := func(s string) {
		for i, part := range strings.Split(s, "\n") {
			if i > 0 {
				lines = append(lines, text("  "))
			}
			last := len(lines) - 1
			lines[last] = append(lines[last], seg{present.SafeLine(part), plain})
		}
	}
	add(before)
	last := len(lines) - 1
	lines[last] = append(lines[last], cursor)
	add(after)
	return wrapAll(lines, n, text("  "))
}

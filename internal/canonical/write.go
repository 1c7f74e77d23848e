package canonical

import (
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A writer writes a scanned document in its canonical form.
type writer struct {
	*scanner
	out []byte
}

func (w *writer) value(pos int) {
	w.pos = pos
	switch w.peek() {
	case '{':
		w.object()
	case '[':
		w.array()
	case '"':
		text, _ := w.text()
		w.string(text)
	default:
		w.scalar()
	}
}

// object writes the members in the order of their keys and leaves pos behind
// the object, wherever its last member was written in the document.
func (w *writer) object() {
	i, _ := slices.BinarySearchFunc(w.objects, w.pos, func(o object, pos int) int { return o.start - pos })
	o := w.objects[i]
	end := w.pos + 1
	w.out = append(w.out, '{')
	for i, m := range w.members[o.first : o.first+o.n] {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.string(m.key)
		w.out = append(w.out, ':')
		w.value(m.value)
		end = max(end, w.pos)
	}
	w.out = append(w.out, '}')
	w.pos = end
	w.space()
	w.pos++
}

func (w *writer) array() {
	w.out = append(w.out, '[')
	w.pos++
	w.space()
	for first := true; w.peek() != ']'; first = false {
		if !first {
			w.out = append(w.out, ',')
			w.pos++
			w.space()
		}
		w.value(w.pos)
		w.space()
	}
	w.out = append(w.out, ']')
	w.pos++
}

// scalar copies a number, true, false or null.
func (w *writer) scalar() {
	start := w.pos
	for w.pos < len(w.data) {
		switch w.data[w.pos] {
		case ',', ']', '}', ' ', '\t', '\n', '\r':
			w.out = append(w.out, w.data[start:w.pos]...)
			return
		}
		w.pos++
	}
	w.out = append(w.out, w.data[start:w.pos]...)
}

const hexDigits = "0123456789abcdef"

// string writes text with the fewest and shortest escapes that JSON allows, so
// that the canonical form is never longer than what was sent.
func (w *writer) string(text []byte) {
	w.out = append(w.out, '"')
	start := 0
	for i, c := range text {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		w.out = append(w.out, text[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			w.out = append(w.out, '\\', c)
		case '\b':
			w.out = append(w.out, '\\', 'b')
		case '\f':
			w.out = append(w.out, '\\', 'f')
		case '\n':
			w.out = append(w.out, '\\', 'n')
		case '\r':
			w.out = append(w.out, '\\', 'r')
		case '\t':
			w.out = append(w.out, '\\', 't')
		default:
			w.out = append(w.out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	w.out = append(w.out, text[start:]...)
	w.out = append(w.out, '"')
}

// unescape decodes the escapes of a string that the scanner has checked.
func unescape(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		switch c := raw[i+1]; c {
		case 'u':
			r, _ := hex4(raw[i+2:])
			i += 6
			if utf16.IsSurrogate(r) {
				low, _ := hex4(raw[i+2:])
				r = utf16.DecodeRune(r, low)
				i += 6
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, shortEscape(c))
			i += 2
		}
	}
	return out
}

func shortEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		n, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(n)
	}
	return r, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

func quoteShort(key []byte) string {
	const limit = 80
	if len(key) > limit {
		return strconv.Quote(string(key[:limit])) + "…"
	}
	return strconv.Quote(string(key))
}

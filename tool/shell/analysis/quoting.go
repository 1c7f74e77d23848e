package analysis

import (
	"strings"
	"unicode/utf8"
)

// unescape removes the backslashes of unquoted text. A piece is made for each stretch, since
// an escaped character is quoted.
func unescape(text string, add func(text string, quoted bool)) {
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i == len(text)-1 {
			if text != "" {
				add(text, false)
			}
			return
		}
		if i > 0 {
			add(text[:i], false)
		}
		_, size := utf8.DecodeRuneInString(text[i+1:])
		if escaped := text[i+1 : i+1+size]; escaped != "\n" {
			add(escaped, true)
		}
		text = text[i+1+size:]
	}
}

// unescapeQuoted removes the backslashes that mean something inside double quotes, or in
// a here-document, where a quote is plain.
func unescapeQuoted(text string, document bool) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			switch c := text[i+1]; {
			case c == '\n':
				i++
				continue
			case c == '$', c == '`', c == '\\', c == '"' && !document:
				i++
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// ansiEscapes are those of $'…' that stand for one character.
var ansiEscapes = map[byte]byte{
	'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12, 'n': '\n', 'r': '\r', 't': '\t', 'v': 11,
	'\\': '\\', '\'': '\'', '"': '"', '?': '?',
}

// ansiText decodes $'…'. It reports false for what is better left unknown.
func ansiText(text string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		c := text[i]
		if plain, ok := ansiEscapes[c]; ok {
			out.WriteByte(plain)
			continue
		}
		var r rune
		var n int
		switch {
		case c >= '0' && c <= '7':
			r, n = radix(text[i:], 8, 3)
			i--
		case c == 'x':
			r, n = radix(text[i+1:], 16, 2)
		case c == 'u':
			r, n = radix(text[i+1:], 16, 4)
		case c == 'U':
			r, n = radix(text[i+1:], 16, 8)
		default: // also \c, whose rules are odd
			return "", false
		}
		byName := c == 'u' || c == 'U' // beyond ASCII the locale decides
		if n == 0 || r <= 0 || r > 0xff || byName && r > 0x7f {
			return "", false
		}
		i += n
		out.WriteByte(byte(r))
	}
	return out.String(), true
}

// radix reads up to most digits, and returns the number and how many there were.
func radix(text string, base, most int) (value rune, n int) {
	for n < len(text) && n < most {
		d := digitValue(text[n])
		if d < 0 || d >= base {
			break
		}
		value = value*rune(base) + rune(d)
		n++
	}
	return value, n
}

func digitValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

package soundness

import (
	"fmt"
	"strings"
)

// spelled writes a literal word in one of the many ways that mean the same.
func (s generator) spelled(text string) string {
	switch {
	case strings.HasPrefix(text, "~"), strings.HasPrefix(text, "$PWD"):
		return text
	case !strings.ContainsAny(text, " '\"$*`\\[];#!\n") && s.IntN(2) == 0:
		return text
	}
	switch s.IntN(6) {
	case 0:
		return singleQuoted(text)
	case 1:
		return doubleQuoted(escapeIn(text, "\"$`\\"))
	case 2:
		return s.ansiQuoted(text)
	case 3:
		return escapeIn(text, " '\"$*`\\[];#!?~&|<>(){}")
	default:
		return s.pieces(text)
	}
}

// pieces spells parts of a word each in another way.
func (s generator) pieces(text string) string {
	runes := []rune(text)
	if len(runes) < 2 {
		return singleQuoted(text)
	}
	at := 1 + s.IntN(len(runes)-1)
	between := s.pick([]string{"", `''`, `""`, "\\\n", "$''"})
	return s.whole(string(runes[:at])) + between + s.whole(string(runes[at:]))
}

func (s generator) whole(text string) string {
	switch s.IntN(3) {
	case 0:
		return singleQuoted(text)
	case 1:
		return escapeIn(text, " '\"$*`\\[];#!?~&|<>(){}")
	default:
		return s.ansiQuoted(text)
	}
}

func singleQuoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// doubleQuoted leaves expansions in the text alive.
func doubleQuoted(text string) string {
	return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
}

func escapeIn(text, special string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(special, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ansiQuoted writes characters in any of the ways that $'…' knows.
func (s generator) ansiQuoted(text string) string {
	var b strings.Builder
	b.WriteString("$'")
	for _, r := range text {
		switch n := s.IntN(12); {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case n == 0 && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case n == 1 && r < 0x80:
			fmt.Fprintf(&b, `\%03o`, r)
		case n == 2:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + "'"
}

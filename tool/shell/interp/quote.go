package interp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// needsAnsi reports whether a string has characters that only $'...' can show.
func needsAnsi(s string) bool {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || r < ' ' || r == 0x7f || r >= utf8.RuneSelf && !unicode.IsPrint(r) {
			return true
		}
		i += n
	}
	return false
}

// quoteAnsi quotes as $'...'.
func quoteAnsi(s string) string {
	var sb strings.Builder
	sb.WriteString("$'")
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\'' || r == '\\':
			sb.WriteByte('\\')
			sb.WriteRune(r)
		case r == 0x1b:
			sb.WriteString(`\E`)
		case r >= '\a' && r <= '\r':
			sb.WriteByte('\\')
			sb.WriteByte("abtnvfr"[r-'\a'])
		case r == utf8.RuneError && n == 1 || r < ' ' || r == 0x7f:
			fmt.Fprintf(&sb, `\%03o`, s[i])
		case r >= utf8.RuneSelf && !unicode.IsPrint(r):
			for _, b := range []byte(s[i : i+n]) {
				fmt.Fprintf(&sb, `\%03o`, b)
			}
		default:
			sb.WriteString(s[i : i+n])
		}
		i += n
	}
	sb.WriteByte('\'')
	return sb.String()
}

// quoteSingle quotes as ${x@Q} does.
func quoteSingle(s string) string {
	if needsAnsi(s) {
		return quoteAnsi(s)
	}
	return singleQuoted(s)
}

func singleQuoted(s string) string {
	if s == "'" {
		return `\'`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// quoteDouble quotes as declare -p does.
func quoteDouble(s string) string {
	if needsAnsi(s) {
		return quoteAnsi(s)
	}
	var sb strings.Builder
	sb.WriteByte('"')
	for i := range len(s) {
		if strings.IndexByte("\"\\$`", s[i]) >= 0 {
			sb.WriteByte('\\')
		}
		sb.WriteByte(s[i])
	}
	sb.WriteByte('"')
	return sb.String()
}

// quoteKey quotes a key of an associative array, if it needs that.
func quoteKey(s string) string {
	if needsAnsi(s) {
		return quoteAnsi(s)
	}
	if s == "" || s == "@" || s == "*" || hasShellMeta(s) {
		return quoteDouble(s)
	}
	return s
}

// hasShellMeta reports whether a word needs quotes: sh_contains_shell_metas of bash.
func hasShellMeta(s string) bool {
	for i := range len(s) {
		if isMeta(s, i) || s[i] == '#' && (i == 0 || s[i-1] == ' ' || s[i-1] == '\t') {
			return true
		}
	}
	return false
}

// isMeta reports whether a character means something to bash unless it is quoted; a tilde does
// only where it is expanded.
func isMeta(s string, i int) bool {
	if s[i] == '~' {
		return i == 0 || s[i-1] == '=' || s[i-1] == ':'
	}
	return strings.IndexByte(" \t\n'\"\\|&;()<>!{}*[?]^$`", s[i]) >= 0
}

// quoteSet quotes as a bare set prints values.
func quoteSet(s string) string {
	if needsAnsi(s) {
		return quoteAnsi(s)
	}
	if hasShellMeta(s) {
		return singleQuoted(s)
	}
	return s
}

// quoteTrace quotes as set -x prints words.
func quoteTrace(s string) string {
	switch {
	case s == "":
		return "''"
	case hasShellMeta(s):
		return singleQuoted(s)
	case needsAnsi(s):
		return quoteAnsi(s)
	}
	return s
}

// quoteAssigned quotes as set -x prints what is assigned.
func quoteAssigned(s string) string {
	if s == "" {
		return ""
	}
	return quoteTrace(s)
}

// quoteBackslash quotes as printf %q does.
func quoteBackslash(s string) string {
	if s == "" {
		return "''"
	}
	if needsAnsi(s) {
		return quoteAnsi(s)
	}
	var sb strings.Builder
	for i := range len(s) {
		if isMeta(s, i) || s[i] == ',' || s[i] == '#' && i == 0 {
			sb.WriteByte('\\')
		}
		sb.WriteByte(s[i])
	}
	return sb.String()
}

// Where backslashes are read, and how.
type escapes uint8

const (
	inAnsi   escapes = iota // $'...'
	inEcho                  // echo -e: \0nnn, \c
	inB                     // printf %b: \0nnn, \nnn, \c
	inFormat                // printf's format
)

// unescaped reads the backslashes of a string. stop says that \c ended the output.
func unescaped(s string, mode escapes) (text string, stop bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, false
	}
	var sb strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			sb.WriteByte(s[i])
			continue
		}
		i++
		digits := func(max, base int) int {
			n := 0
			for i+1 < len(s) && max > 0 {
				d := strings.IndexByte("0123456789abcdef", lower(s[i+1]))
				if d < 0 || d >= base {
					break
				}
				n = n*base + d
				i++
				max--
			}
			return n
		}
		isDigit := func(at, base int) bool {
			if at >= len(s) {
				return false
			}
			d := strings.IndexByte("0123456789abcdef", lower(s[at]))
			return d >= 0 && d < base
		}
		switch c := s[i]; c {
		case 'a':
			sb.WriteByte('\a')
		case 'b':
			sb.WriteByte('\b')
		case 'e', 'E':
			sb.WriteByte(0x1b)
		case 'f':
			sb.WriteByte('\f')
		case 'n':
			sb.WriteByte('\n')
		case 'r':
			sb.WriteByte('\r')
		case 't':
			sb.WriteByte('\t')
		case 'v':
			sb.WriteByte('\v')
		case '\\':
			sb.WriteByte('\\')
		case '\'', '"', '?':
			if mode == inEcho || c == '?' && mode != inAnsi || mode == inB && c == '?' {
				sb.WriteByte('\\')
			}
			sb.WriteByte(c)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			switch {
			case mode == inEcho && c != '0':
				sb.WriteByte('\\')
				sb.WriteByte(c)
			case c == '0' && (mode == inEcho || mode == inB):
				sb.WriteByte(byte(digits(3, 8)))
			default:
				i--
				sb.WriteByte(byte(digits(3, 8)))
			}
		case 'x':
			if !isDigit(i+1, 16) {
				sb.WriteString(`\x`)
				break
			}
			sb.WriteByte(byte(digits(2, 16)))
		case 'u', 'U':
			max := 4
			if c == 'U' {
				max = 8
			}
			if !isDigit(i+1, 16) {
				sb.WriteByte('\\')
				sb.WriteByte(c)
				break
			}
			sb.WriteString(string(rune(digits(max, 16))))
		case 'c':
			if mode == inAnsi && i+1 < len(s) {
				i++
				sb.WriteByte(s[i] & 0x1f)
				break
			}
			if mode == inEcho || mode == inB {
				return sb.String(), true
			}
			sb.WriteString(`\c`)
		default:
			sb.WriteByte('\\')
			sb.WriteByte(c)
		}
	}
	return sb.String(), false
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// ansiC reads the text of $'...', which ends at a null byte.
func ansiC(s string) string {
	text, _ := unescaped(s, inAnsi)
	text, _, _ = strings.Cut(text, "\x00")
	return text
}

func itoa(n int) string { return strconv.Itoa(n) }

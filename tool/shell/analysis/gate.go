package analysis

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a text. Beyond the odd ones a person is always asked; beyond the others it
// is not read at all.
const (
	oddLength  = 16 << 10
	maxLength  = 64 << 10
	oddNesting = 100
	maxNesting = 250
)

// gate looks at a text before it is parsed. It returns why the text is odd, or an error
// if it cannot be one command at all.
func gate(text string) (odd string, err error) {
	switch {
	case len(text) > maxLength:
		return "", fmt.Errorf("the command has %d bytes; more than %d are not read: put it in a script", len(text), maxLength)
	case strings.IndexByte(text, 0) >= 0:
		return "", fmt.Errorf("the command has a NUL character at byte %d: it cannot be handed to a shell", strings.IndexByte(text, 0)+1)
	case strings.ContainsAny(text, "\v\f"): // the printer would take them for line ends
		return "", fmt.Errorf("the command has a form feed or vertical tab at byte %d: write it as $'\\f' or $'\\v'", strings.IndexAny(text, "\v\f")+1)
	case !utf8.ValidString(text):
		return "", errors.New("the command is not valid UTF-8")
	}
	deep := nesting(text)
	if deep > maxNesting {
		return "", fmt.Errorf("the command is nested %d deep; more than %d is not read", deep, maxNesting)
	}
	if odd = oddCharacter(text); odd != "" {
		return odd, nil
	}
	switch {
	case len(text) > oddLength:
		return fmt.Sprintf("longer than %d bytes", oddLength), nil
	case deep > oddNesting:
		return fmt.Sprintf("nested deeper than %d", oddNesting), nil
	}
	return "", nil
}

// oddCharacter names the first character that is not what it seems to be on a screen.
func oddCharacter(text string) string {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if (c < ' ' && c != '\t' && c != '\n' && !(c == '\r' && strings.HasPrefix(text[i+1:], "\n"))) || c == 0x7f {
				return fmt.Sprintf("control character U+%04X", c)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if misleading(r) {
			return fmt.Sprintf("invisible or misleading character U+%04X", r)
		}
		i += size
	}
	return ""
}

// misleading reports characters that are invisible, reorder text, or look like a space
// but are none for a shell.
func misleading(r rune) bool {
	switch {
	case r < 0xa0: // C1 controls
		return true
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Z, r): // bidi, zero-width; spaces
		return true
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Co, r):
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0, r == utf8.RuneError:
		return true // blank by design, or standing for what could not be decoded
	}
	return false
}

// nesting estimates how deep the text nests, without parsing it: brackets, the words that
// open a compound command, and those that may follow each other without end. What quotes
// hide is counted too, which only asks more.
func nesting(text string) int {
	deepest, brackets, words, chain := 0, 0, 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(' || c == '{' || c == '[':
			brackets++
			if c == '{' {
				chain = 0
			}
		case c == ')' || c == '}' || c == ']':
			brackets = max(brackets-1, 0)
			if c == ')' && i > 0 && text[i-1] == '(' {
				chain++ // f() f() f() …
			}
		case c == ';' || c == '\n' || c == '&' || c == '|':
			chain = 0
		case c == '!':
			chain++
		case c >= 'a' && c <= 'z' && (i == 0 || !isNameByte(text[i-1])):
			n, opens, follows := keyword(text[i:])
			words, chain = max(words+opens, 0), chain+follows
			i += n
		}
		deepest = max(deepest, brackets+words+chain)
	}
	return deepest
}

// keyword returns how many bytes to skip, by how much the word nests, and whether another
// like it may follow at once.
func keyword(text string) (skip, opens, follows int) {
	n := 0
	for n < len(text) && isNameByte(text[n]) {
		n++
	}
	switch text[:n] {
	case "if", "while", "until", "for", "select", "case":
		opens = 1
	case "fi", "done", "esac":
		opens = -1
	case "coproc", "time":
		follows = 1
	}
	return n - 1, opens, follows
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

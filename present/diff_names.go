package present

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// noFile stands for a file that does not exist.
const noFile = "/dev/null"

func oldHeader(name string) string { return "--- " + headerName("a/", name) + "\n" }
func newHeader(name string) string { return "+++ " + headerName("b/", name) + "\n" }

// headerName returns a name as git writes it: below a/ or b/, in quotes if it
// could be read as something else, and with a tab after one that has spaces.
func headerName(prefix, name string) string {
	if name == "" {
		return noFile
	}
	text := prefix + name
	if strings.ContainsFunc(name, isQuoted) {
		text = quoteName(text)
	}
	if strings.Contains(name, " ") {
		text += "\t"
	}
	return text
}

// isQuoted reports whether a name with r in it is written in quotes.
func isQuoted(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }

// quoteName returns a name in quotes, as C writes a string.
func quoteName(name string) string {
	valid := utf8.ValidString(name)
	out := []byte{'"'}
	for _, c := range []byte(name) {
		switch short := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); {
		case short >= 0:
			out = append(out, '\\', `abtnvfr"\`[short])
		case c < ' ' || c == 0x7f || c >= 0x80 && !valid:
			out = fmt.Appendf(out, `\%03o`, c)
		default:
			out = append(out, c)
		}
	}
	return string(append(out, '"'))
}

// parseName reads what headerName writes. It reads other spellings too: the
// caller compares.
func parseName(prefix, text string) (string, error) {
	if text == noFile {
		return "", nil
	}
	text = strings.TrimSuffix(text, "\t")
	if strings.HasPrefix(text, `"`) {
		unquoted, err := strconv.Unquote(text)
		if err != nil {
			return "", errors.New("the name is not quoted as git does")
		}
		text = unquoted
	}
	name, ok := strings.CutPrefix(text, prefix)
	if !ok || name == "" {
		return "", fmt.Errorf("want %s or a name after %q", noFile, prefix)
	}
	return name, nil
}

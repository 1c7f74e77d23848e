package analysis

import (
	"strings"
	"testing"
)

func TestOdd(t *testing.T) {
	for text, want := range map[string]string{
		"ls -la":                              "",
		"echo 'grüße 日本 ✅'":                   "",
		"ls\t-la\r\npwd":                      "",
		"ls \rpwd":                            "control character U+000D",
		"ls \x1b[2J":                          "control character U+001B",
		"ls \x7f":                             "control character U+007F",
		"git\u200b log":                       "invisible or misleading character U+200B",
		"git\u00a0log":                        "invisible or misleading character U+00A0",
		"echo \u202egnp":                      "invisible or misleading character U+202E",
		"echo \u2066x":                        "invisible or misleading character U+2066",
		"echo \u3164":                         "invisible or misleading character U+3164",
		"echo \U000e0041":                     "invisible or misleading character U+E0041",
		"echo \ufeff":                         "invisible or misleading character U+FEFF",
		"echo " + strings.Repeat("a", 17<<10): "longer than 16384 bytes",
		strings.Repeat("$(", 101) + "ls" + strings.Repeat(")", 101): "nested deeper than 100",
	} {
		script, err := Read(text, "/w", project())
		if err != nil {
			t.Errorf("%.30q: %v", text, err)
			continue
		}
		if script.Odd != want {
			t.Errorf("%.30q is odd because of %q, want %q", text, script.Odd, want)
		}
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "empty",
		"# only a comment":          "empty",
		"ls \x00":                   "NUL character at byte 4",
		"ls \f":                     "form feed",
		"ls \xff":                   "UTF-8",
		"echo 'a":                   "line 1, column 6",
		"ls\nif true":               "line 2, column 1",
		"echo ${(e)x}":              "line 1, column 6",
		strings.Repeat("a", 65<<10): "65536",
		strings.Repeat("$(", 300) + "ls" + strings.Repeat(")", 300): "nested 300 levels deep",
		strings.Repeat("f() ", 300) + "ls":                          "nested 300 levels deep",
		strings.Repeat("if x; then ", 300):                          "nested 300 levels deep",
	} {
		_, err := Read(text, "/w", project())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: error %v, want %q", text, err, want)
		}
	}
}

func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"ls":                              "ls",
		"ls;pwd":                          "ls; pwd",
		"ls   -la>x":                      "ls -la > x",
		"echo `ls`":                       "echo $(ls)",
		"ls # comment":                    "ls",
		"if a;then b;fi":                  "if a; then b; fi",
		"a\nb":                            "a\nb",
		"cat <<EOF\nx\nEOF\n":             "cat << EOF\nx\nEOF",
		"git pu\\\nsh":                    "git push",
		"echo \"$\\\n(rm)\"":              "echo \"$(rm)\"",
		"x=(a b)#; cmd":                   "x=(a b)",
		"echo a\\":                        "echo a\\",
		"[[ a = b ]]&&echo \"c\td\" 2>&1": "[[ a = b ]] && echo \"c\td\" 2>&1",
	} {
		script, err := Read(text, "/w", project())
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := script.Text.String(); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if script.Text.Original() != text {
			t.Errorf("original %q became %q", text, script.Text.Original())
		}
	}
}

func TestChanged(t *testing.T) {
	for text, want := range map[string]bool{"ls": false, " ls \n": false, "ls;pwd": false, "ls # x": true, "echo `ls`": true, "cat <<EOF\nx\nEOF\n": false} {
		script, err := Read(text, "/w", project())
		if err != nil {
			t.Fatal(err)
		}
		if script.Text.Changed() != want {
			t.Errorf("%q changed: %v", text, !want)
		}
	}
}

package auditview

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestBars(t *testing.T) {
	bars := []bar{{label: "a", value: 8}, {label: "long", value: 1}, {label: "no", value: 0}}
	for _, c := range []struct {
		style Style
		want  []string
	}{
		{Style{Width: 20, Unicode: true}, []string{"a     8  ███████████", "long  1  █▍", "no    0"}},
		{Style{Width: 20}, []string{"a     8  ###########", "long  1  #", "no    0"}},
		{Style{Width: 5}, []string{"a    ", "long ", "no   "}},
	} {
		if diff := cmp.Diff(c.want, drawBars(c.style, bars)); diff != "" {
			t.Errorf("%+v: %s", c.style, diff)
		}
	}
	if got := drawBars(Style{Width: 20, Colour: true}, bars[:1])[0]; !strings.Contains(got, "\x1b[36m") {
		t.Errorf("%q has no colour", got)
	}
}

func TestSpark(t *testing.T) {
	values := []int64{0, 1, 4, 8, 0, 2}
	if got := spark(Style{Unicode: true}, values); got != " ▁▄█ ▂" {
		t.Errorf("%q", got)
	}
	if got := spark(Style{}, values); got != " .=@ :" {
		t.Errorf("%q", got)
	}
	if got := spark(Style{Width: 2, Unicode: true}, values); got != " █" {
		t.Errorf("the last two are %q", got)
	}
}

// No line is wider than the terminal, and nothing in a label acts on it.
func TestFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Style{Width: rapid.IntRange(1, 120).Draw(t, "width"), Unicode: rapid.Bool().Draw(t, "unicode")}
		bars := rapid.SliceOf(rapid.Custom(func(t *rapid.T) bar {
			return bar{label: rapid.String().Draw(t, "label"), value: rapid.Int64Range(0, 1<<50).Draw(t, "value")}
		})).Draw(t, "bars")
		for _, line := range drawBars(s, bars) {
			if w := ansi.StringWidth(line); w > s.Width || strings.ContainsAny(line, "\x1b\n\r\t\u202e") {
				t.Fatalf("%q is %d wide, not %d", line, w, s.Width)
			}
		}
	})
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		columns int
		env     map[string]string
		want    Style
	}{
		{100, map[string]string{"TERM": "xterm", "LANG": "en_GB.UTF-8"}, Style{Width: 100, Unicode: true, Colour: true}},
		{100, map[string]string{"TERM": "xterm", "LANG": "en_GB.UTF-8", "NO_COLOR": "1"}, Style{Width: 100, Unicode: true}},
		{100, map[string]string{"TERM": "dumb", "LANG": "en_GB.UTF-8"}, Style{Width: 100}},
		{100, map[string]string{"TERM": "xterm", "LC_ALL": "C", "LANG": "en_GB.UTF-8"}, Style{Width: 100, Colour: true}},
		{0, map[string]string{"TERM": "xterm", "LANG": "C.utf8"}, Style{Unicode: true}},
		{0, nil, Style{}},
	} {
		if got := DetectStyle(c.columns, func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%d %v: %+v, want %+v", c.columns, c.env, got, c.want)
		}
	}
}

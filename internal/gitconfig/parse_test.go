package gitconfig_test

import (
	"slices"
	"testing"

	"github.com/assent-dev/assent/internal/gitconfig"
)

// That it reads what git reads is tested where git is at hand, in tool/shell/system.
func TestParse(t *testing.T) {
	text := "[core]\n\tHooksPath = \".husky\" ; here\n[includeIf \"onbranch:Main\"]\npath = more\\\n.cfg\n[a.B]c\n"
	want := []gitconfig.Setting{
		{Key: "core.hookspath", Value: ".husky"}, {Key: "includeif.onbranch:Main.path", Value: "more.cfg"}, {Key: "a.b.c", Value: "true"},
	}
	got, ok := gitconfig.Parse([]byte(text))
	if !ok || !slices.Equal(got, want) {
		t.Errorf("%q %v", got, ok)
	}
	if got[0].IsInclude() || !got[1].IsInclude() || got[2].IsInclude() {
		t.Error("what is an include")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"[core]\nhooksPath=x\n", "[a \"b\"]\r\nc = \"d\\n\"", "[", "\xef\xbb\xbf[x]y", "x\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		settings, ok := gitconfig.Parse(text)
		if !ok && settings != nil {
			t.Errorf("%q: refused, and yet %q", text, settings)
		}
		for _, s := range settings {
			if s.Key == "" {
				t.Errorf("%q: a setting without a key", text)
			}
		}
	})
}

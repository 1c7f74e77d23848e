package system_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/system"
)

// repository makes a git repository with this text as its configuration, the one of
// git's own init left out, and a home folder beside it.
func repository(t testing.TB, text string) (dir, home string) {
	t.Helper()
	base := folder(t)
	dir, home = base+"/repository", base+"/home"
	must(t, os.MkdirAll(home, 0o700))
	git(t, home, base, "init", "-q", dir)
	put(t, dir+"/.git/config", text)
	return dir, home
}

// listed is what the real git says that its settings are; ok is false if it refuses.
func listed(home, dir string) (settings []analysis.Setting, ok bool) {
	out, err := tryGit(home, dir, "config", "--list", "-z")
	if err != nil {
		return nil, false
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		key, value, has := strings.Cut(entry, "\n")
		if !has {
			value = "true"
		}
		if key != "" {
			settings = append(settings, analysis.Setting{Key: key, Value: value})
		}
	}
	return settings, true
}

// plain makes every space of a value the same, as versions of git differ in what they
// make of a tab, and forgets where a setting comes from.
func plain(settings []analysis.Setting) []analysis.Setting {
	plain := slices.Clone(settings)
	for i := range plain {
		plain[i].Repository = false
		plain[i].Value = strings.NewReplacer("\t", " ", "\r", " ").Replace(plain[i].Value)
	}
	return plain
}

// agree fails unless git and we have the same settings, or both refuse.
func agree(t *testing.T, dir, home, text string) {
	t.Helper()
	want, wantOK := listed(home, dir)
	got, ok := system.New(dir, environment(home)).GitConfig(dir)
	if ok != wantOK || !slices.Equal(plain(got), plain(want)) {
		t.Errorf("settings of %q:\ngot  %+v, ok %v\ngit  %+v, ok %v", text, got, ok, want, wantOK)
	}
}

// What a configuration is made of; most of it is refused somewhere by somebody.
var pieces = []string{
	"[core]", "[Filter \"Na Me\"]", "[a.B]", "[a \"x\\\"y\\\\z\"]", "[ x ]", "[x", "]", "[a\t\"b\"]", "[a \"b\" ]", "[\"a\"]", "[]", "[ \"b\"]", "[.]", "[a \"\"]",
	"[a-b.9]", "[a_b]", "[a \"é]\"]", "\n", "\n", "\n", "\r\n", "\r", "\\\n", "\\\r\n", " ", "\t", "  ", "\v", "\f",
	"key", "KeY-2", "2key", "-x", "name = value", "fsmonitor = ./run", "clean=\"a b\"", "=", " = ", "= ", "==",
	"\"", "\"quoted\"", "\\\"", "\\\\", "\\n", "\\t", "\\b", "\\x", "\\", "# comment", "; comment", "#", ";",
	"true", "!sh -c 'a; b'", "a  b", "a\tb", "é", "\xff", "\xef\xbb\xbf", "a = b ; c", "a = b \\\n  c", "a = \"b\nc\"", "a = \" b \"c ",
}

func TestGitSettingsAgreeWithGit(t *testing.T) {
	dir, home := repository(t, "")
	random := rand.New(rand.NewPCG(4, 2026))
	for range rounds.N(400, 20000) {
		var b strings.Builder
		if random.IntN(4) > 0 {
			b.WriteString("[s \"t\"]\n")
		}
		for range random.IntN(9) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		put(t, dir+"/.git/config", b.String())
		agree(t, dir, home, b.String())
		if t.Failed() {
			return
		}
	}
}

func TestGitSettingsOneByOne(t *testing.T) {
	dir, home := repository(t, "")
	for _, piece := range pieces {
		for _, text := range []string{piece, "[s]\nk = " + piece, "[s]" + piece + "\n[t]\nx=y", "\xef\xbb\xbf[s]\n" + piece + "=1"} {
			put(t, dir+"/.git/config", text)
			agree(t, dir, home, text)
		}
	}
}

func TestGitSettingsThatAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"a NUL":     "[a]\nb = c\x00d\n",
		"too large": "[a]\n" + strings.Repeat("b = cccccccccccccccc\n", 1<<16),
	} {
		dir, home := repository(t, text)
		if got, ok := system.New(dir, environment(home)).GitConfig(dir); ok || got != nil {
			t.Errorf("%s: %d settings, ok %v", name, len(got), ok)
		}
	}
}

// FuzzGitSettings compares with the real git for any text.
func FuzzGitSettings(f *testing.F) {
	for _, piece := range pieces {
		f.Add("[s]\nk = " + piece)
	}
	dir, home := repository(f, "") // each worker is a process with its own
	f.Fuzz(func(t *testing.T, text string) {
		if unusual(text) {
			return
		}
		put(t, dir+"/.git/config", text)
		agree(t, dir, home, text)
	})
}

// unusual reports whether git may refuse a repository for what its settings mean, or
// keeps less of the text than it reads.
func unusual(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "core") || strings.Contains(text, "extensions") || strings.Contains(text, "include") ||
		strings.Contains(text, "\x00")
}

package present

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/rounds"
)

// run runs a program in dir, on stdin, without any configuration of the user.
func run(t testing.TB, dir, stdin, name string, args ...string) (stdout string, err error) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir), "LC_ALL=C"}
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err = cmd.Run(); errs.Len() > 0 {
		t.Logf("%s: %s", name, &errs)
	}
	return out.String(), err
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// gitDiff returns what git shows of the change, from the names on.
func gitDiff(t testing.TB, dir, old, new string) string {
	t.Helper()
	out, err := run(t, dir, "", "git", "-c", "core.quotepath=false", "diff", "--no-index", "--no-color", old, new)
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() != 1 || err != nil && !ok {
		t.Fatal(err)
	}
	start := strings.Index(out, "--- ")
	if start < 0 {
		return ""
	}
	return out[start:]
}

func TestDiffTextIsWhatGitWrites(t *testing.T) {
	at := func(n int, text string) string {
		lines := numbered(60)
		lines[n-1] = text
		return strings.Join(lines, "")
	}
	base := strings.Join(numbered(60), "")
	indented := strings.ReplaceAll(base, "line", " line")
	goFile := "func one(" + strings.Repeat("x", 100) + ") {\n" + indented + "}\n\n$two:  \t\r\n" + indented + "_three\n" + indented
	tests := map[string]struct{ old, new string }{
		"first line":             {base, at(1, "new\n")},
		"last line":              {base, at(60, "new\n")},
		"one line in the middle": {base, at(30, "new\n")},
		"two hunks":              {base, strings.NewReplacer("line 10\n", "x\n", "line 18\n", "y\n").Replace(base)},
		"one hunk of two":        {base, strings.NewReplacer("line 10\n", "x\n", "line 17\n", "y\n").Replace(base)},
		"from nothing":           {"", base},
		"to nothing":             {base, ""},
		"one line to two":        {"a\n", "b\nc\n"},
		"newline taken away":     {base, strings.TrimSuffix(base, "\n")},
		"newline added":          {strings.TrimSuffix(base, "\n"), base},
		"no newline in both":     {"a\nb", "c\nb"},
		"line ends":              {base, strings.Replace(base, "30\n", "30\r\n", 1)},
		"not UTF-8":              {base, at(20, "\xff\xfe\n")},
		"tabs and empty lines":   {base, at(20, "\n\t\n\n \t x\n")},
		"same":                   {base, base},
		"headings":               {goFile, strings.ReplaceAll(goFile, " line 20\n", " line XX\n")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "old/f", tt.old)
			write(t, dir, "new/f", tt.new)
			want := gitDiff(t, dir, "old/f", "new/f")
			d := DiffLines(Side{"old/f", tt.old}, Side{"new/f", tt.new}, DiffContext)
			if got := d.String(); got != want {
				t.Errorf("got\n%s\ngit has\n%s", got, want)
			}
		})
	}
}

func TestDiffNamesAreWhatGitWrites(t *testing.T) {
	for _, name := range []string{"plain", "with space", "tab\tin", "new\nline", `quote"d`, `back\slash`, "äöü", "\xff", "\x01\x7f\a\b\v\f\r", "a b\"c"} {
		dir := t.TempDir()
		write(t, dir, "old/"+name, "a\n")
		write(t, dir, "new/"+name, "b\n")
		want := gitDiff(t, dir, "old/"+name, "new/"+name)
		d := DiffLines(Side{"old/" + name, "a\n"}, Side{"new/" + name, "b\n"}, DiffContext)
		if got := d.String(); got != want {
			t.Errorf("got\n%s\ngit has\n%s", got, want)
		}
	}
}

// patchers are programs that apply unified text to the file it names.
var patchers = map[string][]string{
	"git":   {"apply", "--whitespace=nowarn", "--unidiff-zero", "-"},
	"patch": {"-p1", "--silent", "--binary"},
}

func TestGitApplyAndPatchTakeGeneratedDiffs(t *testing.T) {
	for seed := range uint64(rounds.N(60, 3000)) {
		r := rand.New(rand.NewPCG(seed, 1))
		old := randomText(r, r.IntN(60), 2+r.IntN(200))
		new := randomEdit(r, old)
		if seed%5 == 0 {
			new = randomText(r, r.IntN(60), 20)
		}
		a, b := sides(old, new)
		mustPatch(t, DiffLines(a, b, r.IntN(5)), old, new)
	}
}

func TestGitApplyAndPatchTakeSpecialDiffs(t *testing.T) {
	for _, tt := range []struct{ old, new string }{
		{"a", "a\n"}, {"a\n", "a"}, {"a\nb", "b"}, {"a", "b"},
		{"a\n", "a\r\n"}, {"\r\n", "\n"}, {"\r", "\r\r"},
		{"--- a\n+++ b\n@@ -1 +1 @@\n", "+++ b\n--- a\n"},
		{"\\ No newline at end of file\n", "\\ No newline at end of file"},
		{"a\xff\n", "a\xfe\n"}, {"\x1b[31m\n", "\u202e\n"}, {"\t\n", "\n"},
		{strings.Repeat("x", 5000) + "\n", strings.Repeat("x", 5001) + "\n"},
	} {
		mustPatch(t, diffOf(tt.old, tt.new), tt.old, tt.new)
	}
}

func TestGitApplyAndPatchCreateAndDelete(t *testing.T) {
	for _, text := range []string{"a\nb\n", "a", "\n"} {
		mustPatch(t, DiffLines(Side{}, Side{"f.txt", text}, DiffContext), "", text)
		mustPatch(t, DiffLines(Side{"f.txt", text}, Side{}, DiffContext), text, "")
		mustPatch(t, diffOf("", text), "", text)
		mustPatch(t, diffOf(text, ""), text, "")
	}
}

// mustPatch fails the test unless both programs turn old into new with d. A side
// without a name is a file that does not exist.
func mustPatch(t *testing.T, d LineDiff, old, new string) {
	t.Helper()
	if d.IsZero() {
		return
	}
	for program, args := range patchers {
		dir := t.TempDir()
		if d.Old != "" {
			write(t, dir, "f.txt", old)
		}
		if _, err := run(t, dir, d.String(), program, args...); err != nil {
			t.Fatalf("%s: %v\n%s", program, err, d)
		}
		got, err := os.ReadFile(filepath.Join(dir, "f.txt"))
		if gone := os.IsNotExist(err); gone && d.New != "" || err != nil && !gone || string(got) != new {
			t.Fatalf("%s made %q, want %q (%v) with\n%s", program, got, new, err, d)
		}
	}
}

package soundness

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/system"
)

func TestMain(m *testing.M) {
	code, err := begin(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// begin runs the tests, or the worker if this is the jail.
func begin(m *testing.M) (code int, err error) {
	if os.Getenv(inJail) != "" {
		return 0, work()
	}
	if kitFolder, err = os.MkdirTemp("", "assent-sound-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(kitFolder)
	return m.Run(), nil
}

func openJail(t testing.TB) *jail {
	t.Helper()
	if err := buildKit(); err != nil {
		t.Fatal(err)
	}
	j, err := newJail(kitFolder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.close)
	return j
}

//go:embed testdata/seeds.txt
var seedText string

// seeds are commands that were once wrong, or may be: separated by lines of three dashes.
func seeds() []string {
	list := strings.Split(strings.TrimSuffix(seedText, "\n"), "\n---\n")
	return list[1:] // the first says what the file is
}

// TestSeeds runs each seed under every policy.
func TestSeeds(t *testing.T) {
	j := openJail(t)
	for _, text := range seeds() {
		for first := range policyNames() {
			a, err := j.try(question{Text: text, First: first})
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if len(a.Wrong) > 0 {
				t.Error(a.report(text))
			}
		}
	}
}

// TestNotices: what was not judged is seen.
func TestNotices(t *testing.T) {
	j := openJail(t)
	for _, tt := range []struct{ judged, happens, want string }{
		{"spy a", "spy a b", `it started ["spy" "a" "b"] in /w/proj`},
		{"spy a", "cd src && spy a", `it started ["spy" "a"] in /w/proj/src`},
		{"spy a", "/usr/bin/spy a & env -i spy2 & wait", `it started ["spy2"] in /w/proj`},
		{"sort src/*", "sort src/x.go -m", `it started ["sort" "src/x.go" "-m"] in /w/proj`},
		{"cat a.txt", "cat a.txt; : < b.txt", "it opened /w/proj/b.txt"},
		{"cat a.txt", "cat a.txt; : < links/env", "it opened /w/proj/.env"},
		{"cat a.txt", "cat a.txt; : < ~/.ssh/id_rsa", "it opened /w/home/.ssh/id_rsa"},
		{"ls src", "ls src; : < src/x.go", "it opened /w/proj/src/x.go"},
		{"grep -r x --include='*.md' src", "grep -r x --include='*.md' src; : < src/x.go", "it opened /w/proj/src/x.go, which was said to be left alone"},
		{"echo x > new", "echo x > new; echo x > newer", "it made /w/proj/newer"},
		{"echo x > new", "echo x > new; exec 3<> b.txt; echo x >&3", "it changed /w/proj/b.txt"},
		{"rm -r src", "rm -r src empty", "it removed /w/proj/empty"},
		{"chmod 600 a.txt", "chmod 600 a.txt b.txt", "it changed /w/proj/b.txt"},
		{"true", "if", "bash does not take it"},
	} {
		a, err := j.try(question{Text: tt.judged, First: slices.Index(policyNames(), "named"), Instead: tt.happens})
		if err != nil {
			t.Fatal(err)
		}
		noticed := func(wrong string) bool { return strings.HasPrefix(wrong, tt.want) }
		if !slices.ContainsFunc(a.Wrong, noticed) {
			t.Errorf("%q was judged and %q happened: %q, want %q", tt.judged, tt.happens, a.Wrong, tt.want)
		}
	}
}

// FuzzSound lets the fuzzer look for commands.
func FuzzSound(f *testing.F) {
	for _, text := range seeds() {
		f.Add(text, uint(0))
	}
	for number := range uint64(200) {
		f.Add(command(1, number), uint(number))
	}
	j := openJail(f)
	f.Fuzz(func(t *testing.T, text string, first uint) {
		// The worker is another process: this shows the fuzzer which ways a text takes.
		_, _ = analysis.Read(text, places[0], system.New(places[0], environ))
		a, err := j.try(question{Text: text, First: int(first % uint(len(policyNames())))})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if len(a.Wrong) > 0 {
			t.Error(a.report(text))
		}
	})
}

// TestGrammar: every rule that is named is there, and every one that is there is named.
func TestGrammar(t *testing.T) {
	g := theGrammar()
	named := map[string]bool{"list": true}
	for _, alternatives := range g {
		for _, text := range alternatives {
			for part := range strings.SplitSeq(text, "«") {
				name, _, ok := strings.Cut(part, "»")
				if _, rule, quoted := strings.Cut(name, ":"); quoted {
					name = rule
				}
				if ok {
					named[strings.TrimSuffix(name, "!")] = true
				}
			}
		}
	}
	if have, want := slices.Sorted(maps.Keys(g)), slices.Sorted(maps.Keys(named)); !slices.Equal(have, want) {
		t.Errorf("rules %v\nnamed %v", have, want)
	}
}

package analysis

import (
	"slices"
	"testing"
)

// TestFiles: scripts that are run by name are part of what is approved.
func TestFiles(t *testing.T) {
	for text, want := range map[string][]string{
		"./x.sh":                     {"/w/x.sh"},
		"bash x.sh a":                {"/w/x.sh"},
		"source x.sh":                {"/w/x.sh"},
		"cd src && ../x.sh":          {"/w/x.sh"},
		"env ./x.sh; ./x.sh":         {"/w/x.sh"},
		"bash -c './x.sh'":           {"/w/x.sh"},
		"./nothing.sh; cat x.sh; ls": nil,
	} {
		script, err := Read(text, "/w", project())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(script.Files, want) {
			t.Errorf("%s: files %q, want %q", text, script.Files, want)
		}
	}
}

// TestLines: a part says where it stands, also in a script inside.
func TestLines(t *testing.T) {
	script, err := Read("ls\n\nif true; then\n\tbash -c 'true\nrm x'\nfi", "/w", project())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"ls": 1, "bash": 4, "rm": 4}
	for _, p := range script.Parts {
		if p.Kind == Runs && want[p.Words[0].Text] != 0 && p.Line != want[p.Words[0].Text] {
			t.Errorf("%s is in line %d, want %d", p.Words[0].Text, p.Line, want[p.Words[0].Text])
		}
	}
}

// TestBounded: what is not looked at is said.
func TestBounded(t *testing.T) {
	paths := []string{"/w/big/"}
	for i := range 3000 {
		paths = append(paths, "/w/big/f"+string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676)))
	}
	for _, text := range []string{"cat big/*", "grep -r x big", "rm -rf big"} {
		script, err := Read(text, "/w", project(paths...))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(script.Parts, func(p Part) bool { return p.Many && p.More && len(p.Matches) <= maxEntries }) {
			t.Errorf("%s: nothing says that there are more files", text)
		}
	}
}

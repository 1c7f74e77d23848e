package analysis

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what came out into testdata")

// TestParts reads the commands in testdata/*.txt: a line that begins with `$ ` is a command,
// `> ` goes on with it, and what follows up to an empty line are its parts.
func TestParts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			after := replayed(string(before))
			if *update {
				if err := os.WriteFile(file, []byte(after), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			compareLines(t, file, string(before), after)
		})
	}
}

// replayed is the file with the parts that come out now.
func replayed(text string) string {
	var out bytes.Buffer
	for _, block := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		var command []string
		for _, line := range strings.Split(block, "\n") {
			switch {
			case strings.HasPrefix(line, "$ "), strings.HasPrefix(line, "> "):
				command = append(command, line[2:])
				out.WriteString(line + "\n")
			case strings.HasPrefix(line, "# "):
				out.WriteString(line + "\n")
			}
		}
		if len(command) > 0 {
			out.WriteString(reading(strings.Join(command, "\n")))
		}
	}
	return out.String()
}

func reading(text string) string {
	script, err := Read(text, "/w", project())
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	lines := ""
	if script.Odd != "" {
		lines = "odd: " + script.Odd + "\n"
	}
	return lines + described(script.Parts) + "\n"
}

func compareLines(t *testing.T, file, want, got string) {
	t.Helper()
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, b := "", ""
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			t.Fatalf("%s:%d:\nwant %s\ngot  %s", file, i+1, a, b)
		}
	}
}

package programs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadings compares what is said about the commands in testdata/readings*.txt with what is
// written there: a command, and below it, indented, its description. ASSENT_UPDATE=1 writes
// the files anew; read the difference before you keep it.
func TestReadings(t *testing.T) {
	files, err := filepath.Glob("testdata/readings*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no readings found: %v", err)
	}
	for _, file := range files {
		compareReadings(t, file)
	}
}

func compareReadings(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var fresh strings.Builder
	command, line := "", 0
	for text := range strings.Lines(string(content)) {
		line++
		text = strings.TrimSuffix(text, "\n")
		switch {
		case strings.HasPrefix(text, "\t"):
			if got := describe(reading(t, command)); got != text[1:] && os.Getenv("ASSENT_UPDATE") == "" {
				t.Errorf("%s:%d: %s\n got %s\nwant %s", file, line, command, got, text[1:])
			}
			continue
		case text == "" || text[0] == '#':
			fresh.WriteString(text + "\n")
			continue
		}
		command = text
		fresh.WriteString(text + "\n\t" + describe(reading(t, command)) + "\n")
	}
	if os.Getenv("ASSENT_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(fresh.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

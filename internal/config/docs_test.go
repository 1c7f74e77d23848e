package config

import (
	"os"
	"strings"
	"testing"
)

// docs/config.md has every key of every file, and no key that is not there.
func TestConfigPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	_, other, _ := strings.Cut(string(text), "### Other spellings")
	other, _, _ = strings.Cut(other, "\n#")
	written := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, " | "); len(cells) == 3 && strings.HasPrefix(line, "| `") {
			for i, part := range strings.Split(cells[0], "`") {
				if i%2 == 1 {
					written[part] = true
				}
			}
		}
	}
	known := map[string]bool{}
	for _, f := range files {
		eachKey(f.shape, "", func(path string, k key) {
			path = strings.ReplaceAll(path, ".*", ".NAME")
			known[path] = true
			older := strings.Contains(other, "`"+k.name+"`") || strings.Contains(other, "`"+path+"`")
			below := strings.HasPrefix(path, "sandbox.zones") || strings.HasPrefix(path, "shell.network") ||
				strings.HasPrefix(path, "tool_configs")
			if !written[path] && !older && !below {
				t.Errorf("the page does not have %s: %s", path, k.about)
			}
		})
	}
	for path := range written {
		if above := strings.TrimSuffix(path, ".NAME"); !known[path] && !known[above] {
			t.Errorf("the page has %s, which no file has", path)
		}
	}
}

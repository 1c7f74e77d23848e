package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestPagesEscapeEverything: no text reaches a page in the browser without being escaped. Templates have no type that passes as
// it is (but for addresses: an image is one), and the script makes markup in one place, from what a template rendered.
func TestPagesEscapeEverything(t *testing.T) {
	for pattern, rule := range map[string]struct {
		bad  *regexp.Regexp
		most int
	}{
		"*.go": {regexp.MustCompile(`template\.(HTML|HTMLAttr|CSS|JS|JSStr|Srcset)\b|"text/template"`), 0},
		"static/*.js": {regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|` +
			`setHTMLUnsafe|createContextualFragment|DOMParser|srcdoc`), 1},
	} {
		files, err := filepath.Glob(root + "/internal/web/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := rule.bad.FindAllString(string(text), -1); len(found) > rule.most {
				t.Errorf("%s makes markup from text: %q", file, found)
			}
		}
	}
}

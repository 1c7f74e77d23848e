package realpath

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAsSpelled(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(top, "My", "Shop"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(top, "My", "Shop")
	for _, written := range []string{"My/Shop", "my/shop", "MY/sHOP"} {
		if got := asSpelled(filepath.Join(top, written)); got != want {
			t.Errorf("%s: %s", written, got)
		}
	}
	if got := asSpelled(filepath.Join(top, "my", "None")); got != filepath.Join(top, "My", "None") {
		t.Errorf("a folder that is not there: %s", got)
	}
	if got := asSpelled("/"); got != "/" {
		t.Errorf("the top: %s", got)
	}
}

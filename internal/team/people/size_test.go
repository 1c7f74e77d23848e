package people

import (
	"io/fs"
	"testing"

	"github.com/assent-dev/assent/internal/web"
)

// The scripts of the pages are small enough to be read by whoever wants to know what signs their answers.
func TestSizeOfTheScripts(t *testing.T) {
	own, err := static.ReadFile("static/team.js")
	if err != nil {
		t.Fatal(err)
	}
	common, err := fs.ReadFile(web.Files(), "common.js")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(own) + len(common); n > 30_000 {
		t.Errorf("%d bytes; at most 30,000", n)
	} else {
		t.Logf("%d bytes", n)
	}
}

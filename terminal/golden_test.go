package terminal

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file in testdata. Escapes are written as ^[ so that a file can be
// read.
func golden(t *testing.T, name, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, "\x1b", "^[") + "\n"
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: write it with go test -update", err)
	}
	if got != string(want) {
		t.Errorf("%s is not what it was; look at it and write it anew with go test -update\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

func TestGoldenViews(t *testing.T) {
	for _, name := range []string{"diff", "file", "binary", "command", "parts", "move", "json", "bare", "text", "long", "person", "broken"} {
		for _, columns := range []int{40, 80, 120} {
			for _, look := range []struct {
				name  string
				theme theme
			}{{"plain", noStyles}, {"nocolour", attributes}, {"colour", colours}} {
				f := newFixture(t, name)
				p := f.play(t, columns, 0)
				p.state.theme = look.theme
				golden(t, fmt.Sprintf("views/%s-%d-%s", name, columns, look.name), p.screen())
				checkWidths(t, p.state.frame(), columns)
			}
		}
	}
}

// TestGoldenDialogs draws every dialog.
func TestGoldenDialogs(t *testing.T) {
	dialogs := map[string][]string{
		"note":        {"N", "use another"},
		"keep":        {"N", "x", "<enter>"},
		"session":     {"s", "2"},
		"custom":      {"s", "c", "30m"},
		"always":      {"a"},
		"everywhere":  {"a", "w"},
		"edit":        {"a", "e"},
		"wide":        {"a", "2", "y"},
		"respond":     {"r", "first", "<enter>", "second"},
		"why":         {"?"},
		"grants":      {"g"},
		"all":         {"A"},
		"denyall":     {"D"},
		"choice":      {"c", "1"},
		"stop":        {"q"},
		"history":     {"h"},
		"denysession": {"N", "x", "<enter>", "s"},
		"denyalways":  {"N", "x", "<enter>", "a"},
	}
	for name, keys := range dialogs {
		for _, columns := range []int{40, 80, 120} {
			f := newFixture(t, "bash", "two")
			f.grant(t, "g1")
			p := f.play(t, columns, 0)
			p.work.remember(settledLine(f.batch.Pending()[1], settledEvent{}))
			for _, it := range p.state.items { // what it covers may grow
				it.request.Fingerprint = policy.DigestOf([]byte("fixed"))
			}
			p.keys(keys...)
			golden(t, fmt.Sprintf("dialogs/%s-%d", name, columns), p.screen())
			checkWidths(t, p.state.frame(), columns)
		}
	}
}

// TestGoldenBuiltInPager draws all of a view where there is no pager.
func TestGoldenBuiltInPager(t *testing.T) {
	for _, columns := range []int{40, 80, 120} {
		p := newFixture(t, "parts").play(t, columns, 0)
		p.event(pagedEvent{id: p.state.current().request.ID, err: errors.New("there is no less"), at: p.now})
		golden(t, fmt.Sprintf("dialogs/all-of-it-%d", columns), p.screen())
		checkWidths(t, p.state.frame(), columns)
	}
}

// checkWidths wants every row to fill the box exactly.
func checkWidths(t *testing.T, rows []line, columns int) {
	t.Helper()
	for _, l := range rows {
		if l.width() != columns {
			t.Errorf("a row of %d cells in %d columns: %q", l.width(), columns, l.String())
		}
	}
}

func TestResize(t *testing.T) {
	for _, name := range []string{"diff", "binary", "command", "parts", "move", "text"} {
		p := newFixture(t, name).play(t, 120, 40)
		for columns := 40; columns <= 200; columns++ {
			p.event(sizeEvent{columns, 30})
			checkWidths(t, p.state.frame(), columns)
			if rows := len(p.state.frame()); rows > 30 {
				t.Errorf("%s: %d rows on a screen of 30 at %d columns", name, rows, columns)
			}
		}
	}
}

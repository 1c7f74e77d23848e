package programs

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every line of the table that says that something is written, deleted, run or talked to is
// shown to be true by running the real program: its row. Rows stand in testdata/rows/*.txt:
//
//	sort -o
//		$ sort -o out in
//		writes out
//
// The first line names the row: the program (or the name of the entry, such as git/diff), its
// subcommands, and a flag, or one of
//
//	operands VERB    an operand that is written, run and so on: `cp operands into`
//	fixed VERB       a fixed line
//	default VERB     a default line
//
// Lines with $ are handed to bash, all of them as one script, in a new folder that is HOME as
// well. It has
//
//	in        a file with the lines c, a, b
//	dir/in    the same
//	spy       a program that makes the file spied, and says ok
//	bin/      stands first in PATH, and is empty: ln -s "$PWD/spy" bin/ssh
//	$PORT     a port on 127.0.0.1 where somebody listens and answers nothing
//
// and the last lines say what must have happened; at least one of them, and all that are
// given:
//
//	writes F      the file F is there now, and was not or was different
//	deletes F     the file F is gone
//	runs          spy was run: the same as writes spied
//	connects      somebody came to $PORT
//
// One row may stand for several: write their names one below the other. TestEveryLineHasARow
// fails for a line of the table that has no row, and for a row that stands for no line. TestRows
// runs them; as it needs more than a hundred programs it stands behind the build tag all. Programs that
// Debian does not have, and rows that cannot be run on a machine that one wants to keep, are in
// testdata/rows/absent.txt:
//
//	absent PROGRAM WHY              is not to be had; an error once it is installed
//	cannot PROGRAM [ROW] WHY        would need hardware, the outside or the end of the machine
//
// where WHY is in parentheses.

const rowsFolder = "testdata/rows"

// A row is a script and what it must do.
type row struct {
	names  []string
	script string
	wants  []string
	at     string
}

// TestEveryLineHasARow only reads. That the rows are true is for TestRows, which needs the
// programs.
func TestEveryLineHasARow(t *testing.T) {
	absent := readAbsent(t)
	needed := neededRows(t)
	exercised := map[string]bool{}
	for _, r := range readRows(t) {
		if r.script == "" || len(r.wants) == 0 {
			t.Errorf("%s: the row has no $ line, or says nothing about what happens", r.at)
		}
		for _, name := range r.names {
			key, ok := needed[name]
			if !ok {
				t.Errorf("%s: no line of the table is the row %q: remove it, or see the top of rows_test.go for how rows are named", r.at, name)
			}
			exercised[key] = true
		}
	}
	checkAbsent(t, absent, needed, exercised)
	for _, key := range slices.Sorted(maps.Keys(invert(needed))) {
		if !exercised[key] && !absent.covers(key) {
			t.Errorf("no row shows that %q is true: add one to %s (see the top of rows_test.go)", key, rowsFolder)
		}
	}
}

// invert returns the set of the values.
func invert(names map[string]string) map[string]bool {
	keys := map[string]bool{}
	for _, key := range names {
		keys[key] = true
	}
	return keys
}

// neededRows returns the rows that there must be: every name that a row may have, and the one
// that it is known by.
func neededRows(t *testing.T) map[string]string {
	needed := map[string]string{}
	for _, e := range entries(t) {
		names := []string{e.name}
		for name, s := range index() {
			if s == index()[e.name] && name != e.name {
				names = append(names, name)
			}
		}
		addRows(needed, e, names, map[*entry]bool{})
	}
	return needed
}

// addRows adds the rows of an entry and its subcommands.
func addRows(needed map[string]string, e *entry, names []string, done map[*entry]bool) {
	if done[e] {
		return
	}
	done[e] = true
	owner := strings.Fields(e.name)[0]
	add := func(p place, rows ...string) {
		if p.entry != owner {
			return // another entry that this one is like
		}
		for _, name := range names {
			for _, row := range rows {
				needed[name+" "+row] = names[0] + " " + rows[0]
			}
		}
	}
	for _, f := range e.flags {
		if f.harmful() || f.turns != nil && f.turns.verb.harmful() {
			add(f.place, f.names...)
		}
	}
	for _, line := range e.operands {
		for _, want := range line.roles {
			if want.verb.harmful() {
				add(line.place, "operands "+want.verb.String())
			}
		}
	}
	for kind, lines := range map[string][]fixedLine{"fixed": e.fixed, "default": e.defaults} {
		for _, line := range lines {
			if line.role.verb.harmful() {
				add(line.place, kind+" "+line.role.verb.String())
			}
		}
	}
	for step, sub := range e.subs {
		if sub.ready() != nil {
			continue // TestEntries says why
		}
		var deeper []string
		for _, name := range names {
			deeper = append(deeper, name+" "+strings.TrimPrefix(sub.name, e.name+" "))
			if !strings.HasSuffix(sub.name, " "+step) {
				deeper = append(deeper, name+" "+step)
			}
		}
		addRows(needed, sub, deeper, done)
	}
}

// readRows reads all rows but the list of absent ones.
func readRows(t *testing.T) []row {
	t.Helper()
	files, err := filepath.Glob(rowsFolder + "/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for _, file := range files {
		if filepath.Base(file) != "absent.txt" {
			rows = append(rows, readRowFile(t, file)...)
		}
	}
	return rows
}

func readRowFile(t *testing.T, file string) []row {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	body := true // the last line was indented
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		text := strings.TrimSpace(line)
		at := fmt.Sprintf("%s:%d", file, n)
		indented := strings.HasPrefix(line, "\t")
		switch {
		case text == "" || text[0] == '#' && !indented:
			continue
		case !indented && body:
			rows = append(rows, row{at: at, names: []string{text}})
		case !indented:
			rows[len(rows)-1].names = append(rows[len(rows)-1].names, text)
		case len(rows) == 0:
			t.Fatalf("%s: this belongs to no row", at)
		case strings.HasPrefix(text, "$ "):
			rows[len(rows)-1].script += text[2:] + "\n"
		default:
			rows[len(rows)-1].wants = append(rows[len(rows)-1].wants, text)
		}
		body = indented
	}
	return rows
}

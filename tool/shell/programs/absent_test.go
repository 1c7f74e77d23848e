package programs

import (
	"os"
	"strings"
	"testing"
)

// An absence is a line of testdata/rows/absent.txt.
type absence struct {
	cannot bool   // the program may be there, but the row cannot be run
	name   string // a program, or a program and a row
	line   int
}

type absences []absence

// covers reports whether a row is excused.
func (a absences) covers(key string) bool {
	for _, one := range a {
		if key == one.name || strings.HasPrefix(key, one.name+" ") {
			return true
		}
	}
	return false
}

func readAbsent(t *testing.T) absences {
	t.Helper()
	content, err := os.ReadFile(rowsFolder + "/absent.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all absences
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			continue
		}
		what, why, ok := strings.Cut(text, " (")
		kind, name, named := strings.Cut(what, " ")
		if !ok || !named || !strings.HasSuffix(why, ")") || kind != "absent" && kind != "cannot" {
			t.Errorf("%s/absent.txt:%d: want `absent PROGRAM (WHY)` or `cannot PROGRAM [ROW] (WHY)`", rowsFolder, n)
			continue
		}
		all = append(all, absence{kind == "cannot", name, n})
	}
	return all
}

// checkAbsent looks for lines that are out of date.
func checkAbsent(t *testing.T, all absences, needed map[string]string, exercised map[string]bool) {
	t.Helper()
	for _, one := range all {
		stands := false
		for key := range invert(needed) {
			if (absences{one}).covers(key) {
				stands = true
				if exercised[key] {
					t.Errorf("%s/absent.txt:%d: %s has a row: remove the line", rowsFolder, one.line, key)
				}
			}
		}
		if !stands {
			t.Errorf("%s/absent.txt:%d: the table has no row of %s any more: remove the line", rowsFolder, one.line, one.name)
		}
	}
}

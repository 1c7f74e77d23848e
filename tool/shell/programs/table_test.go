package programs

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// No file of the table is left out.
func TestDataFiles(t *testing.T) {
	there, err := filepath.Glob("data/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, f := range dataFiles {
		listed = append(listed, f.name)
	}
	if !slices.Equal(listed, there) {
		t.Errorf("the table has %v, the folder %v", listed, there)
	}
}

// TestEntries parses every entry of every data file: an error names file and line.
func TestEntries(t *testing.T) {
	slots, errs := scanFiles()
	for _, err := range errs {
		t.Error(err)
	}
	for _, name := range slices.Sorted(maps.Keys(slots)) {
		e, err := parseSlot(slots[name], find, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		checkSubs(t, e)
	}
	t.Logf("%d programs under %d names", len(entries(t)), len(slots))
}

// checkSubs parses every subcommand.
func checkSubs(t *testing.T, e *entry) {
	t.Helper()
	for _, sub := range e.subs {
		if err := sub.ready(); err != nil {
			t.Error(err)
			continue
		}
		checkSubs(t, sub)
	}
}

// What is marked to only read says nothing else about itself.
func TestReadersOnlyRead(t *testing.T) {
	var check func(e *entry)
	check = func(e *entry) {
		if e.preset && e.open == "" && (e.raises || e.remote || e.stdin || e.project || e.simple) { // open is never free
			t.Errorf("%s is marked to only read, and does more", e.name)
		}
		for _, line := range slices.Concat(e.fixed, e.defaults) {
			if e.preset && len(line.when.flags) == 0 && line.role.verb.harmful() && line.role.verb != fetch {
				t.Errorf("%s is marked to only read, and always does %s", e.name, line.role.verb)
			}
		}
		for _, sub := range e.subs {
			if err := sub.ready(); err != nil {
				t.Fatal(err)
			}
			check(sub)
		}
	}
	readers := 0
	for _, e := range entries(t) {
		check(e)
		if e.preset {
			readers++
		}
	}
	t.Logf("%d programs only read", readers)
}

// entries returns every entry, in the order of their names.
func entries(t testing.TB) []*entry {
	t.Helper()
	var all []*entry
	for _, name := range slices.Sorted(maps.Keys(index())) {
		e, err := lookup(name)
		if err != nil || e.name != name {
			continue
		}
		all = append(all, e)
	}
	return all
}

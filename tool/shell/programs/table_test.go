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

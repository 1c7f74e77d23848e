package arch

import (
	"maps"
	"slices"
	"testing"
)

// TestTableIsWhole sees that every arrow ends at a line: a misspelled folder would
// otherwise forbid what it means to allow.
func TestTableIsWhole(t *testing.T) {
	lines := maps.Clone(table)
	lines["examples"] = examples
	for folder, l := range lines {
		for _, to := range slices.Concat(l.inside, l.tests) {
			if _, ok := table[to]; !ok && to != everything {
				t.Errorf("%s has an arrow to %s, which has no line", folder, to)
			}
		}
	}
	for _, helper := range testHelpers {
		if _, ok := table[helper]; !ok {
			t.Errorf("the test helper %s has no line", helper)
		}
	}
}

// TestArrowsRunOneWay sees that no package reaches itself.
func TestArrowsRunOneWay(t *testing.T) {
	for start := range table {
		seen := map[string]bool{}
		for next := table[start].inside; len(next) > 0; next = unseen(seen, next) {
			if slices.Contains(next, start) {
				t.Errorf("%s reaches itself", start)
				break
			}
		}
	}
}

// unseen returns where the arrows of the folders lead, without what was there before.
func unseen(seen map[string]bool, folders []string) []string {
	var next []string
	for _, folder := range folders {
		if !seen[folder] {
			seen[folder] = true
			next = append(next, table[folder].inside...)
		}
	}
	return next
}

// TestAbsences pins the three absences that carry the design.
func TestAbsences(t *testing.T) {
	if table["approval"].allows("sandbox") {
		t.Error("approval knows sandbox: consent is not enforcement")
	}
	for _, approver := range to("terminal internal/inbox") {
		for _, known := range to("tool tool/roots tool/files tool/shell tool/web tool/command tool/connector") {
			if table[approver].allows(known) {
				t.Errorf("%s knows %s: a new tool would change a user interface", approver, known)
			}
		}
	}
	if len(table["sandbox"].inside) > 0 {
		t.Error("sandbox knows somebody: it should confine whatever it is handed")
	}
}

package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/store"
)

// Rules of the time before there was a store are taken over, once.
func TestOldRulesAreTakenOver(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "rules.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"version":1,"rules":[{"id":"1","type":"allow","scope":"tool","enabled":true,"pattern":"a"},{"id":"2","type":"deny","scope":"tool","enabled":true,"pattern":"b"}]}`)
	for range 2 {
		s := openStore(t, folder, store.Options{})
		set, err := s.Rules(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range set.Rules() {
			got = append(got, r.String())
		}
		if text := strings.Join(got, "; "); text != "allow a; deny b" {
			t.Errorf("the rules are %s", text)
		}
		if _, err := os.Stat(file + ".imported"); err != nil {
			t.Errorf("the file was not kept: %v", err)
		}
	}
	for _, damaged := range []string{"{", `{"version":2}`} {
		write(damaged)
		if s, err := store.Open(t.Context(), folder, store.Options{}); err == nil || !strings.Contains(err.Error(), "mend the file") {
			t.Errorf("%s: %v, %v", damaged, s, err)
		}
		if kept, err := os.ReadFile(file); err != nil || string(kept) != damaged {
			t.Errorf("the file is %q, %v", kept, err)
		}
	}
}

// Package golden holds what a test comes to against a file.
package golden

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Check wants the file to be what the test got. ASSENT_UPDATE=1 writes it anew.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if os.Getenv("ASSENT_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s:\n%s", file, diff)
	}
}

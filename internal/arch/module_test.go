package arch_test

import (
	"os"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/arch"
)

// TestModule holds this module to its own table.
func TestModule(t *testing.T) {
	const root = "../.."
	mod, err := os.ReadFile(root + "/go.mod")
	if err != nil || !strings.HasPrefix(string(mod), "module github.com/assent-dev/assent\n") {
		t.Fatalf("%s is not the module's root: %v", root, err)
	}
	found, err := arch.Check(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
}

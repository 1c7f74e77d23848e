package roots

import (
	"os"
	"testing"
)

// On a file system that ignores case, or through a second mount, a root has
// spellings that no comparison of names finds.
func TestOwnerByIdentity(t *testing.T) {
	outer := t.TempDir()
	inner := outer + "/inner"
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{}, Root{Name: "outer", Host: outer, Mode: ModeReadWrite}, Root{Name: "inner", Host: inner})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, in := s.byName["outer"], s.byName["inner"]
	loc := location{abs: out.real + "/INNER/a", steps: []step{out.location().steps[0], {out.real + "/INNER", in.info}, {abs: out.real + "/INNER/a"}}}
	if got := s.owner(loc); got != in {
		t.Errorf("the owner is %v", got)
	}
}

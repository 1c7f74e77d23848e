package shell

import (
	"testing"

	"github.com/assent-dev/assent/approval"
)

// TestCode: an act says which file it would run as code, as a write of it.
func TestCode(t *testing.T) {
	b := newBench(t, Config{})
	for command, want := range map[string]string{
		"npm test":               "write_file(proj/…)",
		"make -C src":            "write_file(proj/src/…)",
		"bash run.sh":            "write_file(proj/run.sh)",
		"./run.sh x":             "write_file(proj/run.sh)",
		"python3 src/a.py --all": "write_file(proj/src/a.py)",
		"ls -la":                 "",
		"git commit -m x":        "",
	} {
		got := ""
		p, err := b.propose(command)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range p.Acts {
			if a.Code != nil && a.Name == approval.Shell && got == "" {
				got = a.Code.String()
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

package rulebook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
)

// The list says where each rule holds, and which ones can match nothing.
func TestListSaysWhereAndWhatIsStale(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", "/home/me")
	if err := os.Symlink(top, filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	in := func(project, text string) policy.Rule {
		r := rule(t, text)
		r.Project = project
		return r
	}
	for want, r := range map[string]policy.Rule{
		"everywhere  allow shell(date)\n":                  in("", "allow shell(date)"),
		"in " + top + "  allow shell(date)\n":              in(top, "allow shell(date)"),
		"project: the folder is gone":                      in(top+"/none", "allow shell(date)"),
		"project: the folder now leads to " + top:          in(top+"/link", "allow shell(date)"),
		"remove it and add deny read_file(/home/me/.ssh)":  in("", "deny read_file(~/.ssh)"),
		"remove it and add deny read_file(" + top + "/x)":  in("", "deny read_file("+top+"/link/x)"),
		`warning: it matches nothing: "../x" leads out of`: in("", "deny read_file(../x)"),
		"everywhere  deny read_file(/home/me/.ssh)\n":      in("", "deny read_file(/home/me/.ssh)"),
	} {
		var b strings.Builder
		if err := rulebook.List(&b, []policy.Rule{r}, epoch); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("want %q in\n%s", want, b.String())
		}
	}
}

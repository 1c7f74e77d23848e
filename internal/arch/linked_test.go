package arch

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/golden"
)

// tooLarge lists packages that assent-hook must not link. Agents start it for every call, so it has to be small and
// easy to trust.
var tooLarge = regexp.MustCompile(`^(net/http|html|crypto/tls|crypto/x509|github\.com/modelcontextprotocol/|` +
	`github\.com/danielgtaylor/|github\.com/standard-webhooks/|` + modulePath + `/internal/(web|webhook|gateway|model)(/|$))`)

// TestHookLinks lists what assent-hook links: all packages but those of the standard library.
func TestHookLinks(t *testing.T) {
	command := exec.Command("go", "list", "-deps", "-f", "{{if .Standard}}std {{end}}{{.ImportPath}}", "./cmd/assent-hook")
	command.Dir = root
	// A toolbox for C changes which packages are linked, and the hook is built without.
	command.Env = append(command.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var linked strings.Builder
	for line := range strings.Lines(string(out)) {
		name, standard := strings.CutPrefix(strings.TrimSpace(line), "std ")
		if tooLarge.MatchString(name) {
			t.Errorf("assent-hook links %s", name)
		}
		if !standard {
			linked.WriteString(name + "\n")
		}
	}
	golden.Check(t, "testdata/assent-hook.txt", linked.String())
}

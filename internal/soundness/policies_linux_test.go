package soundness

import (
	"context"
	"embed"
	"encoding/json"
	"io/fs"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

//go:embed testdata/policies
var policyFiles embed.FS

// An underPolicy judges commands by a policy of its own.
type underPolicy struct {
	name string
	explain.Explainer
}

// environ is the environment that the commands' own is made from.
var environ = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/w/home", "LANG=C.UTF-8", "TERM=dumb"}

// policyNames returns the rule sets there are, in order.
func policyNames() (names []string) {
	files, _ := fs.Glob(policyFiles, "testdata/policies/*.yaml")
	for _, f := range files {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(f, "testdata/policies/"), ".yaml"))
	}
	return names
}

func openPolicy(name string) (*underPolicy, error) {
	file := "testdata/policies/" + name + ".yaml"
	data, err := policyFiles.ReadFile(file)
	if err != nil {
		return nil, err
	}
	read, err := config.Load(file, data, "/w")
	if err != nil {
		return nil, err
	}
	p := &underPolicy{name: name}
	p.Policy, p.Clock = policy.Policy{Fixed: read.Rules}, time.Now
	box, err := toolbox.Open(read, toolbox.Options{State: "/w/state", Environ: environ, Looking: true, Denied: p.Denied})
	if err != nil {
		return nil, err
	}
	p.Tools, err = tool.NewSet(box.Tools...)
	return p, err
}

// allows judges a command, and returns what was judged if it may run.
func (p *underPolicy) allows(text string) (acts []policy.Act, allowed bool) {
	args, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		return nil, false
	}
	if args, err = canonical.Arguments(args); err != nil {
		return nil, false
	}
	call := policy.Call{Tool: policy.ActShell, Arguments: args}
	proposal, err := p.Tools.Prepare(context.Background(), call)
	if err != nil {
		return nil, false
	}
	j := p.Policy.Judge(proposal.Question(&call, p.Clock()))
	return proposal.Acts, j.State.Runs()
}

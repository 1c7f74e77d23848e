package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/tool"
)

// expectations tries the examples of the file.
func (l *look) expectations(ctx context.Context) (err error) {
	p := l.file.Policy
	if len(p.Expect) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "assent-check-")
	if err != nil {
		return fmt.Errorf("the examples cannot be tried: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	standing, err := standIns(p, dir)
	if err != nil {
		return fmt.Errorf("the examples cannot be tried: %w", err)
	}
	e, closing, err := explainer(standing, l.file.Path, dir)
	if err != nil {
		return fmt.Errorf("the examples cannot be tried: %w", err)
	}
	defer func() { err = errors.Join(err, closing()) }()
	for _, want := range p.Expect {
		got := e.Explain(ctx, explain.Call{Tool: want.Tool, Args: want.Args})
		if got.Outcome == want.Outcome {
			continue
		}
		l.warn(want.Source, "%s should be %s, and is %s: %s", want.Call, want.Outcome, got.Outcome, reason(got))
	}
	return nil
}

// reason says in a line why a call came out as it did.
func reason(a explain.Answer) string {
	why := cmp.Or(a.Error, a.Why)
	for _, act := range a.Acts {
		why = cmp.Or(why, act.Why)
	}
	return cmp.Or(why, "nothing that it would do asks")
}

// standIns returns the policy with empty folders in place of those that do not exist yet.
func standIns(p *config.Policy, dir string) (*config.Policy, error) {
	out := *p
	out.Roots = slices.Clone(p.Roots)
	for i := range out.Roots {
		r := &out.Roots[i]
		if _, err := os.Stat(r.Host); !os.IsNotExist(err) {
			continue
		}
		r.Host = filepath.Join(dir, fmt.Sprint("root", i))
		if err := os.Mkdir(r.Host, 0o700); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// explainer judges calls under the policy alone.
func explainer(p *config.Policy, file, state string) (*explain.Explainer, func() error, error) {
	e := &explain.Explainer{Policy: approval.Policy{Fixed: p.Rules}, Clock: time.Now}
	box, err := toolbox.Open(p, toolbox.Options{
		State: filepath.Join(state, "state"), Protected: []string{file}, Environ: os.Environ(), Looking: true, Denied: e.Denied,
	})
	if err != nil {
		return nil, nil, err
	}
	tools, err := onPaper(box)
	if err != nil {
		return nil, nil, errors.Join(err, box.Close())
	}
	set, err := tool.NewSet(tools...)
	if err != nil {
		return nil, nil, errors.Join(err, box.Close())
	}
	e.Tools = set
	return e, box.Close, nil
}

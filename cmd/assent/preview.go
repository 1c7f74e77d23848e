package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool"
)

// previewChanged says what a request of a run that was put aside would be with other
// arguments. It makes and records nothing.
func previewChanged(c *cobra.Command, k *keeper, s *store.Store, run, request string, args json.RawMessage) (*approval.Request, error) {
	saved, err := s.LoadRun(c.Context(), run)
	if err != nil {
		return nil, err
	}
	p, err := loadParked(saved)
	if err != nil {
		return nil, err
	}
	f := p.flags(*k)
	holds, err := f.resolve(c, p.Folder, p.Worker, true)
	if err != nil {
		return nil, err
	}
	base, err := open.Open(c.Context(), holds, open.Order{Use: open.Look, Held: true, Session: saved.Session})
	if err != nil {
		return nil, err
	}
	defer base.Close()
	all := f.crew(&desk{Base: base}, nil)
	all.Recall(p.Created)
	all.Looking, all.Connect = true, nil // the tools are as in the run, or the fingerprint would be another
	all.Gate = func(_ []string, rules *policy.RuleSet, tools []tool.Tool) (*tool.Gate, error) {
		return tool.Guard(approval.Config{Session: saved.Session, Policy: rules, Rules: s, Grants: s}, tools...)
	}
	all.Model = func(context.Context, *config.Worker) (worker.Talker, error) { return nil, nil }
	m, err := all.Open(holds.Configuration)
	if err != nil {
		return nil, err
	}
	r, err := m.Preview(c.Context(), p.Run, request, args)
	switch err = errors.Join(err, m.Close()); {
	case errors.Is(err, approval.ErrWrongCall):
		return nil, fmt.Errorf("request %s is no longer what was shown; 'assent resume %s' asks it again", request, run)
	case err != nil:
		return nil, fmt.Errorf("with these arguments it cannot be approved: %w", err)
	}
	return r, nil
}

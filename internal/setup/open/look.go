package open

import (
	"context"
	"errors"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
	"github.com/assent-dev/assent/tool/hosts"
)

// Explainer judges calls as a gate of the base would, for a base that only looks. Close what it
// returns.
func (b *Base) Explainer(ctx context.Context, further ...tool.Tool) (*explain.Explainer, func() error, error) {
	box, err := b.Box(b.Configuration, Tools{Further: further})
	if err != nil {
		return nil, nil, err
	}
	set, err := tool.NewSet(box.Tools...)
	if err != nil {
		return nil, nil, errors.Join(err, box.Close())
	}
	kept, err := policy.CompileRules(b.Kept)
	if err != nil {
		return nil, nil, errors.Join(err, box.Close())
	}
	conf := policy.Policy{Rules: kept, Fixed: b.Rules, Mode: b.Mode}
	if b.Store != nil && b.Mode == policy.ModeAsk {
		on, err := b.Store.Approvals(ctx)
		if err != nil {
			return nil, nil, errors.Join(err, box.Close())
		}
		if !on { // the master switch, which gates look at for each call
			conf.Mode = policy.ModeApproveAll
		}
	}
	return &explain.Explainer{
		Tools: lookingAt{set, b}, Policy: conf, Team: b.Team(), Project: b.Scope, Undoing: box.Undoing, Hosts: b.Hosts(),
	}, box.Close, nil
}

// Hosts says which hosts are free, asked and denied, by config and by rules.
func (b *Base) Hosts() []hosts.Word {
	return b.Shell.Network.Words(slices.Concat(b.Kept, b.Rules.Rules()))
}

// lookingAt are the tools of a base, and those of connectors, whose servers are not started.
type lookingAt struct {
	*tool.Set
	base *Base
}

// Prepare implements [approval.Preparer].
func (l lookingAt) Prepare(ctx context.Context, call policy.Call) (approval.Proposal, error) {
	i := slices.IndexFunc(l.base.Connectors,
		func(c config.Connector) bool { return call.Connector != "" && c.Name == call.Connector })
	if i < 0 {
		return l.Set.Prepare(ctx, call)
	}
	t, _, err := tool.Configure(l.base.Tools,
		connector.Unstarted(l.base.connectorConfig(l.base.Connectors[i]), call.Tool))
	if err != nil {
		return approval.Proposal{}, err
	}
	set, err := tool.NewSet(t...)
	if err != nil {
		return approval.Proposal{}, err
	}
	return set.Prepare(ctx, call)
}

package connector

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// Unstarted is a tool of a connector whose server does not run, for who only says what would
// happen: it asks, like every tool of a connector that config does not trust. What only the
// server can tell, that it has no such tool or that its definition changed, is not known.
func Unstarted(cfg Config, name string) tool.Tool { return unstarted{cfg, name} }

type unstarted struct {
	cfg  Config
	name string
}

// Spec implements [tool.Tool].
func (u unstarted) Spec() tool.Spec { return tool.Spec{Connector: u.cfg.Name, Name: u.name} }

// Prepare implements [tool.Tool].
func (u unstarted) Prepare(_ context.Context, args json.RawMessage) (tool.Action, error) {
	act := policy.Act{Target: u.cfg.target(u.name, args), Known: true, Verdict: policy.VerdictAsk, Why: "a connector's tool asks" + at(u.cfg.Source)}
	never := func(context.Context) (any, error) { return nil, errors.New("the connector's server does not run") }
	return tool.Ask(never).On(act).Titled(u.cfg.Name + ":" + u.name), nil
}

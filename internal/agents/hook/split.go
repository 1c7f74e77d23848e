package hook

import (
	"context"
	"fmt"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/policy"
)

// otherwise judges a call under the other names that it may have: mcp__a__b__c is the tool c of
// a__b as well as b__c of a, and only the agent knows which. A deny of any of them holds, and
// where one is not allowed no rule for another answers.
func (d *evaluator) otherwise(ctx context.Context, names []agents.ToolName, call policy.Call, acts []policy.Act) ([]policy.Act, error) {
	if len(names) == 0 || len(acts) == 0 || acts[0].Verdict == policy.VerdictBlock {
		return acts, nil
	}
	rules, grants, err := d.kept(ctx, call.Session)
	if err != nil {
		return nil, err
	}
	p := policy.Policy{Rules: rules, Fixed: d.setup.Rules, Grants: grants, Mode: policy.ModeAsk}
	acts = append([]policy.Act{}, acts...)
	for _, name := range names {
		other := policy.Call{Connector: name.Connector, Tool: name.Tool, Arguments: call.Arguments, Session: call.Session}
		act := policy.Act{Connector: name.Connector, Name: name.Tool, Target: policy.ArgumentsTarget(call.Arguments), Verdict: policy.VerdictAsk}
		j := p.Judge(policy.Question{Call: &other, Acts: []policy.Act{act}, Now: d.clock()})
		may := fmt.Sprintf("it may be the tool %s of the server %s", name.Tool, name.Connector)
		switch {
		case j.State == policy.StateAutoDenied:
			acts[0].Verdict, acts[0].Why = policy.VerdictBlock, may+", which is denied"
			if j.Rule != nil {
				acts[0].Why += " by " + j.Rule.String()
			}
			return acts, nil
		case !j.State.Runs():
			acts[0].Verdict, acts[0].PersonOnly = policy.VerdictAsk, true
			acts[0].Why = may + ", and no rule allows that; write rules for each name that it may have"
		}
	}
	return acts, nil
}

// kept are the rules that are kept, and the grants of a session; none if there is no store.
func (d *evaluator) kept(ctx context.Context, session string) (*policy.RuleSet, *policy.GrantSet, error) {
	s, err := d.opened()
	if err != nil || s == nil {
		return nil, nil, err
	}
	rules, err := s.Rules(ctx)
	if err != nil {
		return nil, nil, err
	}
	grants, err := s.Grants(ctx, session)
	return rules, grants, err
}

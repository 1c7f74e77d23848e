package files

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// blocked reports whether one of the acts is blocked, so that nothing needs to
// be looked at.
func blocked(acts ...approval.Act) bool {
	return slices.ContainsFunc(acts, func(a approval.Act) bool { return a.Verdict == approval.Block })
}

// refused is the action of which at least one act is blocked, so that it never
// runs.
func refused(acts ...approval.Act) (tool.Action, error) {
	never := func(context.Context) (any, error) { return nil, approval.ErrBlocked }
	return tool.Free(never).On(acts...), nil
}

// doomed is the action of a call that cannot work. Nobody is asked to change
// anything for it, but what is wrong is learned by looking, so it is told only
// to who may look.
func doomed(p roots.Place, err error) (tool.Action, error) {
	var refusal *roots.Refusal
	if errors.As(err, &refusal) {
		return tool.Action{}, err
	}
	do := func(context.Context) (any, error) { return nil, fmt.Errorf("%s: %w", p.Name(), err) }
	view := present.View{Kind: present.Text, Content: fmt.Sprintf("The call cannot work, because of %s: %v.\nIf you agree, the agent is told so.", p.Name(), err)}
	return tool.Free(do).On(p.FolderAct(roots.Read)).Titled("Look at " + p.Name()).ShowingView(view), nil
}

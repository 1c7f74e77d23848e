package files

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// A need is an access that a call needs.
type need struct {
	place  roots.Place
	access roots.Access
	folder bool // to a folder, which needs no suffix
}

func (n need) act() policy.Act {
	if n.folder {
		return n.place.FolderAct(n.access)
	}
	return n.place.Act(n.access)
}

// needs are all the accesses that a call needs.
type needs []need

func (ns needs) acts() []policy.Act {
	out := make([]policy.Act, len(ns))
	for i, n := range ns {
		out[i] = n.act()
	}
	return out
}

// blocked reports whether one of them is blocked, so that nothing needs to be
// looked at.
func (ns needs) blocked() bool { return ns.have(policy.VerdictBlock) }

// ask reports whether somebody must answer.
func (ns needs) ask() bool { return ns.have(policy.VerdictAsk) }

func (ns needs) have(v policy.Verdict) bool {
	return slices.ContainsFunc(ns, func(n need) bool { return n.act().Verdict == v })
}

// on returns the action as one that consists of these accesses. A yes holds for
// the session if everything that asks says so.
func (ns needs) on(a tool.Action) tool.Action {
	a = a.On(ns.acts()...)
	each := func(n need) bool {
		return n.act().Verdict == policy.VerdictAsk && !n.place.OncePerSession(n.access)
	}
	if ns.ask() && !slices.ContainsFunc(ns, each) {
		a = a.OncePerSession()
	}
	return a
}

// refused is the action of which at least one access is blocked, so that it
// never runs.
func (ns needs) refused() (tool.Action, error) {
	never := func(context.Context) (any, error) { return nil, approval.ErrBlocked }
	return ns.on(tool.Free(never)), nil
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
	look := needs{{place: p, access: roots.AccessRead, folder: true}}
	return look.on(tool.Free(do)).Titled("Look at " + p.Name()).ShowingView(view), nil
}

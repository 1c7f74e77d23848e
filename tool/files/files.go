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

// Options say how the tools work. The zero Options are good.
type Options struct {
	// Undo keeps what changes replace. Nil means that nothing is kept.
	Undo Undo
	// MaxBytes is the size of the largest file that is read or replaced; 0 means
	// 32 MiB. A root may say less.
	MaxBytes int64
	// Denied reports whether reading is denied by something that the roots do not
	// know, such as a rule; lists and searches leave such files out. May be nil.
	Denied func(read policy.Act) bool
	// Inside has the work on files done in a sandbox; nil means in this process.
	Inside Inside
	// Limits bound what lists and searches give; zero fields have defaults.
	Limits Limits
}

// Limits bound one list or search.
type Limits struct {
	Entries int   // files and folders looked at; 0 means 100,000
	Listed  int   // names given by a list; 0 means 2,000
	Files   int   // files opened by a search; 0 means 10,000
	Bytes   int64 // bytes read by a search; 0 means 64 MiB
	Matches int   // lines given by a search; 0 means 200
}

// A toolset is what the tools share.
type toolset struct {
	roots *roots.Set
	opts  Options
	ops   fileOps
}

// Tools returns the file tools for the roots.
func Tools(set *roots.Set, opts Options) []tool.Tool {
	t := newToolset(set, opts)
	return []tool.Tool{
		newTool("read_file", readWords, t.read),
		newTool("write_file", writeWords, t.write),
		newTool("edit_file", editWords, t.edit),
		newTool("list_files", listWords, t.list),
		newTool("search_files", searchWords, t.search),
		newTool("delete_file", deleteWords, t.delete),
		newTool("move_file", moveWords, t.move),
		newTool("copy_file", copyWords, t.copy),
		newTool("make_dir", makeDirWords, t.makeDir),
		newTool("file_info", infoWords, t.info),
	}
}

func newToolset(set *roots.Set, opts Options) *toolset {
	opts.MaxBytes = orDefault(opts.MaxBytes, 32<<20)
	opts.Limits.Entries = orDefault(opts.Limits.Entries, 100_000)
	opts.Limits.Listed = orDefault(opts.Limits.Listed, 2_000)
	opts.Limits.Files = orDefault(opts.Limits.Files, 10_000)
	opts.Limits.Bytes = orDefault(opts.Limits.Bytes, 64<<20)
	opts.Limits.Matches = orDefault(opts.Limits.Matches, 200)
	t := &toolset{roots: set, opts: opts, ops: &localOps{}}
	if opts.Inside != nil {
		t.ops = &sandboxedOps{inside: opts.Inside, own: &localOps{}, roots: set}
	}
	return t
}

func orDefault[N int | int64](n, otherwise N) N {
	if n <= 0 {
		return otherwise
	}
	return n
}

// A fileTool is one whose calls in a turn see what earlier ones would do.
type fileTool struct{ tool.Tool }

// newTool returns a tool. What the roots refuse is blocked.
func newTool[In any](name, words string, prepare func(context.Context, In) (tool.Action, error)) tool.Tool {
	return fileTool{tool.FuncAction(name, words, func(ctx context.Context, in In) (tool.Action, error) {
		a, err := prepare(ctx, in)
		var refusal *roots.Refusal
		if errors.As(err, &refusal) {
			return tool.Block(refusal.Why), nil
		}
		return a, err
	})}
}

// Turn implements [tool.TurnTool].
func (fileTool) Turn(ctx context.Context) context.Context { return withOverlay(ctx) }

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
	view := present.View{Kind: present.KindText, Content: fmt.Sprintf("The call cannot work, because of %s: "+
		"%v.\nIf you agree, the agent is told so.", p.Name(), err)}
	look := needs{{place: p, access: roots.AccessRead, folder: true}}
	return look.on(tool.Free(do)).Titled("Look at " + p.Name()).ShowingView(view), nil
}

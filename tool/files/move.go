package files

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

//go:embed move.md
var moveWords string

// transferArgs are those of a move and of a copy.
type transferArgs struct {
	Source      string `json:"source" jsonschema:"the file, as ROOT/NAME"`
	Destination string `json:"destination" jsonschema:"its new name, as ROOT/NAME; nothing may be there"`
}

func (t *toolset) move(ctx context.Context, in transferArgs) (tool.Action, error) {
	x, err := t.transfer(ctx, in, roots.AccessDelete)
	if err != nil || x.stop != nil {
		return x.stopped(err)
	}
	overlayOf(ctx).set(x.from, state{})
	overlayOf(ctx).set(x.to, x.was)
	summary := fmt.Sprintf("Move %s to %s (%s)", label(x.from), label(x.to), measure(x.was)) + x.was.meta.remark()
	changes := []Change{changeOf(x.from, x.was, state{}), changeOf(x.to, state{}, x.was)}
	do := func(ctx context.Context) (any, error) {
		carried := ""
		note, err := t.keeping(ctx, "move_file", changes, func() error {
			inTwo, err := t.ops.move(ctx, x.from, x.to, x.was)
			if inTwo {
				carried = " It could not be moved in one step: it was copied there and then deleted here."
			}
			return err
		})
		if err != nil {
			return nil, failed(fmt.Sprintf("moving %s to %s", x.from.Name(), x.to.Name()), err)
		}
		return "Done: " + summary + "." + carried + note, nil
	}
	return x.action(do, summary), nil
}

// A transfer is a file on its way from one place to another.
type transfer struct {
	from, to roots.Place
	was      state
	needs    needs
	stop     *tool.Action // if it cannot go on
}

// transfer looks at both ends. The source is read or deleted, the destination
// written.
func (t *toolset) transfer(ctx context.Context, in transferArgs, source roots.Access) (x transfer, err error) {
	if x.from, err = t.roots.Resolve(in.Source); err != nil {
		return x, err
	}
	if x.to, err = t.roots.Resolve(in.Destination); err != nil {
		return x, err
	}
	x.needs = needs{{place: x.from, access: source}, {place: x.to, access: roots.AccessWrite}}
	if read := x.from.Act(roots.AccessRead); source != roots.AccessRead &&
		(read.Verdict != policy.VerdictFree || t.denied(read)) {
		// Else a move would make readable elsewhere what may not be read here.
		x.needs = append(x.needs, need{place: x.from, access: roots.AccessRead})
	}
	if x.needs.blocked() {
		return x.end(x.needs.refused())
	}
	if x.was, err = t.existing(ctx, x.from); err != nil {
		return x.end(doomed(x.from, err))
	}
	if err := t.vacant(ctx, x.to); err != nil {
		return x.end(doomed(x.to, err))
	}
	return x, t.fits(x.to, int64(len(x.was.data)))
}

// denied reports whether something that the roots do not know denies a read.
func (t *toolset) denied(read policy.Act) bool {
	return t.opts.Denied != nil && t.opts.Denied(read)
}

func (x transfer) end(a tool.Action, err error) (transfer, error) {
	x.stop = &a
	return x, err
}

func (x transfer) stopped(err error) (tool.Action, error) {
	if err != nil {
		return tool.Action{}, err
	}
	return *x.stop, nil
}

func (x transfer) action(do tool.Do, summary string) tool.Action {
	return x.needs.on(tool.Free(do)).Seeing(x.was.digest()).Titled(summary).
		Showing(func(context.Context) (present.View, error) { return showFile(x.to, x.was), nil })
}

//go:embed copy.md
var copyWords string

func (t *toolset) copy(ctx context.Context, in transferArgs) (tool.Action, error) {
	x, err := t.transfer(ctx, in, roots.AccessRead)
	if err != nil || x.stop != nil {
		return x.stopped(err)
	}
	next := x.was
	next.meta = x.was.meta.copied()
	overlayOf(ctx).set(x.to, next)
	summary := fmt.Sprintf("Copy %s to %s (%s)", label(x.from), label(x.to), measure(x.was))
	do := func(ctx context.Context) (any, error) {
		return t.replace(ctx, "copy_file", x.to, state{}, next, summary)
	}
	return x.action(do, summary), nil
}

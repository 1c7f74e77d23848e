package files

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

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

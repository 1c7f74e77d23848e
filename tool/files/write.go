package files

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

//go:embed write.md
var writeWords string

type writeArgs struct {
	Path    string `json:"path" jsonschema:"the file, as ROOT/NAME"`
	Content string `json:"content" jsonschema:"the whole new content"`
}

func (t *toolset) write(ctx context.Context, in writeArgs) (tool.Action, error) {
	p, err := t.roots.Resolve(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	need := needs{{place: p, access: roots.AccessWrite}}
	if need.blocked() {
		return need.refused()
	}
	next := fileOf([]byte(in.Content))
	if err := t.fits(p, int64(len(next.data))); err != nil {
		return tool.Action{}, err
	}
	was, err := t.look(ctx, p)
	if err == nil {
		err = currentUser().mayReplace(was.meta)
	}
	if err != nil {
		return doomed(p, err)
	}
	overlayOf(ctx).set(p, next)
	how := showChange(p, was, next)
	do := func(ctx context.Context) (any, error) { return t.replace(ctx, "write_file", p, was, next, how.summary) }
	return need.on(tool.Free(do)).Seeing(was.digest()).Titled(how.summary).ShowingView(how.view).
		Editing("content", path.Ext(in.Path)), nil
}

// replace makes next lie at a place if it is still was there, keeps what was,
// and tells the model what was done.
func (t *toolset) replace(ctx context.Context, name string, p roots.Place, was, next state, summary string) (any, error) {
	note, err := t.keeping(ctx, name, []Change{changeOf(p, was, next)}, func() error {
		return t.ops.put(ctx, p, was, next)
	})
	if err != nil {
		return nil, failed(p.Name(), err)
	}
	return "Done: " + summary + "." + note, nil
}

//go:embed edit.md
var editWords string

type editArgs struct {
	Path    string `json:"path" jsonschema:"the file, as ROOT/NAME"`
	OldText string `json:"old_text" jsonschema:"the text to replace; it must occur exactly once"`
	NewText string `json:"new_text" jsonschema:"the text to put in its place"`
}

func (t *toolset) edit(ctx context.Context, in editArgs) (tool.Action, error) {
	switch in.OldText {
	case "":
		return tool.Action{}, errors.New("old_text is empty: give the text to replace, or use write_file")
	case in.NewText:
		return tool.Action{}, errors.New("old_text and new_text are the same: nothing would change")
	}
	p, err := t.roots.Resolve(in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	need := needs{{place: p, access: roots.AccessRead}, {place: p, access: roots.AccessWrite}}
	if need.blocked() {
		return need.refused()
	}
	was, err := t.existing(ctx, p)
	if err == nil {
		err = matchError(was, in.OldText)
	}
	if err == nil {
		err = currentUser().mayReplace(was.meta)
	}
	if err != nil {
		return doomed(p, err)
	}
	next := fileOf(bytes.Replace(was.data, []byte(in.OldText), []byte(in.NewText), 1))
	if err := t.fits(p, int64(len(next.data))); err != nil && need[0].act().Verdict == policy.VerdictFree {
		return tool.Action{}, err
	} else if err != nil {
		return doomed(p, errors.New(err.Error())) // no refusal: the size is learned by reading
	}
	overlayOf(ctx).set(p, next)
	how := showChange(p, was, next)
	do := func(ctx context.Context) (any, error) { return t.replace(ctx, "edit_file", p, was, next, how.summary) }
	return need.on(tool.Free(do)).Seeing(was.digest()).Titled(how.summary).ShowingView(how.view).
		Editing("new_text", path.Ext(in.Path)), nil
}

// matchError says why a text does not occur exactly once.
func matchError(s state, text string) error {
	switch n := occurrences(s.data, []byte(text)); n {
	case 1:
		return nil
	case 0:
		return errors.New("old_text does not occur in it (0 times); read the file and copy the text exactly")
	default:
		return fmt.Errorf("old_text occurs %d times in it; add lines around it until it occurs once", n)
	}
}

// occurrences counts where a text begins, also where two of them overlap: then
// it is not clear which one is meant.
func occurrences(data, text []byte) int {
	n := 0
	for {
		i := bytes.Index(data, text)
		if i < 0 {
			return n
		}
		n++
		data = data[i+1:]
	}
}

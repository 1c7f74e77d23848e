package foreign

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

// patch is what an apply_patch would do: each file that it names is read and written,
// made or deleted. A patch that cannot be read is refused; one that does not fit asks,
// and the agent finds out.
func (f judge) patch(text, dir string) (tool.Action, error) {
	hunks, err := readPatch(text)
	if err != nil {
		return tool.Action{}, fmt.Errorf("the patch cannot be read: %w", err)
	}
	var acts []policy.Act
	var seen []file
	var shown []string
	var only present.View
	var after foresight
	for _, h := range hunks {
		was, err := f.look(fromFolder(h.path, dir))
		if was.place.Name() == "" {
			return tool.Action{}, err
		}
		seen = append(seen, was)
		more, to, err2 := f.patchActs(h, was, dir)
		if err2 != nil {
			return tool.Action{}, err2
		}
		acts = append(acts, more...)
		after.add(h, was, to, err)
		summary, view := h.show(was, to, err)
		shown, only = append(shown, summary+"\n"+view.Content), view
	}
	f.changing(after...)
	a := tool.Ask(elsewhere).On(acts...).Seeing(stateOf(seen...))
	if len(hunks) == 1 {
		title, _, _ := strings.Cut(shown[0], "\n")
		return a.Titled(title).ShowingView(only), nil
	}
	view := present.View{Kind: present.Text, Content: strings.Join(shown, "\n")}
	return a.Titled(fmt.Sprintf("Change %d files", len(hunks))).ShowingView(view), nil
}

func fromFolder(path, dir string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir + "/" + path
}

// patchActs returns what a part of a patch does, and where it moves the file to.
func (f judge) patchActs(h hunk, was file, dir string) ([]policy.Act, roots.Place, error) {
	p := was.place
	switch {
	case h.kind == addFile:
		return []policy.Act{p.Act(roots.AccessWrite)}, p, nil
	case h.kind == deleteFile:
		return []policy.Act{p.Act(roots.AccessDelete)}, p, nil
	case h.moveTo == "":
		return editActs(p), p, nil
	}
	to, err := f.at(fromFolder(h.moveTo, dir))
	if err != nil {
		return nil, to, err
	}
	return []policy.Act{p.Act(roots.AccessRead), p.Act(roots.AccessDelete), to.Act(roots.AccessWrite)}, to, nil
}

// show shows a part of a patch. The error is why the file could not be looked at.
func (h hunk) show(was file, to roots.Place, err error) (string, present.View) {
	name := label(was.place)
	if h.kind == deleteFile {
		if err != nil {
			return "Delete " + name, problem(err)
		}
		return "Delete " + name, content(was)
	}
	var next []byte
	if err == nil {
		next, err = h.apply(was.data)
	}
	if err != nil {
		return "Edit " + name, problem(err)
	}
	summary, view := change(was, next)
	if h.moveTo != "" {
		summary += ", and move it to " + label(to)
	}
	return summary, view
}

// A foresight is which files a patch changes, each once.
type foresight []files.Foreseen

// add adds a part of the patch. The error is why its file could not be looked at. A file that two
// parts change is not what either of them was shown to make of it.
func (l *foresight) add(h hunk, was file, to roots.Place, err error) {
	if h.kind == deleteFile {
		l.put(goes(was.place))
		return
	}
	var next []byte
	if err == nil {
		next, err = h.apply(was.data)
	}
	if h.moveTo != "" && to.Key() != was.place.Key() {
		l.put(goes(was.place))
	}
	l.put(becomes(to, next, err))
}

func (l *foresight) put(f files.Foreseen) {
	i := slices.IndexFunc(*l, func(o files.Foreseen) bool { return o.Place.Key() == f.Place.Key() })
	if i < 0 {
		*l = append(*l, f)
		return
	}
	(*l)[i].Known, (*l)[i].Gone = false, false
}

package foreign

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// patch is what an apply_patch would do: each file that it names is read and written,
// made or deleted. A patch that cannot be read is refused; one that does not fit asks,
// and the agent finds out.
func (f files) patch(text, dir string) (tool.Action, error) {
	hunks, err := readPatch(text)
	if err != nil {
		return tool.Action{}, fmt.Errorf("the patch cannot be read: %w", err)
	}
	var acts []approval.Act
	var seen []file
	var shown []string
	var only present.View
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
		summary, view := h.show(was, to, err)
		shown, only = append(shown, summary+"\n"+view.Content), view
	}
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
func (f files) patchActs(h hunk, was file, dir string) ([]approval.Act, roots.Place, error) {
	p := was.place
	switch {
	case h.kind == addFile:
		return []approval.Act{p.Act(roots.Write)}, p, nil
	case h.kind == deleteFile:
		return []approval.Act{p.Act(roots.Delete)}, p, nil
	case h.moveTo == "":
		return editActs(p), p, nil
	}
	to, err := f.at(fromFolder(h.moveTo, dir))
	if err != nil {
		return nil, to, err
	}
	return []approval.Act{p.Act(roots.Read), p.Act(roots.Delete), to.Act(roots.Write)}, to, nil
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

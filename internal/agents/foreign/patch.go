package foreign

import (
	"bytes"
	"errors"
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
	view := present.View{Kind: present.KindText, Content: strings.Join(shown, "\n")}
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

// The kinds of parts that a patch has.
const (
	addFile    = "*** Add File: "
	deleteFile = "*** Delete File: "
	updateFile = "*** Update File: "
	moveTo     = "*** Move to: "
	endOfFile  = "*** End of File"
)

// A hunk is what a patch does to one file.
type hunk struct {
	kind, path, moveTo string
	lines              []string // of an added file
	chunks             []chunk  // of an updated one
}

// A chunk replaces lines that follow a line which is named in its heading.
type chunk struct {
	heading  string
	old, new []string
}

// readPatch reads the format of apply_patch. It is strict: what it does not know could be
// a file that nobody is told of.
func readPatch(text string) ([]hunk, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) < 2 || lines[0] != "*** Begin Patch" || strings.TrimSpace(lines[len(lines)-1]) != "*** End Patch" {
		return nil, errors.New("it does not begin with *** Begin Patch and end with *** End Patch")
	}
	var out []hunk
	for i, line := range lines[1 : len(lines)-1] {
		if err := readPatchLine(&out, strings.TrimSuffix(line, "\r")); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("it names no file")
	}
	return out, nil
}

func readPatchLine(out *[]hunk, line string) error {
	for _, kind := range []string{addFile, deleteFile, updateFile} {
		if path, ok := strings.CutPrefix(line, kind); ok {
			if path = strings.TrimSpace(path); path == "" {
				return errors.New("it names no file")
			}
			*out = append(*out, hunk{kind: kind, path: path})
			return nil
		}
	}
	if strings.HasPrefix(strings.TrimSpace(line), "***") && !strings.HasPrefix(line, "***") {
		return errors.New("it could be the name of a file, or a line of one") // readers differ
	}
	if len(*out) == 0 {
		return errors.New("it stands before the first file")
	}
	return (*out)[len(*out)-1].read(line)
}

// read takes one more line of the part.
func (h *hunk) read(line string) error {
	to, moves := strings.CutPrefix(line, moveTo)
	switch {
	case h.kind == addFile && strings.HasPrefix(line, "+"):
		h.lines = append(h.lines, line[1:])
	case h.kind != updateFile:
		return fmt.Errorf("%q does not belong there", line)
	case moves && len(h.chunks) == 0 && h.moveTo == "" && strings.TrimSpace(to) != "":
		h.moveTo = strings.TrimSpace(to)
	case strings.HasPrefix(line, "@@"):
		h.chunks = append(h.chunks, chunk{heading: strings.TrimSpace(line[2:])})
	case line == endOfFile:
	case line == "" || strings.ContainsRune(" +-", rune(line[0])):
		h.take(line)
	default:
		return fmt.Errorf("invalid line %q in the patch: each line begins with +, - or a space", line)
	}
	return nil
}

// take adds a line of a change; an empty one is an empty line that stays.
func (h *hunk) take(line string) {
	if len(h.chunks) == 0 {
		h.chunks = append(h.chunks, chunk{})
	}
	c := &h.chunks[len(h.chunks)-1]
	switch {
	case strings.HasPrefix(line, "+"):
		c.new = append(c.new, line[1:])
	case strings.HasPrefix(line, "-"):
		c.old = append(c.old, line[1:])
	default:
		kept := strings.TrimPrefix(line, " ")
		c.old, c.new = append(c.old, kept), append(c.new, kept)
	}
}

// apply makes the file that the part leaves behind.
func (h *hunk) apply(was []byte) ([]byte, error) {
	if h.kind == addFile {
		return []byte(strings.Join(h.lines, "\n") + "\n"), nil
	}
	lines := strings.Split(string(bytes.TrimSuffix(was, []byte("\n"))), "\n")
	at := 0
	for _, c := range h.chunks {
		if c.heading != "" {
			i := indexLines(lines, []string{c.heading}, at)
			if i < 0 {
				return nil, fmt.Errorf("the line %q does not occur in it", c.heading)
			}
			at = i + 1
		}
		if len(c.old) == 0 {
			lines = append(lines, c.new...)
			continue
		}
		i := indexLines(lines, c.old, at)
		if i < 0 {
			return nil, fmt.Errorf("the lines from %q on do not occur in it", c.old[0])
		}
		lines = append(lines[:i:i], append(append([]string{}, c.new...), lines[i+len(c.old):]...)...)
		at = i + len(c.new)
	}
	return []byte(strings.Join(lines, "\n") + "\n"), nil
}

// indexLines finds lines in a row, exactly or else but for blanks at the ends.
func indexLines(lines, want []string, from int) int {
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) },
	} {
		for i := from; i+len(want) <= len(lines); i++ {
			if matches(lines[i:i+len(want)], want, same) {
				return i
			}
		}
	}
	return -1
}

func matches(a, b []string, same func(a, b string) bool) bool {
	for i := range b {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

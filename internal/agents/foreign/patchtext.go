package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

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
		return fmt.Errorf("%q is no line of a change", line)
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
